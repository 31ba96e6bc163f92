"""Pictures of the wild options: land, fire, wards, animals, and lines for weather and perks.

Nothing is told apart by hue alone: water has waves, forest has trees, rock has peaks, fire has flames, burnt ground is
dark, a's wards are plus signs and b's are crosses, grazers are rings, hunters triangles and guards shields.

Letters: `H, W` rows and columns of the world.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from cellgames.envs.cloth_of_gold.rendering import ROW_HEIGHT, Layer, runs
from cellgames.envs.core.drawing import Circle, Inset, Picture, Polygon, Polyline, Rectangle, Shape, Text, fitted

from . import perks, weather
from .observation import ground_planes
from .state import WildState
from .weather import Fire
from .wildlife import GONE, KINDS, kinds_of

if TYPE_CHECKING:
    from .game import ClothOfGoldWild

Mask: TypeAlias = npt.NDArray[np.bool_]

LAND = {"water": "#a9cbe0", "forest": "#d3e3bd", "rock": "#c9c3ba", "burnt": "#8d8176", "burning": "#ffd23f"}
"""The colours of the ground."""

_COLD = ("water", "forest", "rock", "burnt")
_WAVE, _TREE, _PEAK, _FLAME = "#3f7ea6", "#4d7a2a", "#6b645b", "#a31d0a"
WARDS = ("#0a4a80", "#a55a00")
"""The colours of a's and b's wards."""
_BEAST, _PALE = "#111111", "#ffffff"
_INK = "#3b362f"
_SAMPLE = 17.0  # units of a sample in the key
_SIGNS = {"water": "~", "forest": "f", "rock": "^", "burnt": ",", "burning": "*"}
_BEASTS = "GHU"


@dataclass(frozen=True, eq=False)
class WildView(Layer):
    """The wild part of one moment of a game.

    Attributes:
        ground: by `LAND`'s names bool [H, W]; options that are off are missing.
        wards: bool [2, H, W], None without perks.
        animals: kind, row and column of each; None without wildlife.
        weather: a line of the weather and the water level, "" without weather.
        earned: text of each player's earnings, "" without perks.
    """

    ground: dict[str, Mask]
    wards: Mask | None = None
    animals: Sequence[tuple[int, int, int]] | None = None
    weather: str = ""
    earned: tuple[str, str] = ("", "")

    veil: ClassVar[float] = 0.35

    @override
    def key_rows(self) -> int:
        return bool(self.weather) + any(self.earned) + bool(_entries(self))

    @override
    def draw_below(self, size: float, *, over: bool = False) -> Iterator[Shape]:
        step = 1 if size >= 12 else 2  # cells from one sign to the next
        for name in ("burning",) if over else _COLD:
            mask = self.ground.get(name)
            if mask is None or not mask.any():
                continue
            for row, col, length in runs(mask):
                yield Rectangle(col, row, length, 1, LAND[name])
            for row, col in np.argwhere(mask).tolist():
                if name == "burning" or (name != "burnt" and (row + col) % step == 0 and (row % step == 0)):
                    yield _sign(name, row, col, size, 1.0 if name == "burning" else float(step))

    @override
    def draw_above(self, size: float) -> Iterator[Shape]:
        if self.wards is not None:
            for player, mask in enumerate(self.wards):
                for row, col in np.argwhere(mask).tolist():
                    yield from _ward(player, row, col, size)
        for kind, row, col in self.animals or ():
            yield _beast(kind, col + 0.5, row + 0.5, max(0.5, 8 / size), size)

    @override
    def draw_key(self, left: float, top: float, wide: float) -> Iterator[Shape]:
        y = top
        if self.weather:
            yield Text(left, y + 12, self.weather, fitted(self.weather, 13, wide), _INK, bold=True)
            y += ROW_HEIGHT
        if any(self.earned):
            for player, words in enumerate(self.earned):
                yield Text(left + player * wide / 2, y + 12, words, fitted(words, 13, wide / 2 - 12), _INK)
            y += ROW_HEIGHT
        entries = _entries(self)
        for place, (name, word) in enumerate(entries):
            x = left + place * wide / len(entries)
            yield Inset(x, y, Picture(1, 1, _PALE, tuple(_sample(name))), _SAMPLE)
            yield Text(x + _SAMPLE + 5, y + 13, word, fitted(word, 12, wide / len(entries) - _SAMPLE - 9), _INK)

    @override
    def text(self, high: int, wide: int) -> list[str]:
        lines = [line for line in (self.weather, *self.earned) if line]
        layers: list[tuple[str, npt.NDArray[Any]]] = [
            (sign, self.ground[name]) for name, sign in _SIGNS.items() if name in self.ground
        ]
        key = [f"{sign} {name}" for name, sign in _SIGNS.items() if name in self.ground]
        if self.wards is not None:
            both: Mask = self.wards[0] & self.wards[1]
            layers += [("a", self.wards[0]), ("b", self.wards[1]), ("w", both)]
            key.append("a b w wards of A, of B, of both")
        shape = next((mask.shape for _, mask in layers), None)
        if self.animals is not None:
            rows = max((animal[1] for animal in self.animals), default=0) + 1
            cols = max((animal[2] for animal in self.animals), default=0) + 1
            shape = shape or (rows, cols)
            for number, sign in enumerate(_BEASTS):
                mask = np.zeros(shape, np.bool_)
                for kind, row, col in self.animals:
                    mask[row, col] |= kind == number
                layers.append((sign, mask))
            key.append("G grazer, H hunter, U guard")
        if shape is None:
            return lines
        signs = np.full((-(-shape[0] // high), -(-shape[1] // wide)), ".")
        for sign, layer in layers:
            padded = np.pad(layer, ((0, -layer.shape[0] % high), (0, -layer.shape[1] % wide)))
            some = padded.reshape(padded.shape[0] // high, high, padded.shape[1] // wide, wide).any((1, 3))
            signs = np.where(some, sign, signs)
        margin = len(str(shape[0]))
        drawn = [f"{row * high:>{margin}} {''.join(line)}" for row, line in enumerate(signs.tolist())]
        return [*lines, f"land: {', '.join(key)}", *drawn]


def _entries(view: WildView) -> list[tuple[str, str]]:
    """Return the entries of the key: names of samples, and words."""
    found = [(name, name) for name in LAND if name in view.ground]
    if view.wards is not None:
        found += [("ward 0", "wards of a"), ("ward 1", "of b")]
    if view.animals is not None:
        for number, kind in enumerate(KINDS):
            count = sum(animal[0] == number for animal in view.animals)
            found.append((f"animal {number}", f"{count} {kind if count != 1 else kind[:-1]}"))
    return found


def _sample(name: str) -> Iterator[Shape]:
    kind, _, number = name.partition(" ")
    if kind == "ward":
        yield from _ward(int(number), 0, 0, _SAMPLE)
    elif kind == "animal":
        yield _beast(int(number), 0.5, 0.5, 0.42, _SAMPLE)
    else:
        yield Rectangle(0, 0, 1, 1, LAND[name])
        if name != "burnt":
            yield _sign(name, 0, 0, _SAMPLE, 1.0)
    yield Rectangle(0, 0, 1, 1, None, _INK, 1 / _SAMPLE)


def _sign(name: str, row: int, col: int, size: float, large: float) -> Shape:
    """Return a wave, a tree, a peak or a flame in a cell, which it may outgrow."""
    x, y, width = col + 0.5 * large, row + 0.5 * large, 1.1 / size

    def at(*points: tuple[float, float]) -> tuple[tuple[float, float], ...]:
        return tuple((x + right * large, y + down * large) for right, down in points)

    if name == "water":
        return Polyline(at((-0.34, 0.08), (-0.16, -0.08), (0.0, 0.08), (0.16, -0.08), (0.34, 0.08)), _WAVE, width)
    if name == "forest":
        return Polygon(at((0, -0.3), (0.22, 0.24), (-0.22, 0.24)), _TREE, None, 1.0, 0.75)
    if name == "rock":
        return Polyline(at((-0.34, 0.24), (-0.08, -0.24), (0.08, 0.06), (0.18, -0.1), (0.34, 0.24)), _PEAK, width)
    flame = at(
        (0, -0.48), (0.22, -0.1), (0.34, -0.22), (0.4, 0.2), (0.2, 0.46), (-0.2, 0.46), (-0.4, 0.2), (-0.2, -0.2)
    )
    return Polygon(flame, _FLAME)


def _ward(player: int, row: int, col: int, size: float) -> Iterator[Shape]:
    """Yield the sign of a ward: a plus sign of a in the upper left of a cell, a cross of b in its lower right."""
    width, reach = max(0.09, 1.2 / size), 0.17
    x, y = (col + 0.24, row + 0.24) if player == 0 else (col + 0.76, row + 0.76)
    ends = ((reach, 0.0), (0.0, reach)) if player == 0 else ((reach, reach), (reach, -reach))
    for right, down in ends:
        yield Polyline(((x - right, y - down), (x + right, y + down)), WARDS[player], width)


def _beast(kind: int, x: float, y: float, radius: float, size: float) -> Shape:
    """Return a ring for a grazer, a triangle for a hunter, a shield for a guard."""
    if kind == 0:
        return Circle(x, y, radius * 0.8, _PALE, _BEAST, radius * 0.5)
    if kind == 1:
        points = ((0.0, -1.1), (1.1, 0.9), (-1.1, 0.9))
        return Polygon(tuple((x + radius * a, y + radius * b) for a, b in points), _BEAST, _PALE, radius * 0.25)
    shield = ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.3), (0.0, 1.1), (-0.9, 0.3))
    return Polygon(tuple((x + radius * a, y + radius * b) for a, b in shield), _PALE, _BEAST, radius * 0.4)


def wild_view(game: ClothOfGoldWild, state: WildState, names: Sequence[str] | None = None) -> WildView:
    """Return the options' parts of the picture of a batch of one; players have `names`, by default their ids."""
    ground = {}
    if game.terrain:
        land = [game.grid.unpack(x.movedim(0, -1))[0].numpy(force=True) for x in ground_planes(game, state)]
        ground = dict(zip(("water", "forest", "rock"), land, strict=True))
    if game.weather:
        fire = Fire.of(state.fire)
        for name, cells in (("burning", fire.burning), ("burnt", fire.burnt)):
            ground[name] = game.grid.unpack(cells.movedim(0, -1))[0].numpy(force=True)
    animals = None
    if sum(game.wildlife):
        places = zip(kinds_of(game.wildlife), state.animals[0].tolist(), strict=True)
        animals = [(kind, *divmod(cell, game.width)) for kind, cell in places if cell != GONE]
    wards = game.grid.unpack(state.wards.movedim(0, -1))[0].numpy(force=True) if game.perks else None
    earned = _earned_words(game, state, game.info.players if names is None else names)
    return WildView(ground, wards, animals, _weather_words(game, state), (earned[0], earned[1]))


def _weather_words(game: ClothOfGoldWild, state: WildState) -> str:
    """Return the weather of the round, the water level and the forecast of a batch of one, "" without weather."""
    if not game.weather:
        return ""
    now = int(state.weather)
    chances = ", ".join(
        f"{kind} {round(chance / 2.56)} %" for kind, chance in zip(weather.KINDS, weather.CHANCES[now], strict=True)
    )
    return f"Weather: {weather.KINDS[now]}, water level {int(state.level)}; next round: {chances}"


def _earned_words(game: ClothOfGoldWild, state: WildState, names: Sequence[str]) -> list[str]:
    """Return a text with each player's earnings from still lifes, by name, in a batch of one; "" without perks."""
    if not game.perks:
        return ["", ""]
    words = []
    for player, name in enumerate(names):
        more = int(perks.allowance(game.max_units, state.supply[0, player])) - game.max_units
        reach, spells = int(state.reach[0, player]), int(state.spells[0, player])
        bolts = f"{spells} bolt{'s' * (spells != 1)}"
        words.append(f"{name}: supply {int(state.supply[0, player])} (+{more} units), reach +{reach}, {bolts}")
    return words

"""Pictures of the wild options: land, fire, wards, animals, and lines for weather and perks.

Nothing is told apart by hue alone: water has waves, forest has trees, rock has peaks, fire has flames, burnt ground is
dark, a's wards are plus signs and b's are crosses, grazers are rings, hunters triangles and guards shields.

Letters: `H, W` rows and columns of the world.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from cellgames.envs.cloth_of_gold.rendering import Layer, runs
from cellgames.envs.core.drawing import Circle, Point, Polygon, Polyline, Rectangle, Shape, sign_rows

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

WARDS = ("#0a4a80", "#a55a00")
"""The colours of a's and b's wards."""

# Signs on the ground and animals, around the middle of a cell: colour and corners, or points of a line.
_WAVE = "#3f7ea6", ((-0.34, 0.08), (-0.16, -0.08), (0.0, 0.08), (0.16, -0.08), (0.34, 0.08))
_TREE = "#4d7a2a", ((0, -0.3), (0.22, 0.24), (-0.22, 0.24))
_PEAK = "#6b645b", ((-0.34, 0.24), (-0.08, -0.24), (0.08, 0.06), (0.18, -0.1), (0.34, 0.24))
_FLAME = (
    "#a31d0a",
    ((0, -0.48), (0.22, -0.1), (0.34, -0.22), (0.4, 0.2), (0.2, 0.46), (-0.2, 0.46), (-0.4, 0.2), (-0.2, -0.2)),
)
_DRAWN = {"water": _WAVE, "forest": _TREE, "rock": _PEAK, "burning": _FLAME}
_LINES = ("water", "rock")
_ANIMALS = (
    ("#ffffff", "#111111", ()),
    ("#111111", "#ffffff", ((0.0, -1.1), (1.1, 0.9), (-1.1, 0.9))),
    ("#ffffff", "#111111", ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.3), (0.0, 1.1), (-0.9, 0.3))),
)
_SIGNS, _ENTRIES = ".~f^,*abwGHU", (*LAND, "wards of A", "of B", "of both", *KINDS)


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
    def lines(self) -> list[str]:
        counts = [0] * len(KINDS)
        for kind, _, _ in self.animals or ():
            counts[kind] += 1
        animals = ", ".join(f"{n} {kind if n != 1 else kind[:-1]}" for n, kind in zip(counts, KINDS, strict=True))
        return [line for line in (self.weather, *self.earned, "" if self.animals is None else animals) if line]

    @override
    def draw_below(self, size: float, *, over: bool = False) -> Iterator[Shape]:
        step = 1 if size >= 12 else 2  # cells from one sign to the next
        for name, mask in self.ground.items():
            if (name == "burning") != over:
                continue
            for row, col, length in runs(mask):
                yield Rectangle(col, row, length, 1, LAND[name])
            large = 1 if over else step
            for row, col in np.argwhere(mask).tolist() if name in _DRAWN else ():
                if row % large == col % large == 0:
                    colour, points = _DRAWN[name]
                    corners = _around(points, col + large / 2, row + large / 2, large)
                    yield Polyline(corners, colour, 1.1 / size) if name in _LINES else Polygon(corners, colour)

    @override
    def draw_above(self, size: float) -> Iterator[Shape]:
        for player, mask in enumerate(() if self.wards is None else self.wards):
            for row, col in np.argwhere(mask).tolist():  # a's upper left in the cell, b's lower right
                x, y = (col + 0.24, row + 0.24) if player == 0 else (col + 0.76, row + 0.76)
                for right, down in ((0.17, 0.0), (0.0, 0.17)) if player == 0 else ((0.17, 0.17), (0.17, -0.17)):
                    ends = (x - right, y - down), (x + right, y + down)
                    yield Polyline(ends, WARDS[player], max(0.09, 1.2 / size))
        for kind, row, col in self.animals or ():
            fill, edge, points = _ANIMALS[kind]
            radius = max(0.5, 8 / size)
            if points:
                yield Polygon(_around(points, col + 0.5, row + 0.5, radius), fill, edge, radius * 0.35)
            else:
                yield Circle(col + 0.5, row + 0.5, radius * 0.8, fill, edge, radius * 0.5)

    @override
    def text(self, shape: tuple[int, ...]) -> list[str]:
        layers = dict(self.ground)
        if self.wards is not None:
            layers |= {"wards of A": self.wards[0], "of B": self.wards[1], "of both": self.wards[0] & self.wards[1]}
        if self.animals is not None:
            layers |= {kind: np.zeros(shape, np.bool_) for kind in KINDS}
            for kind, row, col in self.animals:
                layers[KINDS[kind]][row, col] = True
        lines = [line for line in (self.weather, *self.earned) if line]
        if not layers:
            return lines
        codes = np.zeros(shape, np.int8)
        for code, name in enumerate(_ENTRIES, 1):
            codes = np.where(layers.get(name, False), np.int8(code), codes)
        key = [f"{sign} {name}" for sign, name in zip(_SIGNS[1:], LAND, strict=False) if name in self.ground]
        key += ["a b w wards of A, of B, of both"] * (self.wards is not None)
        key += ["G grazer, H hunter, U guard"] * (self.animals is not None)
        rows = sign_rows(codes, _SIGNS, [1e3**code for code in range(len(_SIGNS))])
        return [*lines, f"land: {', '.join(key)}", *(f"{row:>{len(str(shape[0]))}} {signs}" for row, signs in rows)]


def _around(points: Sequence[Point], x: float, y: float, large: float) -> tuple[Point, ...]:
    """Return points around another one."""
    return tuple((x + right * large, y + down * large) for right, down in points)


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

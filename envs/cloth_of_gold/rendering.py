"""Pictures of Cloth of Gold: units, killed and neutral cells, both territories, where they overlap, and the score.

Nothing is told apart by hue alone. a's units are dark squares and b's light discs, a's territory has an unbroken
edge and b's a dashed one, contested cells are hatched, killed cells are crosses and neutral ones hollow diamonds.

Letters: `H, W` rows and columns of the world.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.envs.core.drawing import (
    Circle,
    Inset,
    Picture,
    Point,
    Polygon,
    Polyline,
    Rectangle,
    Shape,
    Text,
    fitted,
    frame_times,
    mix,
    ruler,
)
from cellgames.envs.core.info import LOSS, WIN

from .state import ClothState

if TYPE_CHECKING:
    from .game import ClothOfGold

Cells: TypeAlias = npt.NDArray[np.integer[Any]]
Mask: TypeAlias = npt.NDArray[np.bool_]
Place: TypeAlias = tuple[int, int]

NAMES = ("player_a", "player_b")
"""What players are called where nobody says otherwise."""

UNITS = ("#0a4a80", "#e8890c")
"""Colours of a's and b's units: blue and orange as far apart in lightness as in hue."""

_A, _B, _NEUTRAL, _KILLED = 1, 2, 3, 4
_PAPER, _INK, _PALE, _WORLD = "#fffdf8", "#3b362f", "#857d70", "#ffffff"
_GROUND = ("#cfe0f0", "#fdeccb", "#fdeccb")  # a's territory, b's, contested cells
_EDGE = (mix(UNITS[0], _WORLD, 0.25), mix(UNITS[1], _INK, 0.25))
_HATCH, _DEAD, _STONE, _RING = mix(UNITS[0], _WORLD, 0.62), "#1d1a16", "#5f5f5f", "#c2185b"
_EDGE_WIDTH, _HATCH_WIDTH, _HATCH_STEP = 2.0, 2.4, 12  # units of the picture

_SIDE = 720  # units of a world's longer side, about
_SMALLEST, _LARGEST = 4, 46  # units of a cell
_ROOMY, _GRID = 6, 15  # units of a cell from which cells are drawn apart, and a grid between them
_LEFT, _MARGIN, _HEADER = 38.0, 20.0, 132.0
_NARROWEST = 560.0
_FRAMES = 42  # of a round in an animation
_RESULTS = {WIN: "wins", LOSS: "loses"}
ROW_HEIGHT = 27.0  # of the key of a layer


class Layer:
    """The parts that a game that extends this one adds to a picture; all are empty here.

    Attributes:
        veil: opacity of territory.
    """

    veil: ClassVar[float] = 1.0

    def key_rows(self) -> int:
        """Return the rows of the key."""
        return 0

    def draw_below(self, size: float, *, over: bool = False) -> Iterator[Shape]:
        """Yield the shapes below units, in units of a cell, of which each is `size` units of the picture.

        Args:
            size: side of a cell in units of the picture.
            over: True for the shapes over territories, False for those below them.
        """
        return iter(())

    def draw_above(self, size: float) -> Iterator[Shape]:
        """Yield the shapes above units, in units of a cell."""
        return iter(())

    def draw_key(self, left: float, top: float, wide: float) -> Iterator[Shape]:
        """Yield the key, from a corner on, in units of the picture."""
        return iter(())

    def text(self, high: int, wide: int) -> list[str]:
        """Return lines for a terminal; one sign stands for `high` rows and `wide` columns of cells."""
        return []


@dataclass(frozen=True, eq=False)
class View:
    """One moment of a game.

    Attributes:
        cells: integers [H, W], 0 empty, 1 a, 2 b, 3 neutral, 4 killed.
        territory: bool [2, H, W], a's and b's; contested cells belong to both.
        title: a line above the world, such as "Cloth of Gold: round 3, player_b places".
        names: names of the players.
        scores: scores of the players at the end of the last round, None to show no scores.
        results: a word for each player, such as "wins", "" before the end.
        placed: bool [H, W], units to mark as placed in this turn.
        last: row and column of a cell to ring, such as the last one acted on.
        layer: layer that a game that extends this one adds; an empty one shows nothing.
    """

    cells: Cells
    territory: Mask
    title: str
    names: Sequence[str] = NAMES
    scores: Sequence[int] | None = None
    results: Sequence[str] = ("", "")
    placed: Mask | None = None
    last: Place | None = None
    layer: Layer = field(default_factory=Layer)

    def standing(self, player: int) -> str:
        """Return `61 units, territory 1840`."""
        units = int((self.cells == player + 1).sum())
        return f"{units} {'unit' if units == 1 else 'units'}, territory {int(self.territory[player].sum())}"

    def counts(self) -> dict[str, int]:
        """Return the number of cells that are nobody's alone, and of units placed in this turn, by their words."""
        masks = {"contested": self.territory.all(0), "killed": self.cells == _KILLED}
        if self.placed is not None:
            masks["placed"] = self.placed
        if (self.cells == _NEUTRAL).any():
            masks["neutral"] = self.cells == _NEUTRAL
        return {word: int(mask.sum()) for word, mask in masks.items()}

    def heading(self, player: int) -> str:
        """Return `player_a: score +12, wins`."""
        score = "" if self.scores is None else f"score {self.scores[player]:+d}"
        said = ", ".join(words for words in (score, self.results[player]) if words)
        return f"{self.names[player]}: {said}" if said else self.names[player]


def draw(view: View) -> Picture:
    """Return one moment as a drawing; all moments of a game have the same size."""
    height, width = view.cells.shape
    size = min(_LARGEST, max(_SMALLEST, _SIDE // max(height, width)))
    wide = max(_NARROWEST, float(width * size))
    header = _HEADER + view.layer.key_rows() * ROW_HEIGHT
    left = _LEFT + (wide - width * size) / 2
    world = Picture(width, height, _WORLD, tuple(_draw_world(view, size)))
    shapes: list[Shape] = [
        Text(_LEFT, 30, view.title, fitted(view.title, 19, wide), _INK, bold=True),
        *_draw_standing(view, wide),
        *_draw_legend(view, wide),
        *view.layer.draw_key(_LEFT, _HEADER - 18, wide),
        *ruler(height, width, (left, header), size, _PALE, apart=30),
        Inset(left, header, world, size),
        Rectangle(left, header, width * size, height * size, None, _PALE, 1.2),
    ]
    return Picture(_LEFT + wide + _MARGIN, header + height * size + _MARGIN, _PAPER, tuple(shapes), view.title)


# ---------------------------------------------------------------- the world, in units of one cell


def _draw_world(view: View, size: float) -> Iterator[Shape]:
    """Yield everything inside the frame; `size` units of the picture are one cell."""
    cells, territory = view.cells, view.territory
    held = territory[0] + 2 * territory[1]
    yield from view.layer.draw_below(size)
    for kind, colour in enumerate(_GROUND, 1):
        for row, col, length in runs(held == kind):
            yield Rectangle(col, row, length, 1, colour, opacity=view.layer.veil)
    yield from view.layer.draw_below(size, over=True)
    yield from _draw_hatching(held == 3, size)
    if size >= _GRID:
        yield from _draw_grid(cells.shape[0], cells.shape[1], size)
    yield from _draw_edges(territory, size)
    yield from _draw_cells(cells, size)
    yield from view.layer.draw_above(size)
    if view.placed is not None:
        for row, col in np.argwhere(view.placed).tolist():
            yield Circle(col + 0.5, row + 0.5, max(0.16, 0.7 / size), _WORLD)
    if view.last is not None:
        row, col = view.last
        yield Circle(col + 0.5, row + 0.5, max(0.75, 6 / size), None, _RING, max(0.08, 2 / size))


def runs(mask: Mask) -> Iterator[tuple[int, int, int]]:
    """Yield row, first column and length of all runs of true cells in the rows of [R, C]."""
    steps = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    (rows, starts), (_, ends) = (np.nonzero(steps == step) for step in (1, -1))
    yield from zip(rows.tolist(), starts.tolist(), (ends - starts).tolist(), strict=True)


def _draw_hatching(mask: Mask, size: float) -> Iterator[Shape]:
    """Yield lines from lower left to upper right, about 9 units of the picture apart, over the true cells."""
    parts = max(1, round(size / _HATCH_STEP))  # lines a cell
    step = max(1, round(_HATCH_STEP / size))  # cells a line
    mask = mask.repeat(parts, 0).repeat(parts, 1)
    height, width = mask.shape
    diagonal, col = np.indices((height + width - 1, width))
    row = diagonal - col
    slanted = mask[row.clip(0, height - 1), col] & (row >= 0) & (row < height) & (diagonal % step == 0)
    for total, first, length in runs(slanted):
        x, y, reach = first / parts, (total - first + 1) / parts, length / parts
        yield Polyline(((x, y), (x + reach, y - reach)), _HATCH, _HATCH_WIDTH / size)


def _draw_grid(height: int, width: int, size: float) -> Iterator[Shape]:
    for row in range(1, height):
        yield Polyline(((0, row), (width, row)), _PALE, 1 / size, 0.2)
    for col in range(1, width):
        yield Polyline(((col, 0), (col, height)), _PALE, 1 / size, 0.2)


def _draw_edges(territory: Mask, size: float) -> Iterator[Shape]:
    """Yield the edges of territories, between cells: a's unbroken, b's in dashes, a whole number of them a cell."""
    piece, thick = 0.5 / max(1, round(size / 10)), _EDGE_WIDTH / size
    ends: tuple[Point, Point]
    for mask, colour, dash in zip(territory, _EDGE, (None, (piece, piece)), strict=True):
        short = 0.0 if dash is None else piece / 2
        for row, col, length in runs(mask[1:] != mask[:-1]):
            ends = (col + short, row + 1), (col + length - short, row + 1)
            yield Polyline(ends, colour, thick, dash=dash)
        for col, row, length in runs((mask[:, 1:] != mask[:, :-1]).T):
            ends = (col + 1, row + short), (col + 1, row + length - short)
            yield Polyline(ends, colour, thick, dash=dash)


_THIN = 0.17  # half the thickness of a cross
_CROSS = tuple(
    (0.5 + 0.94 * x, 0.5 + 0.94 * y)
    for x, y in (
        *((0, -_THIN), (0.5 - _THIN, -0.5), (0.5, -0.5 + _THIN), (_THIN, 0)),
        *((0.5, 0.5 - _THIN), (0.5 - _THIN, 0.5), (0, _THIN), (-0.5 + _THIN, 0.5)),
        *((-0.5, 0.5 - _THIN), (-_THIN, 0), (-0.5, -0.5 + _THIN), (-0.5 + _THIN, -0.5)),
    )
)
_DIAMOND = ((0.5, 0.06), (0.94, 0.5), (0.5, 0.94), (0.06, 0.5))


def _draw_cells(cells: Cells, size: float) -> Iterator[Shape]:
    gap = 0.08 if size >= _ROOMY else 0.0
    if gap:
        for row, col in np.argwhere(cells == _A).tolist():
            yield Rectangle(col + gap / 2, row + gap / 2, 1 - gap, 1 - gap, UNITS[0])
    else:
        for row, col, length in runs(cells == _A):
            yield Rectangle(col, row, length, 1, UNITS[0])
    for row, col in np.argwhere(cells == _B).tolist():
        yield Circle(col + 0.5, row + 0.5, 0.5 - gap / 2, UNITS[1])
    for row, col in np.argwhere(cells == _KILLED).tolist():
        yield Polygon(tuple((col + x, row + y) for x, y in _CROSS), _DEAD)
    for row, col in np.argwhere(cells == _NEUTRAL).tolist():
        yield Polygon(tuple((col + x, row + y) for x, y in _DIAMOND), _WORLD, _STONE, 0.16)


# ---------------------------------------------------------------- around the world


def _sample(x: float, y: float, kind: int, of: Sequence[int] = (), placed: bool = False) -> Inset:
    """Return a small world as a sign of what words beside it mean, its left edge at x and its middle at y.

    A cell; or a cell, which may be empty, in the midst of somebody's territory.
    """
    side, scale = (5, 6.4) if of else (1, 14.0)
    cells, territory = np.zeros((side, side), np.int8), np.zeros((2, side, side), np.bool_)
    cells[side // 2, side // 2] = kind
    territory[list(of), 1:-1, 1:-1] = True
    marked = np.full_like(territory[0], True) if placed else None
    shapes = _draw_world(View(cells, territory, "", placed=marked), scale)
    return Inset(x + 16 - side * scale / 2, y - side * scale / 2, Picture(side, side, None, tuple(shapes)), scale)


def _draw_standing(view: View, wide: float) -> Iterator[Shape]:
    for player in (0, 1):
        left, room = _LEFT + player * wide / 2, wide / 2 - 50
        heading, standing = view.heading(player), view.standing(player)
        yield _sample(left - 6, 61, player + 1, (player,))
        yield Text(left + 32, 59, heading, fitted(heading, 15, room), _INK, bold=True)
        yield Text(left + 32, 75, standing, fitted(standing, 13, room), _INK)


def _draw_legend(view: View, wide: float) -> Iterator[Shape]:
    """Yield signs for what is nobody's alone, and for the units placed in this turn."""
    mover = _A if view.placed is None else int(view.cells[view.placed].max(initial=_A))
    for place, (word, count) in enumerate(view.counts().items()):
        left = _LEFT + place * wide / 4
        kind = {"contested": 0, "killed": _KILLED, "placed": mover, "neutral": _NEUTRAL}[word]
        yield _sample(left - 6, 97, kind, (0, 1) if word == "contested" else (), word == "placed")
        yield Text(left + 32, 101.5, f"{word} {count}", 13, _INK)


# ---------------------------------------------------------------- as text

_COLUMNS = 140  # signs in a row at most
_SIGNS = ".-|+ABoxab"  # nobody's, a's, b's, both's; units, neutral, killed; units placed in this turn
_KEY = "units A B (a b placed this turn), o neutral, x killed; territory - of A, | of B, + of both"


def text(view: View) -> str:
    """Return one moment for a terminal, a sign a cell, or a sign a block of cells where a row would be longer than 140.

    A block shows units before anything else (those of the player with more, `*` if their numbers are equal), then
    killed cells, neutral ones, and the territory that most of it belongs to.
    """
    cells, territory, placed = view.cells, view.territory, view.placed
    players = [f"{_SIGNS[player + 4]} {view.heading(player)}; {view.standing(player)}" for player in (0, 1)]
    lines = [view.title, *players]
    lines += [", ".join(f"{word} {count}" for word, count in view.counts().items()), _KEY]
    block = -(-cells.shape[1] // _COLUMNS)
    high = 2 * block if block > 1 else 1  # as signs are about twice as high as wide
    margin = len(str(cells.shape[0])) + 1
    lines.append(" " * margin + "".join(f"{col:<10}" for col in range(0, cells.shape[1], 10 * block)).rstrip())
    if block == 1:
        lines.append(" " * margin + "".join(str(col % 10) for col in range(cells.shape[1])))
    codes = np.where(cells > 0, cells + 3, territory[0] + 2 * territory[1])  # places in `_SIGNS`
    if placed is not None:
        codes = np.where(placed & ((codes == 4) | (codes == 5)), codes + 4, codes)
    rows = _blocks(codes, high, block).tolist()
    lines += [f"{row * high:>{margin - 1}} {''.join(signs)}" for row, signs in enumerate(rows)]
    return "\n".join([*lines, *view.layer.text(high, block)])


def _blocks(codes: Cells, high: int, wide: int) -> npt.NDArray[np.str_]:
    """Return the sign of each block of `high` x `wide` cells; blocks at the right and lower edges may be smaller."""
    rest = [(0, -size % part) for size, part in zip(codes.shape, (high, wide), strict=True)]
    padded = np.pad(codes, rest, constant_values=-1)
    parts = padded.reshape(padded.shape[0] // high, high, padded.shape[1] // wide, wide)
    counts = np.stack([(parts == code).sum((1, 3)) for code in range(len(_SIGNS))])
    signs = np.array(list(_SIGNS))
    shown = signs[counts[:4].argmax(0)]
    for code in (6, 7):
        shown = np.where(counts[code] > 0, signs[code], shown)
    a, b = counts[4] + counts[8], counts[5] + counts[9]
    shown = np.select([a > b, b > a, a > 0], ["A", "B", "*"], shown)
    return np.select([counts[8] > 0, counts[9] > 0], ["a", "b"], shown)


# ---------------------------------------------------------------- moments of a game


def frames(game: ClothOfGold, before: ClothState, after: ClothState) -> Iterator[Picture]:
    """Yield a placement as one picture, the end of a round as some of its generations."""
    before, after = before[:1], after[:1]
    last = view(game, after)
    if round_ends(before, after):
        yield from _generations(game, before, last)
    yield draw(replace(last, last=_changed(game, before, after)))


def round_ends(before: ClothState, after: ClothState) -> bool:
    """Return True if generations have run between two positions."""
    ended = int(after.round) > int(before.round) or bool(after.done)
    return ended and not bool(before.done) and int(before.round) > 0


def _generations(game: ClothOfGold, before: ClothState, last: View) -> Iterator[Picture]:
    """Yield some of a round's generations, but not the last one."""
    world, shown = game.world(before), set(frame_times(game.generations, _FRAMES))
    for generation in range(game.generations):
        if generation in shown:
            now = replace(
                last,
                cells=world.board(),
                territory=world.territories(),
                title=f"Round {int(before.round)}, generation {generation} of {game.generations}",
                results=("", ""),
                scores=before.scores[0].int().tolist(),
                layer=game.layer(world),
            )
            yield draw(now)
        world.generation()


def _changed(game: ClothOfGold, before: ClothState, after: ClothState) -> Place | None:
    """Return the cell on which a unit was placed or taken back, None at the end of a turn."""
    if int(after.acts) != int(before.acts) + 1:
        return None
    placed = (game.board(before) != game.board(after))[0].nonzero()
    if len(placed) == 0:  # a bolt that hit nothing
        return None
    row, col = placed[len(placed) // 2].tolist()
    return row, col


def view(game: ClothOfGold, state: ClothState) -> View:
    """Return the first game of the batch."""
    state = state[:1]
    world, done = game.world(state), bool(state.done)
    results = [_RESULTS[value] for value in game.outcome(state)[0].tolist()] if done else ["", ""]
    scored = done or int(state.round) > 1 - game.initial_placement
    return View(
        cells=world.board(),
        territory=world.territories(),
        title=_title(game, state),
        names=game.info.players,
        scores=state.scores[0].int().tolist() if scored else None,
        results=results,
        placed=None if done else world.placed(),
        layer=game.layer(world),
    )


def _title(game: ClothOfGold, state: ClothState) -> str:
    number = int(state.round)
    if bool(state.done):
        return f"Cut off after {number} rounds" if bool(state.truncated) else f"Over after round {number}"
    return whose_turn(game, state, game.info.players)


def whose_turn(game: ClothOfGold, state: ClothState, names: Sequence[str]) -> str:
    """Return the player to place by name, the round, and the units left in this turn."""
    number, left = int(state.round), int(state.left)
    turn = f"round {number} of {game.max_rounds}" if number else "initial placement"
    return f"{names[int(state.current_player)]} to place, {turn}, {left} unit{'s' * (left != 1)} left"

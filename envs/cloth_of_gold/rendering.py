"""Pictures and text of Cloth of Gold: units, killed and neutral cells, both territories, and the score.

Nothing is told apart by hue alone. a's units are dark squares and b's light discs, a's territory is darker than b's and
contested cells are darker still, killed cells are crosses and neutral ones hollow diamonds.

Letters: `H, W` rows and columns of the world.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from cellgames.envs.core.drawing import (
    COLUMNS,
    INK,
    BoardView,
    Circle,
    Picture,
    Polygon,
    Polyline,
    Rectangle,
    Shape,
    frame_times,
    framed,
    grid_lines,
    mix,
    sign_rows,
)
from cellgames.envs.core.info import LOSS, WIN

from .state import ClothState

if TYPE_CHECKING:
    from .game import ClothOfGold

Cells: TypeAlias = npt.NDArray[np.integer[Any]]
Mask: TypeAlias = npt.NDArray[np.bool_]
Place: TypeAlias = tuple[int, int]

UNITS = ("#0a4a80", "#e8890c")
"""Colours of a's and b's units: blue and orange as far apart in lightness as in hue."""

WORLD, GROUND = "#ffffff", ("#cfe0f0", "#fdeccb", "#eac0cc")
"""Colours of the world, and of a's territory, b's, and contested cells."""
EDGE = (mix(UNITS[0], WORLD, 0.25), mix(UNITS[1], INK, 0.25))
DEAD, STONE, RING = "#1d1a16", "#5f5f5f", "#c2185b"
"""Colours of killed cells, of neutral ones, and of the ring on the last move."""

_A, _B, _NEUTRAL, _KILLED = 1, 2, 3, 4

_SIDE = 720  # units of a world's longer side, about
_SMALLEST, _LARGEST = 4, 46  # units of a cell
_ROOMY, _GRID = 6, 15  # units of a cell from which cells are drawn apart, and a grid between them
_FRAMES = 42  # of a round in an animation
_RESULTS = {WIN: "wins", LOSS: "loses"}


_SIGNS = ".-|+ABoxab"  # nobody's, a's, b's, both's; units, neutral, killed; units placed in this turn
_WEIGHTS = (1, 1, 1, 1, 1e6, 1e6, 1e3, 1e3, 1e9, 1e9)  # in a block, units count before anything else
_KEY = "units A B (a b placed this turn), o neutral, x killed; territory - of A, | of B, + of both"


class Layer:
    """The parts that a game that extends this one adds to a picture; all are empty here.

    Attributes:
        veil: opacity of territory.
    """

    veil: ClassVar[float] = 1.0

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

    def lines(self) -> list[str]:
        """Return more lines of words, the same number of them for all moments of a game."""
        return []

    def text(self, shape: tuple[int, ...]) -> list[str]:
        """Return more lines for a terminal, of a world with this many rows and columns."""
        return []


@dataclass(frozen=True, eq=False)
class View(BoardView):
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
    names: Sequence[str] = ("player_a", "player_b")
    scores: Sequence[int] | None = None
    results: Sequence[str] = ("", "")
    placed: Mask | None = None
    last: Place | None = None
    layer: Layer = field(default_factory=Layer)

    def lines(self) -> list[str]:
        """Return a line for each player, and a line of cells that are nobody's alone and of units just placed."""
        lines = []
        for player, name in enumerate(self.names):
            score = "" if self.scores is None else f"score {self.scores[player]:+d}"
            said = ", ".join(filter(None, (score, self.results[player])))
            units, territory = int((self.cells == player + 1).sum()), self.territory[player].sum()
            standing = f"{units} {'unit' if units == 1 else 'units'}, territory {territory}"
            lines.append(f"{name}{said and ': '}{said}; {standing}")
        counts = {"contested": self.territory.all(0).sum(), "killed": (self.cells == _KILLED).sum()}
        if self.placed is not None:
            counts["placed"] = self.placed.sum()
        if (neutral := (self.cells == _NEUTRAL).sum()) > 0:
            counts["neutral"] = neutral
        return [*lines, ", ".join(f"{word} {count}" for word, count in counts.items())]

    @override
    def draw(self) -> Picture:
        height, width = self.cells.shape
        size = min(_LARGEST, max(_SMALLEST, _SIDE // max(height, width)))
        world = Picture(width, height, WORLD, tuple(_draw_world(self, size)))
        return framed(world, size, self.title, [*self.lines(), *self.layer.lines()], UNITS)

    @override
    def text(self) -> str:
        codes = np.where(self.cells > 0, self.cells + 3, self.territory[0] + 2 * self.territory[1])
        if self.placed is not None:
            codes = np.where(self.placed & ((codes == 4) | (codes == 5)), codes + 4, codes)
        height, width = codes.shape
        block, margin, (a, b, counts) = -(-width // COLUMNS), len(str(height)) + 1, self.lines()
        heads = ["".join(f"{col:<10}" for col in range(0, width, 10 * block)).rstrip()]
        heads += ["".join(str(col % 10) for col in range(width))] if block == 1 else []
        lines = [self.title, f"A {a}", f"B {b}", counts, _KEY, *(" " * margin + head for head in heads)]
        lines += (f"{row:>{margin - 1}} {signs}" for row, signs in sign_rows(codes, _SIGNS, _WEIGHTS))
        return "\n".join([*lines, *self.layer.text(codes.shape)])


# ---------------------------------------------------------------- the world, in units of one cell


def _draw_world(view: View, size: float) -> Iterator[Shape]:
    """Yield everything inside the frame; `size` units of the picture are one cell."""
    cells, territory = view.cells, view.territory
    held = territory[0] + 2 * territory[1]
    yield from view.layer.draw_below(size)
    for kind, colour in enumerate(GROUND, 1):
        for row, col, length in runs(held == kind):
            yield Rectangle(col, row, length, 1, colour, opacity=view.layer.veil)
    yield from view.layer.draw_below(size, over=True)
    if size >= _GRID:
        yield from grid_lines(cells.shape[0], cells.shape[1], 1 / size)
    yield from _draw_edges(territory, 2 / size)
    yield from _draw_cells(cells, size)
    yield from view.layer.draw_above(size)
    if view.placed is not None:
        for row, col in np.argwhere(view.placed).tolist():
            yield Circle(col + 0.5, row + 0.5, max(0.16, 0.7 / size), WORLD)
    if view.last is not None:
        row, col = view.last
        yield Circle(col + 0.5, row + 0.5, max(0.75, 6 / size), None, RING, max(0.08, 2 / size))


def runs(mask: Mask) -> Iterator[tuple[int, int, int]]:
    """Yield row, first column and length of all runs of true cells in the rows of [R, C]."""
    steps = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    (rows, starts), (_, ends) = (np.nonzero(steps == step) for step in (1, -1))
    yield from zip(rows.tolist(), starts.tolist(), (ends - starts).tolist(), strict=True)


def _draw_edges(territory: Mask, width: float) -> Iterator[Shape]:
    """Yield the edges of territories, between cells."""
    for mask, colour in zip(territory, EDGE, strict=True):
        for row, col, length in runs(mask[1:] != mask[:-1]):
            yield Polyline(((col, row + 1), (col + length, row + 1)), colour, width)
        for col, row, length in runs((mask[:, 1:] != mask[:, :-1]).T):
            yield Polyline(((col + 1, row), (col + 1, row + length)), colour, width)


_DIAMOND = ((0.5, 0.06), (0.94, 0.5), (0.5, 0.94), (0.06, 0.5))


def _draw_cells(cells: Cells, size: float) -> Iterator[Shape]:
    gap = 0.08 if size >= _ROOMY else 0.0
    for row, col in np.argwhere(cells == _A).tolist():
        yield Rectangle(col + gap / 2, row + gap / 2, 1 - gap, 1 - gap, UNITS[0])
    for row, col in np.argwhere(cells == _B).tolist():
        yield Circle(col + 0.5, row + 0.5, 0.5 - gap / 2, UNITS[1])
    for row, col in np.argwhere(cells == _KILLED).tolist():
        for high, low in ((0.16, 0.84), (0.84, 0.16)):
            yield Polyline(((col + 0.16, row + high), (col + 0.84, row + low)), DEAD, 0.3)
    for row, col in np.argwhere(cells == _NEUTRAL).tolist():
        yield Polygon(tuple((col + x, row + y) for x, y in _DIAMOND), WORLD, STONE, 0.16)


# ---------------------------------------------------------------- moments of a game


def frames(game: ClothOfGold, before: ClothState, after: ClothState) -> Iterator[Picture]:
    """Yield a placement as one picture, the end of a round as some of its generations."""
    before, after = before[:1], after[:1]
    last = view(game, after)
    if round_ends(before, after):
        yield from _generations(game, before, last)
    yield replace(last, last=_changed(game, before, after)).draw()


def round_ends(before: ClothState, after: ClothState) -> bool:
    """Return True if generations have run between two positions."""
    ended = int(after.round) > int(before.round) or bool(after.done)
    return ended and not bool(before.done) and int(before.round) > 0


def _generations(game: ClothOfGold, before: ClothState, last: View) -> Iterator[Picture]:
    """Yield some of a round's generations, but not the last one."""
    shown = set(frame_times(game.generations, _FRAMES))
    for generation, now in zip(range(game.generations), game.worlds(before), strict=False):
        if generation in shown:
            moment = replace(
                last,
                cells=game.board(now)[0].numpy(force=True),
                territory=game.territories(game.with_territory(now))[0].numpy(force=True),
                title=f"Round {int(before.round)}, generation {generation} of {game.generations}",
                results=("", ""),
                scores=before.scores[0].int().tolist(),
                layer=game.layer(now),
            )
            yield moment.draw()


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
    state = game.with_territory(state[:1])
    done = bool(state.done)
    results = [_RESULTS[value] for value in game.outcome(state)[0].tolist()] if done else ["", ""]
    scored = done or int(state.round) > 1 - game.initial_placement
    return View(
        cells=game.board(state)[0].numpy(force=True),
        territory=game.territories(state)[0].numpy(force=True),
        title=_title(game, state),
        names=game.info.players,
        scores=state.scores[0].int().tolist() if scored else None,
        results=results,
        placed=None if done else game.placed(state)[0].numpy(force=True),
        layer=game.layer(state),
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

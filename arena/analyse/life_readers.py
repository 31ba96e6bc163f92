"""Readers of games with Life in them: Cloth of Gold, Grid Adaptation and the Toroidal Cup; names of shapes of cells."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from typing_extensions import override

from cellgames.agents.cloth_of_gold.turns import SHAPES
from cellgames.arena.records.record_lines import Record
from cellgames.envs.boards.rle import Cell, orientations, parse_cells
from cellgames.envs.core import Game
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.toroidal_cup.game import ToroidalCup

from .reader import Frame, Layout, Opening, Placed, Reader


def canonical(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return the least of the eight rotated and mirrored forms, moved to row 0 and column 0, its cells in order."""
    # Wide before high, as people draw them.
    return min(orientations(cells), key=lambda form: (max(row for row, _ in form), form))


def shape_text(cells: Iterable[Cell]) -> str:
    """Return rows of `o` and `.`, such as `.oo/oo./.o.`."""
    known = set(cells)
    rows, cols = (1 + max(axis) for axis in zip(*known, strict=True))
    return "/".join("".join("o" if (row, col) in known else "." for col in range(cols)) for row in range(rows))


def groups(cells: Iterable[Cell], reach: int) -> list[tuple[Cell, ...]]:
    """Split cells into groups: cells within `reach` king's moves of each other belong together."""
    left, found = set(cells), []
    while left:
        group, edge = [], [left.pop()]
        while edge:
            row, col = edge.pop()
            group.append((row, col))
            near = {(r, c) for r, c in left if abs(r - row) <= reach and abs(c - col) <= reach}
            left -= near
            edge += near
        found.append(tuple(sorted(group)))
    return sorted(found)


_NAMES = {canonical(parse_cells(rows)): name for name, rows in SHAPES.items()}


def named(cells: Iterable[Cell]) -> str:
    """Return the usual name of a shape that the suite's agents know, `cell` for a single one, else its `shape_text`."""
    form = canonical(cells)
    return "cell" if len(form) == 1 else _NAMES.get(form, shape_text(form))


_REACH = 2  # king's moves between cells of one shape
_LATER = (1, 2, 4, 8)  # rounds that begin another phase
_MOST = 4  # shapes that are named of a turn


class Turn(NamedTuple):
    """A player's turn.

    Attributes:
        seat: Whose.
        round: 0 is the initial placement.
        cells: Filled when it ended, in the order of their numbers.
        forced: True if a part of it was not the player's choice.
    """

    seat: int
    round: int
    cells: tuple[int, ...]
    forced: bool


class ClothReader(Reader):
    """A reader of Cloth of Gold; an opening is both players' first turns as shapes, wherever they stand."""

    depth = 2
    phases = ("initial placement", "round 1", "rounds 2 and 3", "rounds 4 to 7", "later rounds")
    about = (
        "An opening is the first turn of player_a and the answer of player_b, as shapes: cells within two king's "
        "moves of each other are one shape, however it is turned and wherever it stands."
    )

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.height, self.width = (int(game.parameters[name]) for name in ("height", "width"))
        self.first = 0 if game.parameters["initial_placement"] else 1
        names = tuple(game.action_to_string(cell) for cell in range(self.height * self.width))
        self.frames = (Frame("board", "the world", Layout.rectangle(names, self.height, self.width)),)

    def turns(self, record: Record) -> Iterator[Turn]:
        """Return all turns that were ended."""
        number, first, cells = 0, 0, set[int]()
        for ply, move in enumerate(record.moves):
            if move != "end":
                cells ^= {self.action(move)}  # named again, a cell is taken back
                continue
            seat, lap = number % 2, number // 2
            yield Turn(seat, lap + self.first, tuple(sorted(cells)), first < record.opening)
            number, first, cells = number + 1, ply + 1, set()

    @override
    def openings(self, record: Record) -> Iterator[Opening]:
        turns = [turn for turn, _ in zip(self.turns(record), range(self.depth), strict=False)]
        if turns:
            steps = tuple(self.shapes_of(turn.cells) for turn in turns)
            yield Opening(steps, tuple(turn.seat for turn in turns), sum(turn.forced for turn in turns))

    def shapes_of(self, cells: tuple[int, ...]) -> str:
        """Return a text such as `2 glider + block`: the most frequent shapes, and how many more there are."""
        found = Counter(map(named, groups([divmod(cell, self.width) for cell in cells], _REACH)))
        ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        parts = [f"{count} {name}" if count > 1 else name for name, count in ordered]
        more = len(parts) - _MOST
        return " + ".join(parts[:_MOST] + ([f"{more} more shapes"] if more > 0 else [])) or "nothing"

    @override
    def placed(self, record: Record) -> Iterator[Placed]:
        for turn in self.turns(record):
            if not turn.forced:
                phase = bisect.bisect_right(_LATER, turn.round)
                yield from (Placed(0, turn.seat, phase, cell) for cell in turn.cells)


_APART = 4  # rows or columns that a shape of three tiles spans at most
_NO_TILE = "none"
_RINGS = ("in the middle", "halfway", "at the edge")


class GridReader(Reader):
    """A reader of Grid Adaptation; an opening is the shape of a player's tiles of round 1, and how central they lie."""

    depth = 2
    about = (
        "An opening is the tiles that a player names in round 1: first their shape, however it is turned and "
        "wherever it lies, then the place of their centre. Every seat of every match has one."
    )

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        assert isinstance(game, GridAdaptation)
        self.size, self.rounds = game.size, game.rounds
        self._steps = game.steps_a_round
        names = tuple(f"r{cell // self.size}c{cell % self.size}" for cell in range(self.size**2))
        self._cells = {name: cell for cell, name in enumerate(names)}
        self.frames = (Frame("board", "the board", Layout.rectangle(names, self.size, self.size)),)
        self.phases = tuple(f"round {number}" for number in range(1, self.rounds + 1))

    def spaces(self, action: str) -> list[int]:
        """Return the spaces that an action names, the reserve tile's last."""
        tiles, _, reserve = action.partition("/")[0].partition("+")
        names = [*tiles.split(","), *([reserve] if reserve else [])]
        return [self._cells[name] for name in names if name != _NO_TILE]

    @override
    def openings(self, record: Record) -> Iterator[Opening]:
        first = min(self._steps - 1, len(record.moves) - 1)
        for seat, action in enumerate(self.by_seat(record.moves[first])):
            cells = [divmod(space, self.size) for space in self.spaces(action)]
            steps = (self.shape(cells), self.ring(cells)) if cells else ("nothing",)
            yield Opening(steps, (seat,) * len(steps), len(steps) if record.opening > first else 0)

    def shape(self, cells: list[Cell]) -> str:
        """Return rows of `o` and `.`, or `n tiles apart`."""
        spans = [max(axis) - min(axis) + 1 for axis in zip(*cells, strict=True)]
        form = canonical(cells)
        return shape_text(form) if max(spans) <= _APART else f"{len(form)} tiles apart"

    def ring(self, cells: list[Cell]) -> str:
        """Return the third of the way from the board's middle to its edge in which the cells' centre lies."""
        middle = (self.size - 1) / 2
        centre = (math.fsum(axis) / len(cells) for axis in zip(*cells, strict=True))
        share = max(abs(place - middle) for place in centre) / (self.size / 2)
        return _RINGS[min(2, int(3 * share))]

    @override
    def placed(self, record: Record) -> Iterator[Placed]:
        # Of spaces named, whether or not a tile came to lie there.
        for turn, move in enumerate(record.moves[: self.rounds * self._steps]):
            if turn >= record.opening:
                for seat, action in enumerate(self.by_seat(move)):
                    yield from (Placed(0, seat, turn // self._steps, space) for space in self.spaces(action))


_PHASES = 4


class CupReader(Reader):
    """A reader of the Cup; an opening is a team's first two placements and the rows and columns between them."""

    depth = 2
    about = (
        "An opening is the first two placements of a team: the column of the first shape's centre within the "
        "band and its orientation, then how far down (rows wrap) and right of it the second one lies."
    )

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        assert isinstance(game, ToroidalCup)
        self.lattice, self._positions = game.lattice, game.lattice.down * game.lattice.across
        names = tuple(
            self.game.action_to_string(self.lattice.actions // self._positions * position).partition("/")[0]
            for position in range(self._positions)
        )
        layout = Layout.rectangle(names, self.lattice.down, self.lattice.across)
        self.frames = (Frame("band", "one's own band, a square for each position of a shape's centre", layout),)
        most = game.info.max_turns
        self.phases = tuple(f"shape {number}" for number in range(1, min(most, _PHASES) + 1))
        if most > _PHASES:
            self.phases = (*self.phases[:-1], f"shape {_PHASES} and later")

    @override
    def openings(self, record: Record) -> Iterator[Opening]:
        moves = [self.by_seat(move) for move in record.moves[: self.depth]]
        for seat, names in enumerate(zip(*moves, strict=True)):
            placed = [self.lattice.centre(self.action(name)) for name in names]
            row, col, orientation = placed[0]
            steps = [f"column {col}/{orientation}"]
            for below, right, turned in placed[1:]:
                down = (below - row) % self.lattice.rows
                down -= self.lattice.rows * (down > self.lattice.rows // 2)
                steps.append(f"{down:+d} rows, {right - col:+d} columns/{turned}")
            yield Opening(tuple(steps), (seat,) * len(steps), min(record.opening, len(steps)))

    @override
    def placed(self, record: Record) -> Iterator[Placed]:
        for turn, move in enumerate(record.moves):
            if turn >= record.opening:
                phase = min(turn, len(self.phases) - 1)
                for seat, name in enumerate(self.by_seat(move)):
                    position = self.action(name) * self._positions // self.lattice.actions
                    yield Placed(0, seat, phase, position)

"""Groups of cells that interact with others on their board after more than two generations, and known patterns.

An oscillator may need what it seldom comes near, as the queen bee needs the blocks that it turns round at; a glider may
be about to hit something; something may stand on the edge of a finite board, or wind round a torus. Few groups are so,
and they are looked at one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.life import advance
from cellgames.envs.boards.rle import Cell

from .cell_groups import Groups, unwrapped
from .life_objects import ACTIVE, LONGEST, Kind, Piece, recognise
from .universes import Board

_ROUNDS = 4  # of groups interaction what has come of others that met


@dataclass(frozen=True)
class Interaction:
    """Groups of one board, and the objects that they are together.

    Attributes:
        pieces: On the torus rolled out.
        links: Cells by which the groups come near each other, on the board.
    """

    groups: tuple[int, ...]
    pieces: tuple[Piece, ...]
    links: frozenset[Cell] = frozenset()


def interactions(
    groups: Groups, careful: npt.NDArray[np.bool_], pattern: Iterable[int], cache: PatternCache
) -> list[Interaction]:
    """Return the objects that groups form together with the groups that they need or meet.

    Args:
        groups: The groups of a batch of boards.
        careful: Bool [G], those to be looked at.
        pattern: The pattern of each group, int64 [G].
        cache: The patterns.
    """
    patterns = np.asarray(pattern)
    boards: dict[int, list[int]] = defaultdict(list)
    for number in np.flatnonzero(careful).tolist():
        boards[int(groups.board[number])].append(number)
    tables = {board: _BoardGroups(groups, board, numbers, patterns, cache) for board, numbers in boards.items()}
    _find_needed(groups, tables)
    found: list[Interaction] = []
    for table in tables.values():
        table.meet()
        found += table.interactions.values()
    return found


class _BoardGroups:
    """The groups of one board that are looked at one by one."""

    def __init__(
        self, groups: Groups, board: int, numbers: list[int], pattern: npt.NDArray[np.int64], cache: PatternCache
    ) -> None:
        self.groups, self.board, self.pattern, self.cache = groups, board, pattern, cache
        self.rows, self.cols = map(int, groups.live.shape[1:])
        self.wrap = groups.wrap
        first, last = (board * self.rows * self.cols, (board + 1) * self.rows * self.cols)
        begin, end = np.searchsorted(groups.window, (first, last))
        window = groups.window[begin:end]
        self.whose = dict(zip(groups.on_board(window), groups.label[begin:end].tolist(), strict=True))
        self.interactions: dict[int, Interaction] = {}  # by the first group
        for number in numbers:
            self.interactions[number] = Interaction((number,), self._alone(number))

    def _alone(self, number: int) -> tuple[Piece, ...]:
        row, col = int(self.groups.row[number]), int(self.groups.col[number])
        if self.groups.tangled[number]:
            return self.together((number,))
        pieces = tuple(_moved(piece, row, col) for piece in self.cache.pieces(int(self.pattern[number])))
        return pieces if all(map(self._fits, pieces)) else self.together((number,))

    def _fits(self, piece: Piece) -> bool:
        """Return True if the board's edges play no part in what the object does."""
        top, left, high, wide = bounding_box(piece.reach)
        if self.wrap:  # the piece must not meet itself from behind
            return high <= self.rows - 2 and wide <= self.cols - 2
        return top >= 0 and left >= 0 and top + high <= self.rows and left + wide <= self.cols

    def together(self, numbers: Iterable[int], reach: Iterable[Cell] = ()) -> tuple[Piece, ...]:
        """Return the objects of groups taken as one; `reach` are further cells, on the board, that join them."""
        chosen = set(numbers)
        cells = frozenset(cell for number in chosen for cell in self.groups.cells(number))
        universe = Board(self.rows, self.cols, self.wrap)
        rolled: dict[Cell, Cell] | None = None
        if self.wrap:
            joined = [cell for cell, whose in self.whose.items() if whose in chosen]
            joined += set(reach).difference(joined)
            rolled = unwrapped(joined, self.rows, self.cols)
        if rolled is not None or not self.wrap:
            flat = frozenset(rolled[cell] for cell in cells) if rolled is not None else cells
            pieces = recognise(flat)
            if all(map(self._fits, pieces)) and (self.wrap or all(piece.kind is not ACTIVE for piece in pieces)):
                return pieces
        return tuple(map(self._freed, recognise(cells, universe)))

    def _freed(self, piece: Piece) -> Piece:
        """Return an object found on the whole board as it is on the plane, if it does the same there."""
        cells = piece.cells
        if self.wrap:
            rolled = unwrapped(sorted(cells), self.rows, self.cols)
            if rolled is None:
                return piece
            cells = frozenset(rolled.values())
        first, *others = recognise(cells)
        alike = not others and first.kind is not ACTIVE and first.kind.period == piece.kind.period
        return first if alike and self._fits(first) else piece

    def join(self, numbers: Iterable[int], reach: Iterable[Cell] = ()) -> None:
        """Join groups to one interaction, with all that they have met before."""
        chosen, links = set(numbers), frozenset(map(self.on_board, reach))
        for first, interaction in list(self.interactions.items()):
            if not chosen.isdisjoint(interaction.groups):
                chosen |= set(interaction.groups)
                links |= interaction.links
                del self.interactions[first]
        self.interactions[min(chosen)] = Interaction(tuple(sorted(chosen)), self.together(chosen, links), links)

    def on_board(self, cell: Cell) -> Cell:
        """Return the place on the board of a cell of the unrolled torus."""
        return (cell[0] % self.rows, cell[1] % self.cols) if self.wrap else cell

    def meet(self) -> None:
        """Join groups where what one reaches within a period is near another group, or what that reaches."""
        for _ in range(_ROUNDS):
            pairs = list(self._near())
            if not pairs:
                return
            first, other, reach = pairs[0]
            self.join((first, other), reach)
            for first, other, reach in pairs[1:]:
                if not any({first, other} <= set(interaction.groups) for interaction in self.interactions.values()):
                    self.join((first, other), reach)

    def _near(self) -> Iterator[tuple[int, int, frozenset[Cell]]]:
        """Yield two interactions, or one and a group, that come near each other, and the cells by which they do."""
        owner = dict(self.whose)
        head = {number: first for first, interaction in self.interactions.items() for number in interaction.groups}
        reached: dict[Cell, int] = {}
        for first, interaction in self.interactions.items():
            reach = frozenset().union(*(piece.reach for piece in interaction.pieces if piece.kind.period > 2))
            seen = {first}
            for cell in map(self.on_board, _around(reach)):
                for whose in (owner.get(cell), reached.get(cell)):
                    if whose is not None and (other := head.get(whose, whose)) not in seen:
                        seen.add(other)
                        others = self.interactions[other].pieces if other in self.interactions else ()
                        yield first, other, reach.union(*(piece.reach for piece in others))
            reached.update(dict.fromkeys(map(self.on_board, reach), first))


def _moved(piece: Piece, down: int, right: int) -> Piece:
    cells, reach = (frozenset((row + down, col + right) for row, col in some) for some in (piece.cells, piece.reach))
    return Piece(piece.kind, cells, reach)


def _around(cells: Iterable[Cell]) -> set[Cell]:
    """Return the cells at most two rows and two columns away."""
    near = range(-2, 3)
    return {(row + down, col + right) for row, col in cells for down in near for right in near}


def _find_needed(groups: Groups, tables: dict[int, _BoardGroups]) -> None:
    """Join groups that are active by themselves, but come back on their boards, with what they come near by then."""
    active = {
        board: [
            first
            for first, interaction in table.interactions.items()
            if any(p.kind is ACTIVE for p in interaction.pieces)
        ]
        for board, table in tables.items()
    }
    boards = [board for board, numbers in active.items() if numbers]
    if not boards:
        return
    rows, cols = groups.live.shape[1:]
    place = {board: number for number, board in enumerate(boards)}
    waiting = {number: board for board in boards for number in active[board]}
    cells = {number: _window_of(tables[board], number) for number, board in waiting.items()}
    flat = [
        place[board] * rows * cols + np.array([row * cols + col for row, col in cells[number]])
        for number, board in waiting.items()
    ]
    numbers, starts = list(waiting), np.cumsum([0, *map(len, flat)])[:-1]
    where = np.concatenate(flat)
    grid = Grid(rows, cols, groups.wrap)
    packed = grid.pack(torch.from_numpy(groups.live[boards]))
    states = [packed]
    first, come_back = groups.live[boards].reshape(-1)[where], defaultdict[int, list[int]](list)
    for period in range(1, LONGEST + 1):
        states.append(advance(grid, states[-1], 1))
        now = grid.unpack(states[-1]).numpy().reshape(-1)[where]
        same = ~np.logical_or.reduceat(now != first, starts)
        for index in np.flatnonzero(same).tolist():
            come_back[numbers[index]].append(period)
    for number, periods in come_back.items():
        table, column = tables[waiting[number]], place[waiting[number]]
        for period in periods:
            if number not in table.interactions:  # joined by another
                break
            shown = grid.unpack(torch.stack([state[..., column] for state in states[: period + 1]], -1)).numpy()
            if _join_reached(table, number, shown):
                break


def _window_of(table: _BoardGroups, number: int) -> list[Cell]:
    interaction = table.interactions[number]
    return [cell for cell, whose in table.whose.items() if whose in interaction.groups]


def _join_reached(table: _BoardGroups, number: int, states: npt.NDArray[np.bool_]) -> bool:
    """Join a group with all whose cells lie in the same part of what is live at some time, if that comes back too.

    Args:
        table: The groups of the board.
        number: Number of the group.
        states: Bool [T, H, W], the board until the group has come back.
    """
    left = {(row, col) for row, col in np.argwhere(states.any(0)).tolist()}
    changed = {(row, col) for row, col in np.argwhere(states[0] != states[-1]).tolist()}
    fresh = [cell for cell in _window_of(table, number) if cell in left]
    part = set(fresh)
    left -= part
    while fresh:
        near = set(map(table.on_board, _around([fresh.pop()]))) & left
        if not changed.isdisjoint(near):
            return False  # the group has come back by chance
        left -= near
        part |= near
        fresh += near
    chosen = {table.whose[cell] for cell in part if cell in table.whose} | {number}
    before = dict(table.interactions)
    table.join(chosen, part)
    if any(
        piece.kind is ACTIVE
        for interaction in table.interactions.values()
        for piece in interaction.pieces
        if number in interaction.groups
    ):
        table.interactions = before
        return False
    return True


Ints: TypeAlias = npt.NDArray[np.int64]

_SHORT_PERIOD = 2  # a period up to which all that an object reaches is live now or in the next generation
_MOST = 1 << 18  # patterns; what is active hardly ever comes again


@dataclass(frozen=True)
class PatternTable:
    """Patterns as arrays, `N` of them with `Q` pieces and `C` cells in all.

    Attributes:
        careful: Bool [N], whether what happens later or elsewhere on the board may matter.
        reach: int64 [N, 4], first and last row and column, from its box, that it comes to.
        first: int64 [N + 1], where its pieces begin.
        kind: int64 [Q], of a piece.
        box: int64 [Q, 4], its first row and column, from the pattern's box, its rows and columns.
        cells: int64 [Q], live ones.
        begin: int64 [N + 1], where its cells begin.
        part: int64 [C], which of its pieces each cell belongs to, by rows and columns.
    """

    careful: npt.NDArray[np.bool_]
    reach: Ints
    first: Ints
    kind: Ints
    box: Ints
    cells: Ints
    begin: Ints
    part: Ints


def bounding_box(cells: Sequence[Cell] | frozenset[Cell]) -> tuple[int, int, int, int]:
    """Return first row and column, rows and columns of the bounding box of cells."""
    rows, cols = zip(*cells, strict=True)
    top, left = min(rows), min(cols)
    return top, left, max(rows) - top + 1, max(cols) - left + 1


class PatternCache:
    """Kinds of objects by number, and patterns by key; a cache with very many patterns drops them all."""

    def __init__(self) -> None:
        self.kinds: list[Kind] = []
        self._numbers: dict[Kind, int] = {}
        self._clear()

    def _clear(self) -> None:
        self._by_key: dict[int, int] = {}
        self._pieces: list[tuple[Piece, ...]] = []
        self._rows: dict[str, list[Any]] = {name: [] for name in PatternTable.__annotations__}
        self._rows["first"].append(0)
        self._rows["begin"].append(0)
        self._table: PatternTable | None = None

    def kind_number(self, kind: Kind) -> int:
        """Return the number of a kind; a new kind gets the next one."""
        if kind not in self._numbers:
            self._numbers[kind] = len(self.kinds)
            self.kinds.append(kind)
        return self._numbers[kind]

    def look_up(self, groups: Groups) -> tuple[Ints, PatternTable]:
        """Return the pattern of each group, int64 [G], and all patterns; entries of tangled groups mean nothing."""
        if len(self._pieces) > _MOST:
            self._clear()
        keys, examples, whose = np.unique(groups.key, return_index=True, return_inverse=True)
        rows, cols = groups.live.shape[1:]
        known = np.empty(len(keys), dtype=np.int64)
        for place, (key, example) in enumerate(zip(keys.tolist(), examples.tolist(), strict=True)):
            if key not in self._by_key:
                if groups.tangled[example]:
                    known[place] = 0
                    continue
                row, col = int(groups.row[example]), int(groups.col[example])
                cells = frozenset(((r - row) % rows, (c - col) % cols) for r, c in groups.cells(example))
                self._by_key[key] = self._add(cells, recognise(cells))
            known[place] = self._by_key[key]
        if not self._pieces and len(keys):  # nothing but tangled groups
            self._add(frozenset({(0, 0)}), recognise(frozenset({(0, 0)})))
        return known[whose.reshape(-1)], self.table

    def pieces(self, pattern: int) -> tuple[Piece, ...]:
        """Return the pieces of a pattern, from its box."""
        return self._pieces[pattern]

    def _add(self, cells: frozenset[Cell], pieces: tuple[Piece, ...]) -> int:
        rows = self._rows
        whose = {cell: number for number, piece in enumerate(pieces) for cell in piece.cells}
        rows["careful"].append(any(piece.kind is ACTIVE or piece.kind.period > _SHORT_PERIOD for piece in pieces))
        top, left, high, wide = bounding_box(frozenset().union(*(piece.reach for piece in pieces)))
        rows["reach"].append((top, top + high - 1, left, left + wide - 1))
        for piece in pieces:
            rows["kind"].append(self.kind_number(piece.kind))
            rows["box"].append(bounding_box(piece.cells))
            rows["cells"].append(len(piece.cells))
        rows["part"].extend(whose[cell] for cell in sorted(cells))
        rows["first"].append(len(rows["kind"]))
        rows["begin"].append(len(rows["part"]))
        self._pieces.append(pieces)
        self._table = None
        return len(self._pieces) - 1

    @property
    def table(self) -> PatternTable:
        """All patterns as arrays."""
        if self._table is None:
            arrays = {name: np.array(values, dtype=np.int64) for name, values in self._rows.items()}
            careful = arrays.pop("careful").astype(bool)
            reach, box = arrays.pop("reach").reshape(-1, 4), arrays.pop("box").reshape(-1, 4)
            self._table = PatternTable(careful=careful, reach=reach, box=box, **arrays)
        return self._table

"""A slow, plain reference of Life, of its colours, and of a game of the Toroidal Cup, to test the fast ones against.

It shares no code with what it checks: a board is a dict of live cells, (row, col) to the number of their team from 1
on, and every live cell votes for its neighbours. Live cells of a game are lists, [generation][team].
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import fsum
from typing import NamedTuple

import torch
from groups import groups
from torch import Tensor

Cell = tuple[int, int]
Board = dict[Cell, int]

OFFSETS = [(row, col) for row in (-1, 0, 1) for col in (-1, 0, 1) if row or col]


def around(cell: Cell, rows: int, cols: int, wrap: bool) -> Iterator[Cell]:
    """The neighbours of a cell."""
    for down, right in OFFSETS:
        row, col = cell[0] + down, cell[1] + right
        if wrap:
            yield row % rows, col % cols
        elif 0 <= row < rows and 0 <= col < cols:
            yield row, col


def next_cells(live: Collection[Cell], rows: int, cols: int, wrap: bool = True) -> set[Cell]:
    """One generation of Life without colours."""
    neighbours = Counter(other for cell in live for other in around(cell, rows, cols, wrap))
    return {cell for cell, n in neighbours.items() if n == 3 or (n == 2 and cell in live)}


def next_board(board: Board, rows: int, cols: int, wrap: bool = True, survivors: str = "recolour") -> Board:
    """One generation with colours."""
    votes: dict[Cell, Counter[int]] = defaultdict(Counter)
    for cell, team in board.items():
        for other in around(cell, rows, cols, wrap):
            votes[other][team] += 1
    after = {}
    for cell, teams in votes.items():
        if teams.total() == 3 or (teams.total() == 2 and cell in board):
            tied = sorted(team for team, n in teams.items() if n == max(teams.values()))
            after[cell] = tied[0] if sum(cell) % 2 == 0 else tied[-1]
            if survivors == "keep" and cell in board:
                after[cell] = board[cell]
    return after


def lives(board: Board, teams: int) -> list[int]:
    """Live cells of each team."""
    found = Counter(board.values())
    return [found[team] for team in range(1, teams + 1)]


def board_of(start: Sequence[Iterable[int]], cols: int) -> Board:
    """Of lists of flat cells, one a team."""
    return {divmod(int(cell), cols): team for team, cells in enumerate(start, 1) for cell in cells}


def drawn(drawing: str, teams: str = "o") -> Board:
    """Of rows of characters; the n-th of `teams` is a cell of team n, any other one is empty."""
    lines = [line.strip() for line in drawing.strip().splitlines()]
    return {(r, c): teams.index(x) + 1 for r, line in enumerate(lines) for c, x in enumerate(line) if x in teams}


def spread(live: Iterable[Cell], offsets: Sequence[Cell], rows: int, cols: int, wrap: bool) -> set[Cell]:
    """The cells at `offsets`, rows down and columns right, from live ones."""
    found = {(row + down, col + right) for row, col in live for down, right in offsets}
    if wrap:
        return {(row % rows, col % cols) for row, col in found}
    return {(row, col) for row, col in found if 0 <= row < rows and 0 <= col < cols}


def soup(rows: int, cols: int, *densities: float, teams: int = 1, seed: int = 0) -> Tensor:
    """int8 [B, rows, cols], a board of random cells of random teams for each density."""
    generator = torch.Generator().manual_seed(1000 * rows + cols + seed)
    shape = (len(densities), rows, cols)
    live = torch.rand(shape, generator=generator) < torch.tensor(densities)[:, None, None]
    return live * torch.randint(1, teams + 1, shape, generator=generator, dtype=torch.int8)


def live_cells(board: Tensor) -> Board:
    """Of one board [rows, cols] of team numbers."""
    return {(r, c): team for r, row in enumerate(board.tolist()) for c, team in enumerate(row) if team}


def boards_tensor(boards: Sequence[Collection[Cell]], rows: int, cols: int) -> Tensor:
    """int8 [B, rows, cols]; cells without a colour are team 1's."""
    tensor = torch.zeros(len(boards), rows, cols, dtype=torch.int8)
    for i, board in enumerate(boards):
        for cell in board:
            tensor[i, cell[0], cell[1]] = board[cell] if isinstance(board, dict) else 1
    return tensor


def census(live: Collection[Cell], rows: int, cols: int) -> Counter[int]:
    """How many groups of neighbouring cells (on a torus) have how many cells."""
    found = groups(live, lambda cell, left: left.intersection(around(cell, rows, cols, True)))
    return Counter(map(len, found))


def share(counts: Sequence[int]) -> float:
    """The leader's percentage of the live cells; 0 of none."""
    return 100 * max(counts) / sum(counts) if sum(counts) else 0.0


def ends(shares: Sequence[float], generation: int, counts: Sequence[int], tolerance: float) -> bool:
    """Whether the rule's words are fulfilled at a generation; `shares` are those of generation 0 on."""
    if generation < 243 or counts.count(max(counts)) > 1:
        return False
    if sum(n > 0 for n in counts) == 1:
        return True
    averages = [fsum(shares[g - 239 : g + 1]) / 240 for g in (generation - 2, generation - 1, generation)]
    if any(abs(average - 50) <= tolerance * 50 for average in averages):
        return False
    return all(abs(averages[i + 1] - averages[i]) / averages[i] < tolerance for i in (0, 1))


class Game(NamedTuple):
    """boards and counts by generation, from 0 to the end; whether it was cut off."""

    boards: list[Board]
    counts: list[list[int]]
    truncated: bool

    @property
    def winner(self) -> int:
        """The number of the team with the most cells, 0 if there is none."""
        last = self.counts[-1]
        return last.index(max(last)) + 1 if last.count(max(last)) == 1 else 0


def until_the_end(boards: list[Board], teams: int, tolerance: float = 1e-12) -> Game:
    """Of the boards of many generations, those that are played."""
    counts = [lives(board, teams) for board in boards]
    shares = [share(n) for n in counts]
    for generation in range(1, len(boards)):
        if ends(shares, generation, counts[generation], tolerance):
            return Game(boards[: generation + 1], counts[: generation + 1], False)
    return Game(boards, counts, True)


def history(start: Board, rows: int, cols: int, generations: int, survivors: str = "recolour") -> list[Board]:
    """The boards of generations 0 to `generations`, on a torus."""
    boards = [start]
    known: dict[frozenset[tuple[Cell, int]], Board] = {}  # most boards come back
    for _ in range(generations):
        now = frozenset(boards[-1].items())
        if now not in known:
            known[now] = next_board(boards[-1], rows, cols, survivors=survivors)
        boards.append(known[now])
    return boards

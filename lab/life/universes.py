"""Universes in which cells of Life live: the endless plane, or a board with its edges or seams.

Boards are integers, a bit for each cell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

import numpy as np
from typing_extensions import override

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.packedboards import neighbour_counts
from cellgames.envs.boards.rle import Cell

from .cell_groups import next_boards


class Universe(Protocol):
    """A place where cells live without others; boards are integers, a bit for each cell."""

    bounded: bool
    """True if its edges or its wrapping affect what happens."""

    def pack(self, cells: Iterable[Cell]) -> int:
        """Return the board with these live cells."""

    def cells(self, board: int) -> frozenset[Cell]:
        """Return the live cells of a board."""

    def next_board(self, board: int) -> int:
        """Return the next generation."""

    def offset(self, first: int, later: int) -> Cell | None:
        """Return the offset of `later` from `first`, down and right; None if it is another pattern."""


class Plane(Universe):
    """The part of the endless plane that some cells can reach within some generations."""

    bounded = False

    def __init__(self, cells: Collection[Cell], generations: int) -> None:
        rows, cols = zip(*cells, strict=True)
        margin = generations + 2
        self._top, self._left = min(rows) - margin, min(cols) - margin
        self._stride = max(cols) - self._left + margin + 1  # right of every row a column is always empty

    @override
    def pack(self, cells: Iterable[Cell]) -> int:
        return sum(1 << ((row - self._top) * self._stride + col - self._left) for row, col in cells)

    @override
    def cells(self, board: int) -> frozenset[Cell]:
        found = []
        while board:
            low = board & -board
            row, col = divmod(low.bit_length() - 1, self._stride)
            found.append((row + self._top, col + self._left))
            board ^= low
        return frozenset(found)

    @override
    def next_board(self, board: int) -> int:
        ones, twos, fours = neighbour_counts(board, board << self._stride, board >> self._stride, 3)
        after: int = (ones | board) & twos & ~fours
        return after

    @override
    def offset(self, first: int, later: int) -> Cell | None:
        if first.bit_count() != later.bit_count() or not later:
            return None
        by = (later & -later).bit_length() - (first & -first).bit_length()
        if (first << by if by >= 0 else first >> -by) != later:
            return None
        down = round(by / self._stride)
        return down, by - down * self._stride


class Board(Universe):
    """A whole board, wrapped or with edges; patterns come back in their place only."""

    bounded = True

    def __init__(self, rows: int, cols: int, wrap: bool) -> None:
        self._grid = Grid(rows, cols, wrap)
        self.torus = (rows, cols) if wrap else None

    @override
    def pack(self, cells: Iterable[Cell]) -> int:
        return sum({1 << (row % self._grid.rows * self._grid.cols + col % self._grid.cols) for row, col in cells})

    def _array(self, board: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
        rows, cols = self._grid.rows, self._grid.cols
        octets = np.frombuffer(board.to_bytes(-(-rows * cols // 8), "little"), dtype=np.uint8)
        return np.unpackbits(octets, bitorder="little")[: rows * cols].reshape(rows, cols)

    @override
    def cells(self, board: int) -> frozenset[Cell]:
        return frozenset((row, col) for row, col in np.argwhere(self._array(board)).tolist())

    @override
    def next_board(self, board: int) -> int:
        cells = next_boards(self._array(board)[None].astype(bool), self._grid)
        return int.from_bytes(np.packbits(cells, bitorder="little").tobytes(), "little")

    @override
    def offset(self, first: int, later: int) -> Cell | None:
        return (0, 0) if first == later else None

"""Where cells of Life live by themselves: the endless plane, or a board with its edges or seams.

Boards are integers, a bit for each cell.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from typing import Protocol

import numpy as np
import torch

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.intboards import IntGrid
from cellgames.envs.boards.life import generation

from .apgcode import Cell

__all__ = ["Board", "Plane", "World"]


class World(Protocol):
    """Where cells live by themselves. Boards are integers, a bit for each cell."""

    bound: bool
    """Whether its edges or its wrapping have a part in what happens."""

    def pack(self, cells: Iterable[Cell]) -> int:
        """A board."""

    def cells(self, board: int) -> frozenset[Cell]:
        """The live cells of a board."""

    def after(self, board: int) -> int:
        """The next generation."""

    def moved(self, first: int, later: int) -> Cell | None:
        """How far `later` lies below and right of `first`, if it is the same pattern."""


class Plane:
    """The part of the endless plane around some cells that they can come to within some generations."""

    bound = False

    def __init__(self, cells: Collection[Cell], generations: int) -> None:
        rows, cols = zip(*cells, strict=True)
        margin = generations + 2
        self._top, self._left = min(rows) - margin, min(cols) - margin
        self._grid = _frame(max(rows) - self._top + margin, max(cols) - self._left + margin)

    def pack(self, cells: Iterable[Cell]) -> int:
        """See `World`."""
        stride = self._grid.stride
        return sum(1 << ((row - self._top) * stride + col - self._left) for row, col in cells)

    def cells(self, board: int) -> frozenset[Cell]:
        """See `World`."""
        found, stride = [], self._grid.stride
        while board:
            low = board & -board
            row, col = divmod(low.bit_length() - 1, stride)
            found.append((row + self._top, col + self._left))
            board ^= low
        return frozenset(found)

    def after(self, board: int) -> int:
        """See `World`."""
        ones, twos, fours = self._grid.neighbour_counts(board)
        return (ones | board) & twos & ~fours

    def moved(self, first: int, later: int) -> Cell | None:
        """See `World`."""
        if first.bit_count() != later.bit_count() or not later:
            return None
        by = (later & -later).bit_length() - (first & -first).bit_length()
        if (first << by if by >= 0 else first >> -by) != later:
            return None
        down = round(by / self._grid.stride)
        return down, by - down * self._grid.stride


@functools.lru_cache(256)
def _frame(rows: int, cols: int) -> IntGrid:
    return IntGrid(rows, cols)


class Board:
    """A whole board, with its edges or wrapped."""

    bound = True

    def __init__(self, rows: int, cols: int, wrap: bool) -> None:
        self._grid = Grid(rows, cols, wrap)
        self.torus = (rows, cols) if wrap else None

    def pack(self, cells: Iterable[Cell]) -> int:
        """See `World`; on a torus cells may lie beyond its seams."""
        return sum({1 << (row % self._grid.rows * self._grid.cols + col % self._grid.cols) for row, col in cells})

    def _array(self, board: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
        rows, cols = self._grid.rows, self._grid.cols
        octets = np.frombuffer(board.to_bytes(-(-rows * cols // 8), "little"), dtype=np.uint8)
        return np.unpackbits(octets, bitorder="little")[: rows * cols].reshape(rows, cols)

    def cells(self, board: int) -> frozenset[Cell]:
        """See `World`."""
        return frozenset((row, col) for row, col in np.argwhere(self._array(board)).tolist())

    def after(self, board: int) -> int:
        """See `World`."""
        packed = self._grid.pack(torch.from_numpy(self._array(board).copy())[None])
        cells = self._grid.unpack(generation(self._grid, packed)).numpy()[0]
        return int.from_bytes(np.packbits(cells, bitorder="little").tobytes(), "little")

    def moved(self, first: int, later: int) -> Cell | None:
        """See `World`; only in its place."""
        return (0, 0) if first == later else None

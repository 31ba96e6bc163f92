"""One finite board as one Python integer, for single games, where calls cost more than bits.

An operation on a board of 100 x 100 takes a fraction of a microsecond, less than calling any tensor operation does.
`IntGrid` has the operations of `bitboards.Grid` that rules need, so that a rule written with `&`, `|`, `^`, `~` and
these runs on both.

    bit row * (cols + 1) + col is a cell; one column at the right is spare and always empty
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cellgames.envs.kernels.parameters import check_whole

from . import neighbours
from .dilation import Footprint


@dataclass(frozen=True)
class IntGrid:
    """The shape of a finite board; nothing lies beyond its edges.

    Args:
        rows: the height of the board, at least 3.
        cols: the width of the board, at least 3.
    """

    rows: int
    cols: int

    def __post_init__(self) -> None:
        for name in ("rows", "cols"):
            check_whole(name, getattr(self, name), 3)

    @cached_property
    def stride(self) -> int:
        """The bits from a cell to the one below it."""
        return self.cols + 1

    @cached_property
    def cells(self) -> int:
        """The bits that are cells of the board."""
        return self.pack(np.ones((self.rows, self.cols), dtype=bool))

    def bit(self, row: int, col: int) -> int:
        """Return the board with one cell set."""
        return 1 << (row * self.stride + col)

    def trim(self, board: int) -> int:
        """Return the cells of the board alone; also of a complement, which has bits without end."""
        return board & self.cells

    def pack(self, cells: npt.NDArray[np.bool_]) -> int:
        """Return bool [rows, cols] as a board."""
        padded = np.zeros((self.rows, self.stride), dtype=bool)
        padded[:, : self.cols] = cells
        return int.from_bytes(np.packbits(padded, bitorder="little").tobytes(), "little")

    def unpack(self, *boards: int) -> npt.NDArray[np.uint8]:
        """Return the cells of each board, uint8 [boards, rows, cols], 0 or 1."""
        size = self.rows * self.stride
        octets = -(-size // 8)
        data = b"".join([board.to_bytes(octets, "little") for board in boards])
        bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8), bitorder="little").reshape(len(boards), octets * 8)
        return bits[:, :size].reshape(len(boards), self.rows, self.stride)[:, :, : self.cols]

    def shift(self, board: int, rows: int, cols: int) -> int:
        """Move every cell down and right; those that leave the board are gone."""
        by, reachable = rows * self.stride + cols, self._reachable.get((rows, cols))
        if reachable is None:
            reachable = self._reachable[rows, cols] = self._cells_from(rows, cols)
        return (board << by if by >= 0 else board >> -by) & reachable

    @cached_property
    def _reachable(self) -> dict[tuple[int, int], int]:
        return {}

    def _cells_from(self, rows: int, cols: int) -> int:
        """Return the cells from which the one `rows` up and `cols` left is on the board too."""
        inside = np.zeros((self.rows, self.cols), dtype=bool)
        inside[max(rows, 0) : max(self.rows + rows, 0), max(cols, 0) : max(self.cols + cols, 0)] = True
        return self.pack(inside)

    def dilate(self, board: int, footprint: Footprint) -> int:
        """Spread every live cell to the cells of a footprint around it."""
        return footprint.apply(board, self.shift)

    def neighbour_counts(self, board: int, bits: int = 3) -> tuple[int, ...]:
        """Return the number of live neighbours of each cell, modulo 2 ** bits, as bit planes, ones first.

        Outside of the board there are counts too; trim what comes of them.
        """
        return neighbours.counts(board, board << self.stride, board >> self.stride, bits)

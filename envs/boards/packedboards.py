"""Small finite boards of bits: several rows in a 64-bit word, many boards at a time.

Letters: `B` boards, `H, W` rows and columns of a board, `N` words of a board.

Boards are int64 tensors [..., N, B] that stand next to each other in memory, as `bitboards` do. One operation works on
a few rows of many boards: on boards of 15 x 15 it does four times as much as on words of one row each.

    board of 15 x 15: | rows 0 .. 3 | rows 4 .. 7 | rows 8 .. 11 | rows 12 .. 14 |
    bit (row in the word) * (W + 1) + column; one column at the right of every row is spare and always empty
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor

from cellgames.envs.native.operators import table
from cellgames.utils.errors import InputError, check_whole

from .bitboards import WORD, every_cell, pack_word, popcount

W = TypeVar("W", Tensor, int)

LARGEST = WORD // 2 - 1  # columns, so that a word holds two rows


@dataclass(frozen=True)
class PackedGrid:
    """The shape of a board, beyond whose edges nothing lies, and how its rows are packed into words.

    Args:
        rows: the height of the board, at least 3.
        cols: the width of the board, 3 to 31.
    """

    rows: int
    cols: int

    def __post_init__(self) -> None:
        for name in ("rows", "cols"):
            check_whole(name, getattr(self, name), 3)
        if self.cols > LARGEST:
            raise InputError("cols", f"at most {LARGEST}", self.cols, "bitboards.Grid packs wider boards")

    @property
    def stride(self) -> int:
        """The bits from a cell to the one below it."""
        return self.cols + 1

    @property
    def rows_a_word(self) -> int:
        """The rows in a word; fewer may be used of the last one."""
        return min(self.rows, WORD // self.stride)

    @property
    def words(self) -> int:
        """The number of words of a board, `N`."""
        return -(-self.rows // self.rows_a_word)

    def cells(self, device: torch.device) -> Tensor:
        """Return the bits that are cells of the board, int64 [N, 1]."""
        return every_cell(self, device)

    def trim(self, boards: Tensor) -> Tensor:
        """Return boards [..., N, B] without what is no cell."""
        return boards & self.cells(boards.device)

    def pack(self, cells: Tensor) -> Tensor:
        """Return boards [B, ..., H, W], any dtype, live where not zero, as words [..., N, B]."""
        if tuple(cells.shape[-2:]) != (self.rows, self.cols) or cells.ndim < 3:
            raise InputError("cells", f"shape [B, ..., {self.rows}, {self.cols}]", list(cells.shape))
        live = torch.nn.functional.pad(
            cells.ne(0).to(torch.uint8), (0, 1, 0, self.words * self.rows_a_word - self.rows)
        )
        words = pack_word(live.flatten(-2).unflatten(-1, (self.words, self.rows_a_word * self.stride)))
        return words.movedim(0, -1).contiguous()

    def unpack(self, boards: Tensor) -> Tensor:
        """Return words [..., N, B] as bool [B, ..., H, W]; the inverse of `pack`."""
        if boards.dtype != torch.int64 or boards.ndim < 2 or boards.shape[-2] != self.words:
            expected, got = f"int64 [..., {self.words}, B]", f"{boards.dtype} {list(boards.shape)}"
            raise InputError(f"packed boards of {self.rows} x {self.cols}", expected, got)
        words = boards.movedim(-1, 0)
        bit = torch.arange(self.rows_a_word * self.stride, device=boards.device)
        rows: Tensor = ((words.unsqueeze(-1) >> bit) & 1).bool().unflatten(-1, (self.rows_a_word, self.stride))
        return rows.flatten(-3, -2)[..., : self.rows, : self.cols].contiguous()

    def count(self, boards: Tensor) -> Tensor:
        """Return the live cells of each board, int64 [..., B]."""
        return popcount(boards).sum(-2)

    def neighbour_counts(self, boards: Tensor, bits: int = 3) -> tuple[Tensor, ...]:
        """Return the number of live neighbours of each cell, modulo 2 ** bits, as bit planes, ones first.

        Beside the board there are counts too; trim what comes of them.
        """
        return neighbour_counts(boards, self._from_above(boards), self._from_below(boards), bits)

    def _from_above(self, boards: Tensor) -> Tensor:
        """Move every row to the next one; what lies beyond the last row of a word may be anything."""
        within = boards << self.stride
        if self.words == 1:
            return within
        last_row = boards.roll(1, -2) >> (self.rows_a_word - 1) * self.stride
        return within | (last_row & _all_but(self.words, 0, boards.device))

    def _from_below(self, boards: Tensor) -> Tensor:
        """Move every row to the one before."""
        within = boards >> self.stride
        if self.words == 1:
            return within
        first_row = boards.roll(-1, -2) << (self.rows_a_word - 1) * self.stride
        return within | (first_row & _all_but(self.words, self.words - 1, boards.device))


@table
def _all_but(words: int, word: int, device: torch.device) -> Tensor:
    """Return every bit of every word but one, int64 [N, 1]."""
    return -(torch.arange(words, device=device) != word).long().unsqueeze(1)


def neighbour_counts(boards: W, above: W, below: W, bits: int) -> tuple[W, ...]:
    """Return the number of live neighbours of each cell, modulo 2 ** bits (1 to 3), as bit planes, ones first.

    In `above` every row is moved to the next one, in `below` to the one before. Trim the counts beside the board.
    """
    ones, twos = above ^ below, above & below
    column, pair = ones ^ boards, (ones & boards) | twos  # of three, with the cell itself: for the cells beside it
    left, right = column << 1, column >> 1
    either = left ^ right
    low, carry = either ^ ones, (either & ones) | (left & right)
    left, right = pair << 1, pair >> 1
    sides, middle = left ^ right, twos ^ carry
    if bits < 3:
        return (low, sides ^ middle)[:bits]
    return low, sides ^ middle, (left & right) ^ (twos & carry) ^ (sides & middle)

"""Boards stored as bits: many boards at a time, a row (or part of one) in a 64-bit word.

Letters: `B` boards, `H, W` rows and columns of a board, `S` stored rows, `N` words of a stored row.

Bitboards are int64 tensors [..., S, N, B]: the boards stand next to each other in memory, so that one operation
works on the same word of many boards, and a step to the row above is a step along an axis. Leading axes are planes.

    row of 5 words, equal parts:     | 0 .. 55 | 56 .. 111 | 112 .. 167 | 168 .. 223 | 224 .. 279 |
    bit j of word i is column (start of part i) + j; the lowest bit is the leftmost column

On a finite board one more row and at least one more column are stored, which are always empty: what leaves the board
on one side wraps into them, and is wiped off before it can come in on the other.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from cellgames.envs.native.operators import table
from cellgames.utils.errors import InputError, check_whole

from .dilation import Footprint

WORD = 64
ALL = -1  # every bit of a word
GATHER = 0x0102040810204080  # times eight bytes of 0 or 1, their bits in the top byte (Hacker's Delight, section 7-2)


def _low(bits: int) -> int:
    """Return a word with the lowest `bits` bits set, as a signed number."""
    return ALL if bits == WORD else (1 << bits) - 1


def full_adder(a: Tensor, b: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sum of three bits at a time, as its ones and twos: words [...] of three words [...], int64."""
    either = a ^ b
    twos = either & c
    twos.bitwise_or_(a & b)
    either.bitwise_xor_(c)
    return either, twos


@dataclass(frozen=True)
class Grid:
    """The shape of a board, its edges, and how its rows are packed into words.

    Args:
        rows: the height of the board, at least 3.
        cols: the width of the board, at least 3.
        wrap: a torus; otherwise nothing lies beyond the edge.
    """

    rows: int
    cols: int
    wrap: bool = True

    def __post_init__(self) -> None:
        for name in ("rows", "cols"):
            check_whole(name, getattr(self, name), 3)

    @functools.cached_property
    def widths(self) -> tuple[int, ...]:
        """The columns in each word of a stored row: equal on a finite board, else one more in some words."""
        columns = self.cols + (not self.wrap)
        words = -(-columns // WORD)
        if not self.wrap:
            return (-(-columns // words),) * words
        return tuple(columns // words + (i < columns % words) for i in range(words))

    @property
    def shape(self) -> tuple[int, int]:
        """The shape `[S, N]` of stored boards."""
        return self.rows + (not self.wrap), len(self.widths)

    @functools.cached_property
    def equal_width(self) -> int | None:
        """The columns of every word, if all words have the same number, else None."""
        return self.widths[0] if len(set(self.widths)) == 1 else None

    def cells(self, device: torch.device) -> Tensor:
        """Return the bits that are cells of the board, int64 [S, N, 1]."""
        return every_cell(self, device)

    def trim(self, boards: Tensor) -> Tensor:
        """Return bitboards [..., S, N, B] without what stands in the spare row and columns of a finite board."""
        return boards if self.wrap else boards & self.cells(boards.device)

    def even(self, device: torch.device) -> Tensor:
        """Return the cells of even row + column, int64 [S, N, 1]."""
        return _even(self, device)

    def pack(self, cells: Tensor) -> Tensor:
        """Return boards [B, ..., H, W], any dtype, live where not zero, as bitboards [..., S, N, B]."""
        if tuple(cells.shape[-2:]) != (self.rows, self.cols) or cells.ndim < 3:
            raise InputError("cells", f"shape [B, ..., {self.rows}, {self.cols}]", list(cells.shape))
        if cells.numel() == 0:
            return cells.new_zeros((*cells.shape[1:-2], *self.shape, len(cells)), dtype=torch.int64)
        live = cells.view(torch.uint8) if cells.dtype == torch.bool else cells.ne(0).to(torch.uint8)
        padded = torch.nn.functional.pad(live, (0, sum(self.widths) - self.cols, 0, int(not self.wrap)))
        words = [pack_word(part) for part in padded.split(list(self.widths), dim=-1)]
        return torch.stack(words, dim=-1).movedim(0, -1).contiguous()

    def unpack(self, boards: Tensor) -> Tensor:
        """Return bitboards [..., S, N, B] as bool [B, ..., H, W]; the inverse of `pack`."""
        rows = self._check(boards).movedim(-1, 0)[..., : self.rows, :].contiguous()
        if rows.numel() == 0:
            return rows.new_zeros((*rows.shape[:-1], self.cols), dtype=torch.bool)
        octets = rows.view(torch.uint8).flatten().int()
        cells = _bit_bytes(boards.device).index_select(0, octets).view(torch.bool).view(*rows.shape, WORD)
        parts = [cells[..., word, :width] for word, width in enumerate(self.widths)]
        return torch.cat(parts, dim=-1)[..., : self.cols]

    def _check(self, boards: Tensor) -> Tensor:
        if boards.dtype != torch.int64 or boards.ndim < 3 or tuple(boards.shape[-3:-1]) != self.shape:
            expected, got = f"int64 [..., {self.shape[0]}, {self.shape[1]}, B]", f"{boards.dtype} {list(boards.shape)}"
            raise InputError(f"bitboards of {self.rows} x {self.cols}", expected, got)
        return boards

    def rolled(self, boards: Tensor, rows: int, cols: int) -> Tensor:
        """Move every cell down and right on the torus of the *stored* cells: fast, for use inside of rules.

        On a finite board what crosses the edge comes out in the spare row and column, and by moves of more than
        one beyond them; `& grid.cells(...)` wipes off the former, `shift` both.
        """
        if rows:
            boards = boards.roll(rows, -3)
        step = min(self.widths) - 1
        while cols:
            hop = max(-step, min(step, cols))
            boards = self._east(boards, hop) if hop > 0 else self._west(boards, -hop)
            cols -= hop
        return boards

    def shift(self, boards: Tensor, rows: int, cols: int) -> Tensor:
        """Move every cell down and right; on a finite board those that leave it are gone."""
        if self.wrap:
            return self.rolled(boards, rows, (cols + self.cols // 2) % self.cols - self.cols // 2)
        if abs(cols) >= self.cols or abs(rows) >= self.rows:
            return torch.zeros_like(boards)
        return self.rolled(boards, rows, cols) & _reachable(self, rows, cols, boards.device)

    def _east(self, x: Tensor, n: int) -> Tensor:
        """Roll columns by `n` to the right, towards higher bits; `n` is less than a word's columns."""
        before = x.roll(1, -2) if len(self.widths) > 1 else x
        width = self.equal_width
        moved = x << n
        if width is None:
            widths, full = _parts(self, x.device)
            moved.bitwise_and_(full)
            carried = before >> (widths.roll(1, 0) - n)
        else:
            if width < WORD:
                moved.bitwise_and_(_low(width))
            carried = before >> (width - n)
        if width is None or width == WORD:
            carried.bitwise_and_(_low(n))  # what an arithmetic shift drew after the top bit
        moved.bitwise_or_(carried)
        return moved

    def _west(self, x: Tensor, n: int) -> Tensor:
        """Roll columns by `n` to the left."""
        after = x.roll(-1, -2) if len(self.widths) > 1 else x
        width = self.equal_width
        moved = x >> n
        if width is None or width == WORD:
            moved.bitwise_and_(_low(WORD - n))
        if width is None:
            widths, full = _parts(self, x.device)
            carried = after << (widths - n)
            carried.bitwise_and_(full)
        else:
            carried = after << (width - n)
            if width < WORD:
                carried.bitwise_and_(_low(width))
        moved.bitwise_or_(carried)
        return moved

    def dilate(self, boards: Tensor, footprint: Footprint) -> Tensor:
        """Spread every live cell to the cells of a footprint around it."""
        return footprint.apply(boards, self.shift)

    def neighbour_counts(self, boards: Tensor, bits: int = 3) -> tuple[Tensor, ...]:
        """Return the number of live neighbours of each cell, modulo 2 ** bits, as bit planes, ones first.

        With three planes, the most there are, eight neighbours look like none: B3/S23 does not tell them apart.
        On a finite board the spare row and column have counts too; wipe off what comes of them.
        """
        above, below = boards.roll(1, -3), boards.roll(-1, -3)
        twos, ones = above & below, above.bitwise_xor_(below)
        column, pair = ones ^ boards, ones & boards  # of three, with the cell itself: for the cells beside it
        pair.bitwise_or_(twos)
        low, carry = full_adder(self._east(column, 1), self._west(column, 1), ones)
        left, right = self._east(pair, 1), self._west(pair, 1)
        sides, middle = left ^ right, twos ^ carry
        if bits < 3:
            sides.bitwise_xor_(middle)
            return (low, sides)[:bits]
        fours = left & right
        fours.bitwise_xor_(twos & carry)
        fours.bitwise_xor_(sides & middle)
        sides.bitwise_xor_(middle)
        return low, sides, fours


def pack_word(cells: Tensor) -> Tensor:
    """Return up to 64 cells [..., w], uint8 0 or 1, as int64 [...]."""
    padded = torch.nn.functional.pad(cells, (0, WORD - cells.shape[-1])).contiguous().view(torch.int64)
    octets = ((padded * GATHER) >> (WORD - 8)).to(torch.uint8)  # of eight bytes, each 0 or 1, in one word
    words: Tensor = octets.view(torch.int64)
    return words.squeeze(-1)


@table
def _bit_bytes(device: torch.device) -> Tensor:
    """Return the bits of each byte as eight bytes, 0 or 1: int64 [256]."""
    bits = torch.arange(256, device=device).unsqueeze(1) >> torch.arange(8, device=device) & 1
    return bits.to(torch.uint8).view(torch.int64).squeeze(1)


@table
def every_cell(grid: Any, device: torch.device) -> Tensor:
    """Return the board of a grid, of this module or of `packedboards`, on which every cell is set."""
    board: Tensor = grid.pack(torch.ones(1, grid.rows, grid.cols, device=device, dtype=torch.float32))
    return board


@table
def _even(grid: Grid, device: torch.device) -> Tensor:
    rows, cols = torch.arange(grid.rows, device=device), torch.arange(grid.cols, device=device)
    return grid.pack((rows[:, None] + cols + 1).remainder(2).unsqueeze(0))


@table
def _parts(grid: Grid, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the columns of each word, and words with that number of bits set: int64 [N, 1] each."""
    widths = torch.tensor(grid.widths, device=device)
    return widths.unsqueeze(1), torch.tensor([_low(width) for width in grid.widths], device=device).unsqueeze(1)


@table
def _reachable(grid: Grid, rows: int, cols: int, device: torch.device) -> Tensor:
    """Return the cells from which the one `rows` up and `cols` left is on the board too: int64 [S, N, 1]."""
    row, col = torch.arange(grid.rows, device=device), torch.arange(grid.cols, device=device)
    inside = ((row >= rows) & (row < grid.rows + rows))[:, None] & (col >= cols) & (col < grid.cols + cols)
    return grid.pack(inside.unsqueeze(0))


_TWOS, _FOURS, _BYTES = 0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F
_EACH = 0x0101010101010101  # times bytes, their sum in the top byte


def popcount(x: Tensor) -> Tensor:
    """Return the number of bits set in each word: int64 [...] (Hacker's Delight, section 5-1)."""
    x = x - ((x >> 1) & _TWOS)
    x = (x & _FOURS) + ((x >> 2) & _FOURS)
    return (((x + (x >> 4)) & _BYTES) * _EACH >> 56) & 0xFF


def count(boards: Tensor) -> Tensor:
    """Return the live cells of each board, int64 [..., B], of bitboards [..., S, N, B]."""
    return popcount(boards).sum((-3, -2))

"""Conway's Game of Life (B3/S23) on bitboards, one colour or several, and many boards of it at a time.

Rule: J. H. Conway, in M. Gardner, "Mathematical Games", Scientific American 223 (4), 1970. Colours: a cell that is
alive in the next generation looks at its two or three live neighbours, see `inherited`.

Letters: `B` boards, `H, W` rows and columns of a board, `S, N` stored rows and words in them (see `bitboards`),
`k` colours.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from operator import or_, xor

import torch
from torch import Tensor

from cellgames.envs.native import Library, Operator
from cellgames.utils.errors import InputError, check_whole

from .bitboards import Grid, count

_WIDEST = 4000  # columns that native code has room for
CHUNK_WORDS = 1 << 16  # half a MiB a chunk, which stays in the cache with its next generation


def generation(grid: Grid, live: Tensor) -> Tensor:
    """Return the next generation of bitboards [..., S, N, B]."""
    return _next(grid, live, grid.neighbour_counts(live))


def _next(grid: Grid, live: Tensor, counts: Sequence[Tensor]) -> Tensor:
    ones, twos, fours = counts
    after = ones | live  # of two or three neighbours: three, or two and live
    after.bitwise_and_(twos)
    after.bitwise_and_(~fours)
    if not grid.wrap:
        after.bitwise_and_(grid.cells(live.device))
    return after


@Operator
def advance(grid: Grid, boards: Tensor, generations: int) -> Tensor:
    """Return bitboards [..., S, N, B] after some generations."""
    after = boards.clone(memory_format=torch.contiguous_format)
    for batch in after.view(after.shape[:-3].numel(), *after.shape[-3:]):  # each stays in the cache
        now: Tensor = batch
        for _ in range(generations):
            now = generation(grid, now)
        batch.copy_(now)
    return after


@advance.native
def _native_advance(native: Library, grid: Grid, boards: Tensor, generations: int) -> Tensor:
    """Return the same by `sources/life.cpp`."""
    if grid.cols > _WIDEST:
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    after = torch.empty_like(boards, memory_format=torch.contiguous_format)
    sizes = (grid.rows, grid.cols, grid.wrap, boards.shape[:-3].numel(), boards.shape[-1])
    native.cellgames_life(*sizes, generations, torch.get_num_threads(), boards, after)
    return after


def inherited(grid: Grid, live: Tensor, colours: Sequence[Tensor]) -> tuple[Tensor, list[Tensor]]:
    """Return the next generation, and the colour of most of each cell's two or three live neighbours.

    Where colours tie (one of each), the parity of row + column decides among them: even the first, odd the last.

    Args:
        grid: the board.
        live: bitboards [S, N, B], the live cells of all colours.
        colours: the same of each colour but the last, which has all other live cells.

    Returns:
        The live cells of the next generation [S, N, B], and bitboards of each colour but the last that hold, among
        cells with two or three live neighbours, the right ones; their bits elsewhere have no meaning.
    """
    counts = grid.neighbour_counts(live)
    ones, twos = zip(*(grid.neighbour_counts(colour, bits=2) for colour in colours), strict=True)
    # Among two or three neighbours a colour has the majority if it has two of them, which is the second bit of its
    # count. Nobody has it where two colours or more have a single neighbour, which is the first bit.
    single = [*ones, functools.reduce(xor, ones, counts[0])]
    tie = _at_least_two(single)
    even = grid.even(live.device)
    inherit = []
    for colour, two in enumerate(twos):
        earlier, later = single[:colour], single[colour + 1 :]
        first = even & ~functools.reduce(or_, earlier) if earlier else even
        last = ~functools.reduce(or_, later, even)
        inherit.append(two | (tie & single[colour] & (first | last)))
    return _next(grid, live, counts), inherit


def _at_least_two(flags: Sequence[Tensor]) -> Tensor:
    seen, twice = flags[0] | flags[1], flags[0] & flags[1]
    for flag in flags[2:]:
        seen, twice = seen | flag, twice | (seen & flag)
    return twice


class Life:
    """Many boards of Life, packed, advanced in place.

    Boards are kept in chunks that stay in the cache while they advance. Therefore one call with many generations is
    faster than many calls.

    Args:
        rows: the height of every board.
        cols: the width of every board.
        boards: `B`, the number of boards; empty at first, see `load`.
        wrap: on tori; otherwise nothing lies beyond the edges.
        device: device of the boards.
    """

    def __init__(
        self, rows: int, cols: int, boards: int, *, wrap: bool = True, device: torch.device | str = "cpu"
    ) -> None:
        check_whole("boards", boards, 1)
        self.grid = Grid(rows, cols, wrap)
        self.boards = boards
        self.generations = 0
        rows_and_words = self.grid.shape
        device = torch.device(device)
        chunk = max(8, CHUNK_WORDS // (rows_and_words[0] * rows_and_words[1]))
        chunks = -(-boards // chunk) if device.type == "cpu" else 1
        width = (-(-boards // (8 * chunks)) | 1) * 8  # odd, so that rows do not share lines of the cache
        self._now = torch.zeros(chunks, *rows_and_words, width, dtype=torch.int64, device=device)

    def load(self, cells: Tensor) -> None:
        """Start from boards [B, H, W], any dtype, live where not zero; raise a `ValueError` for other shapes."""
        if tuple(cells.shape) != (expected := (self.boards, self.grid.rows, self.grid.cols)):
            raise InputError("cells", f"shape [B, H, W] = {list(expected)}", list(cells.shape))
        chunks, width = self._now.shape[0], self._now.shape[-1]
        packed = self.grid.pack(cells.to(self._now.device))
        padded = torch.nn.functional.pad(packed, (0, chunks * width - self.boards))
        self._now.copy_(padded.unflatten(-1, (chunks, width)).movedim(-2, 0))
        self.generations = 0

    def cells(self) -> Tensor:
        """Return the boards, bool [B, H, W]."""
        return torch.cat([self.grid.unpack(chunk) for chunk in self._now])[: self.boards]

    def counts(self) -> Tensor:
        """Return the live cells of each board, int64 [B]."""
        return torch.cat([count(chunk) for chunk in self._now])[: self.boards]

    def advance(self, generations: int = 1) -> None:
        """Advance every board by some generations, a whole number of at least 0 (else a `ValueError`)."""
        check_whole("generations", generations, 0)
        self._now = advance(self.grid, self._now, generations)
        self.generations += generations

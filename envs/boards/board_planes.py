"""The planes that a player sees of packed boards and of numbers that stand everywhere.

Letters: `B` games, `K` boards, `M` numbers, `S, N` stored rows and words (see `bitboards`).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from cellgames.envs.native import Library, operator, pointer

from .bitboards import Grid

__all__ = ["board_planes", "joined_planes"]

_CELLS_A_THREAD = 1 << 20  # starting a thread takes as long as writing some of them


def board_planes(
    grid: Grid, words: Tensor, numbers: Tensor, first_boards: int | None = None, first_numbers: int | None = None
) -> Tensor:
    """Return planes, int16 [B, K + M, H, W]: the first boards, the first numbers, then the other boards and numbers.

    Args:
        grid: the boards' shape.
        words: int64 [B, K, S, N].
        numbers: int16 [B, M].
        first_boards: how many come first; None for all.
        first_numbers: how many come after them; None for all.
    """
    boards, values = words.shape[1], numbers.shape[1]
    first = (boards if first_boards is None else first_boards, values if first_numbers is None else first_numbers)
    planes: Tensor = _planes(words, numbers, grid.rows, grid.cols, grid.wrap, *first)
    return planes


@operator(
    "board_planes(Tensor words, Tensor numbers, int rows, int cols, bool wrap, int boards, int values) -> Tensor",
    fake=lambda words, numbers, rows, cols, *_: numbers.new_empty(
        (len(words), words.shape[1] + numbers.shape[1], rows, cols)
    ),
)
def _planes(words: Tensor, numbers: Tensor, rows: int, cols: int, wrap: bool, boards: int, values: int) -> Tensor:
    """Return `board_planes`."""
    cells = Grid(rows, cols, wrap).unpack(words.movedim(0, -1))
    parts = (cells[:, :boards], numbers[:, :values], cells[:, boards:], numbers[:, values:])
    return joined_planes(parts, torch.int16)


@_planes.native
def _native_planes(
    native: Library, words: Tensor, numbers: Tensor, rows: int, cols: int, wrap: bool, boards: int, values: int
) -> Tensor:
    """Return the same by `sources/board_planes.cpp`."""
    grid, words, numbers = Grid(rows, cols, wrap), words.contiguous(), numbers.contiguous()
    seen = numbers.new_empty((len(words), words.shape[1] + numbers.shape[1], rows, cols))
    widths = torch.tensor(grid.widths, device="cpu")
    native.cellgames_board_planes(
        len(words),
        min(torch.get_num_threads(), 1 + seen.numel() // _CELLS_A_THREAD),
        rows,
        cols,
        *grid.shape,
        words.shape[1],
        numbers.shape[1],
        boards,
        values,
        pointer(widths, torch.int64),
        pointer(words, torch.int64),
        pointer(numbers, torch.int16),
        pointer(seen, torch.int16),
    )
    return seen


def joined_planes(parts: Sequence[Tensor], dtype: torch.dtype) -> Tensor:
    """Return planes [B, C, H, W] of parts, [B, c, H, W] or numbers [B, c], which stand everywhere; one after the other.

    `torch.cat` takes ten times as long where a part is expanded.
    """
    height, width = next(part.shape[2:] for part in parts if part.ndim == 4)
    counts = [part.shape[1] for part in parts]
    planes = parts[0].new_empty((len(parts[0]), sum(counts), height, width), dtype=dtype)
    for out, part in zip(planes.split(counts, 1), parts, strict=True):
        out.copy_(part if part.ndim == 4 else part[:, :, None, None])
    return planes

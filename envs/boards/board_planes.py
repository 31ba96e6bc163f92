"""The planes that a player sees of packed boards and of numbers that stand everywhere.

Letters: `B` games, `K` boards, `M` numbers, `S, N` stored rows and words (see `bitboards`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch
from torch import Tensor

from cellgames.envs.native import Library, operator, pointer

from .bitboards import Grid

_CELLS_A_THREAD = 1 << 20  # starting a thread takes as long as writing some of them


def seen_words(boards: Sequence[Tensor], seat: Tensor) -> Tensor:
    """Return the boards that seats, int64 [B], see, as words: int64 [B, K, S, N].

    Args:
        boards: int64 [B, S, N], seen by both; or [B, 2, S, N], of which a player sees its own first.
        seat: int64 [B].
    """
    order, env_ids = torch.stack((seat, 1 - seat), 1), torch.arange(len(seat), device=seat.device)[:, None]
    return torch.cat([board[env_ids, order] if board.ndim == 4 else board[:, None] for board in boards], 1)


def write_planes(
    grid: Grid, boards: list[Tensor], seat: Tensor, numbers: Tensor, first: tuple[int, int], out: Tensor
) -> None:
    """Write planes, [B, K + M, H, W]: the first boards, the first numbers, then the other boards and numbers.

    Args:
        grid: the boards' shape; finite.
        boards: see `seen_words`.
        seat: int64 [B].
        numbers: int16 [B, M].
        first: how many boards come first, and how many numbers after them.
        out: int16 or float32, contiguous.
    """
    _write(boards, seat, numbers, grid.rows, grid.cols, *first, out)


@operator(
    "write_planes(Tensor[] boards, Tensor seat, Tensor numbers, int rows, int cols, int first_boards, "
    "int first_numbers, Tensor(a!) out) -> ()",
    fake=lambda *_: None,
)
def _write(
    boards: list[Tensor],
    seat: Tensor,
    numbers: Tensor,
    rows: int,
    cols: int,
    first_boards: int,
    first_numbers: int,
    out: Tensor,
) -> None:
    """Write `write_planes`."""
    cells = Grid(rows, cols, wrap=False).unpack(seen_words(boards, seat).movedim(0, -1))
    parts = (cells[:, :first_boards], numbers[:, :first_numbers], cells[:, first_boards:], numbers[:, first_numbers:])
    out.copy_(joined_planes(parts, torch.int16))


@_write.native
def _native_write(
    native: Library,
    boards: list[Tensor],
    seat: Tensor,
    numbers: Tensor,
    rows: int,
    cols: int,
    first_boards: int,
    first_numbers: int,
    out: Tensor,
) -> None:
    """Write the same by `sources/board_planes.cpp`."""
    grid = Grid(rows, cols, wrap=False)
    inner = [board.movedim(0, -1).contiguous() for board in boards]  # kept until the end of the call
    planes: list[int] = []
    for board in inner:
        words = pointer(board, torch.int64)
        other = words + (board.stride(0) * 8 if board.ndim == 4 else 0)
        planes += [words, other, other, words] if board.ndim == 4 else [words, words]
    seat, numbers = seat.contiguous(), numbers.contiguous()
    native.cellgames_planes_seen(
        len(seat),
        min(torch.get_num_threads(), 1 + out.numel() // _CELLS_A_THREAD),
        rows,
        cols,
        grid.shape[1],
        grid.widths[0],
        len(planes) // 2,
        numbers.shape[1],
        first_boards,
        first_numbers,
        out.dtype == torch.float32,
        (ctypes.c_void_p * len(planes))(*planes),
        pointer(seat, torch.int64),
        pointer(numbers, torch.int16),
        pointer(out, out.dtype),
    )


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

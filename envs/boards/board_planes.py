"""The planes that a player sees of packed boards and of numbers that stand everywhere.

Letters: `B` games, `k` seats of a game that look, `K` boards, `M` numbers, `S, N` stored rows and words of a board
(see `bitboards`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from cellgames.envs.native import Library, Operator, pointer
from cellgames.envs.native.native_library import threads

from .bitboards import Grid
from .packedboards import PackedGrid

_CELLS_A_THREAD = 1 << 20  # starting a thread takes as long as writing some of them


def seen_words(boards: Sequence[Tensor], seat: Tensor) -> Tensor:
    """Return the boards that seats, int64 [B], see, as words: int64 [B, K, S, N].

    Boards are int64 [B, S, N], seen by both; or [B, 2, S, N], of which a player sees its own first.
    """
    order, env_ids = torch.stack((seat, 1 - seat), 1), torch.arange(len(seat), device=seat.device)[:, None]
    return torch.cat([board[env_ids, order] if board.ndim == 4 else board[:, None] for board in boards], 1)


@Operator
def write_planes(
    grid: Grid | PackedGrid,
    boards: list[Tensor],
    seats: Tensor,
    numbers: Tensor,
    first: tuple[int, int],
    out: Tensor,
    more: Tensor | None = None,
) -> None:
    """Write planes, [B, k, C, H, W]: the first boards, the first numbers, the other boards and numbers, then `more`.

    Args:
        grid: the boards' shape; finite.
        boards: see `seen_words`; of a packed grid int64 [B, N]. Several seats of a game see the same boards.
        seats: int64 [B, k], who look.
        numbers: int16 [B, k, M].
        first: number of boards that come first, and of numbers after them.
        out: int16 or float32, contiguous.
        more: int16 [B, k, C - K - M, H, W], further planes; None without any.
    """
    (boards_first, numbers_first), packed = first, isinstance(grid, PackedGrid)
    for number, seat in enumerate(seats.unbind(1)):
        words = torch.stack(boards, 1) if packed else seen_words(boards, seat)
        cells, values = grid.unpack(words.movedim(0, -1)), numbers[:, number]
        parts = [cells[:, :boards_first], values[:, :numbers_first], cells[:, boards_first:], values[:, numbers_first:]]
        parts += [] if more is None else [more[:, number]]
        for planes, part in zip(out[:, number].split([part.shape[1] for part in parts], 1), parts, strict=True):
            planes.copy_(part if part.ndim == 4 else part[:, :, None, None])


@write_planes.native
def _native_write(
    native: Library,
    grid: Grid | PackedGrid,
    boards: list[Tensor],
    seats: Tensor,
    numbers: Tensor,
    first: tuple[int, int],
    out: Tensor,
    more: Tensor | None = None,
) -> None:
    """Write the same by `sources/board_planes.cpp`."""
    inner = [board.movedim(0, -1).contiguous().movedim(-1, 0) for board in boards]  # kept until the end of the call
    seats, numbers, more = seats.contiguous(), numbers.contiguous(), None if more is None else more.contiguous()
    native_writer(native, grid, inner, seats, numbers, first, out.dtype, more)(pointer(out, out.dtype))


def native_writer(
    native: Library,
    grid: Grid | PackedGrid,
    boards: Sequence[Tensor],
    seats: Tensor,
    numbers: Tensor,
    first: tuple[int, int],
    dtype: torch.dtype,
    more: Tensor | None = None,
) -> Callable[[int], object]:
    """Return the call that does `write_planes` from this memory, whose games are innermost, to an address."""
    planes: list[int] = []
    for board in boards:
        words = pointer(board.movedim(0, -1), torch.int64)
        other = words + (board.stride(1) * 8 if board.ndim == 4 else 0)
        planes += [words, other, other, words] if board.ndim == 4 else [words, words]
    shape = (
        (1, grid.cols, grid.rows_a_word, grid.stride)
        if isinstance(grid, PackedGrid)
        else (grid.shape[1], grid.widths[0], 1, 0)
    )
    last = 0 if more is None else more.shape[2]
    sizes = (grid.rows, grid.cols, *shape, *seats.shape, len(planes) // 2, numbers.shape[2], *first, last)
    cells = seats.numel() * (len(planes) // 2 + numbers.shape[2] + last) * grid.rows * grid.cols
    return partial(
        native.cellgames_planes_seen,
        (ctypes.c_int64 * len(sizes))(*sizes),
        threads(cells, _CELLS_A_THREAD),
        dtype == torch.float32,
        (ctypes.c_void_p * len(planes))(*planes),
        pointer(seats, torch.int64),
        pointer(numbers, torch.int16),
        None if more is None else pointer(more, torch.int16),
    )

"""The observation of a team, rolled so that its own band comes first.

Letters: `B` games, `P` teams, `K` stamps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from cellgames.envs.native import Library, Operator, pointer
from cellgames.envs.native.operators import table

from .placement import cells


@table
def drawings(stamps: tuple[str, ...], rows: int, cols: int, band: int, device: torch.device) -> Tensor:
    """Return every stamp as it is shown, in the middle of the first band: int8 [K + 1, rows, cols]."""
    planes = torch.zeros(len(stamps) + 1, rows, cols, dtype=torch.int8, device="cpu")
    row, col = cells(stamps, torch.device("cpu"))[:, 0].unbind(2)
    planes[torch.arange(len(stamps), device="cpu")[:, None], (rows // 2 + row) % rows, (band // 2 + col) % cols] = 1
    return planes.to(device)


@Operator
def write_planes(board: Tensor, queue: Tensor, seats: Tensor, shown: Tensor, band: int, out: Tensor) -> None:
    """Write the views of seats, int64 [B, k]: int8 or float32 [B, k, P + 2, rows, cols], contiguous.

    The board is int8 [B, rows, cols], the queue int8 [B, P, S], `shown` the `drawings`, and a band has `band` columns.
    """
    batch, teams, _ = queue.shape
    rows, cols = board.shape[1:]
    for seat, seen in zip(seats.unbind(1), out.unbind(1), strict=True):
        first = torch.arange(cols, device=board.device) + seat[:, None] * band
        rolled = board.gather(2, (first % cols)[:, None].expand(-1, rows, -1))
        owner = (seat[:, None] + torch.arange(teams, device=board.device)) % teams + 1
        own = queue[torch.arange(batch, device=board.device), seat]
        seen[:, :teams] = rolled[:, None] == owner.to(board.dtype)[..., None, None]
        seen[:, teams] = shown[own[:, 0].long()]
        seen[:, teams + 1] = (own >= 0).sum(1)[:, None, None]


@write_planes.native
def _native_write(
    native: Library, board: Tensor, queue: Tensor, seats: Tensor, shown: Tensor, band: int, out: Tensor
) -> None:
    """Write the same by `sources/toroidal_cup_step.cpp`."""
    native_writer(native, board, queue, seats, shown, band, out.dtype)(pointer(out, out.dtype))


def native_writer(
    native: Library, board: Tensor, queue: Tensor, seats: Tensor, shown: Tensor, band: int, dtype: torch.dtype
) -> Callable[[int], object]:
    """Return the call that does `write_planes` from this memory to an address."""
    sizes = len(board), torch.get_num_threads(), *board.shape[1:], queue.shape[1], band, queue.shape[2]
    looks = len(shown) - 1, seats.shape[1], dtype == torch.float32
    return partial(native.cellgames_toroidal_cup_seen, *sizes, *looks, board, queue, shown, seats)


def stamp_seen(seen: Tensor, shown: Tensor) -> Tensor:
    """Return the index, among the `drawings`, of the drawing in the plane of the shape to place: int64 [B]."""
    plane, kinds = seen[:, -2].flatten(1).float(), shown.flatten(1).float()
    common = plane @ kinds.t()
    same = (common == plane.sum(1, keepdim=True)) & (common == kinds.sum(1))
    return same.int().argmax(1)

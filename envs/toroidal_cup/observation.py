"""The observation of a team, rolled so that its own band comes first.

Letters: `B` games, `P` teams, `K` stamps.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.kernels.lookup_tables import table

from .placement import cells


def num_planes(teams: int) -> int:
    """Return the number of planes: one for each team, the shape to place, how many shapes are left."""
    return teams + 2


@table
def drawings(stamps: tuple[str, ...], rows: int, cols: int, band: int, device: torch.device) -> Tensor:
    """Return every stamp as it is shown, in the middle of the first band: int8 [K + 1, rows, cols]."""
    planes = torch.zeros(len(stamps) + 1, rows, cols, dtype=torch.int8, device="cpu")
    row, col = cells(stamps, torch.device("cpu"))[:, 0].unbind(2)
    planes[torch.arange(len(stamps), device="cpu")[:, None], (rows // 2 + row) % rows, (band // 2 + col) % cols] = 1
    return planes.to(device)


def planes(board: Tensor, queue: Tensor, seat: Tensor, shown: Tensor, band: int) -> Tensor:
    """Return the observation of the games' `board` and `queue`, int8 [B, P + 2, rows, cols].

    Args:
        board: int8 [B, rows, cols].
        queue: int8 [B, P, S].
        seat: int64 [B], who looks.
        shown: the `drawings`.
        band: columns of a band.
    """
    batch, teams, _ = queue.shape
    rows, cols = board.shape[1:]
    first = torch.arange(cols, device=board.device) + seat[:, None] * band
    rolled = board.gather(2, (first % cols)[:, None].expand(-1, rows, -1))
    owner = (seat[:, None] + torch.arange(teams, device=board.device)) % teams + 1
    own = queue[torch.arange(batch, device=board.device), seat]
    seen = board.new_empty(batch, num_planes(teams), rows, cols)
    seen[:, :teams] = rolled[:, None] == owner.to(board.dtype)[..., None, None]
    seen[:, teams] = shown[own[:, 0].long()]
    seen[:, teams + 1] = (own >= 0).sum(1)[:, None, None]
    return seen


def stamp_seen(seen: Tensor, shown: Tensor) -> Tensor:
    """Return which of the `drawings` stands in the plane of the shape to place: int64 [B]."""
    plane, kinds = seen[:, -2].flatten(1).float(), shown.flatten(1).float()
    common = plane @ kinds.t()
    same = (common == plane.sum(1, keepdim=True)) & (common == kinds.sum(1))
    return same.int().argmax(1)

"""The free cells of Torus that win at once, found without playing them, all at the same time.

Letters: `X` games, `N = 2 n^2` cells.
"""

from __future__ import annotations

from math import isqrt

import torch
from torch import Tensor

from cellgames.envs.kernels.compiling import kernel
from cellgames.envs.kernels.lookup_tables import table

from . import rules

__all__ = ["neighbour_codes", "winning_cells"]

_WIDTHS = (64, 256)  # games evaluated together on CPU: few sizes, so that few graphs are compiled, and all in the cache


def winning_cells(codes: Tensor, losing: Tensor, player: Tensor) -> Tensor:
    """Return free cells by which players, int64 [X], win if they are to move: bool [X, N].

    Args:
        codes: int32 [X, N], see `rules`; of games that go on.
        losing: int32 [X], the class that `rules.keep` keeps.
        player: 0 for Black, 1 for White.
    """
    games, cells = codes.shape
    stones = (codes & rules.COLOUR == player[:, None] + 1).sum(1)
    if int(stones.max() if games else 0) < isqrt(cells // 2) - 1:  # a path around the torus has a cell in every row
        return torch.zeros_like(codes, dtype=torch.bool)
    if codes.device.type != "cpu":
        return _winning(codes, losing, player, max(_WIDTHS[-1], 1 << (games - 1).bit_length()))
    parts = zip(codes.split(_WIDTHS[-1]), losing.split(_WIDTHS[-1]), player.split(_WIDTHS[-1]), strict=True)
    found = [_winning(*part, next(width for width in _WIDTHS if width >= len(part[0]))) for part in parts]
    return torch.cat(found) if found else codes.new_zeros((0, cells), dtype=torch.bool)


def _winning(codes: Tensor, losing: Tensor, player: Tensor, width: int) -> Tensor:
    """Return `winning_cells` of at most `width` games."""
    games, cells = codes.shape
    board = torch.nn.functional.pad(codes, (0, 0, 0, width - games))
    colour = torch.nn.functional.pad(player.int() + 1, (0, width - games))
    cycles = codes.new_empty((3, width, cells))
    kernel(_closed, [board, colour, cycles])([board, colour, cycles])
    env_ids, places = cycles[:, :games].any(0).nonzero().unbind(1)  # few cells close a path around the torus
    closed = cycles[:, env_ids, places]
    kept = rules.keep(closed.unbind(0), losing[env_ids], torch.where)
    won = rules.wins(closed, kept, player.int()[env_ids] + 1, torch.where).any(0)
    return torch.zeros_like(codes, dtype=torch.bool).index_put_((env_ids, places), won)


def _closed(codes: Tensor, colour: Tensor, cycles: Tensor) -> None:
    """Write the classes that a stone of a colour, int32 [X], closes on each cell: `rules.closed`, 0 on taken cells."""
    near, shift, _ = neighbour_codes(isqrt(codes.shape[1] // 2), codes.device)
    around = [codes[:, cells] + turn for cells, turn in zip(near.unbind(0), shift.unbind(0), strict=True)]
    slots = zip(around[0::2], around[1::2], strict=True)
    frames = [rules.frame(octagon, square, colour[:, None], torch.where) for octagon, square in slots]
    closed = torch.stack(rules.closed(frames, torch.where))
    cycles.copy_(torch.where(codes == 0, closed, 0))


@table
def neighbour_codes(size: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Return neighbours, int64 [8, N], what to add to their codes, int32 [8, N], and all cells, int32 [N].

    One table, since the compiler takes no two in a graph.
    """
    slots = torch.tensor(rules.slots(size), device=device).permute(2, 1, 0)  # [2, 8, N]
    cells = torch.arange(slots.shape[2], dtype=torch.int32, device=device)
    return slots[0].contiguous(), slots[1].to(torch.int32).contiguous(), cells

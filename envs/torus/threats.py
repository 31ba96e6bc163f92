"""The free cells of Torus that win at once, found without playing them, all at the same time.

Letters: `X` games, `N = 2 n^2` cells.
"""

from __future__ import annotations

from math import isqrt

import torch
from torch import Tensor

from cellgames.envs.native import Library, Operator
from cellgames.envs.native.operators import table
from cellgames.envs.stones.joining import frame
from cellgames.envs.stones.stone_tensors import threads_for

from . import rules


@Operator
def winning_cells(codes: Tensor, losing: Tensor, player: Tensor) -> Tensor:
    """Return free cells by which players, int64 [X], win if they are to move: bool [X, N].

    Games go on; their codes are int32 [X, N], and `losing`, int32 [X], is the class that `rules.keep` keeps.
    """
    cycles = _closed(codes, player.int() + 1)
    env_ids, places = cycles.any(0).nonzero().unbind(1)  # few cells close a path around the torus
    closed = cycles[:, env_ids, places]
    kept = rules.keep(closed.unbind(0), losing[env_ids], torch.where)
    won = rules.wins(closed, kept, player.int()[env_ids] + 1, torch.where).any(0)
    return torch.zeros_like(codes, dtype=torch.bool).index_put_((env_ids, places), won)


@winning_cells.native
def _native_winning(native: Library, codes: Tensor, losing: Tensor, player: Tensor) -> Tensor:
    """Return `winning_cells`, by `sources/torus_step.cpp`."""
    (games, cells), won = codes.shape, codes.new_empty(codes.shape, dtype=torch.bool)
    native.cellgames_torus_winning(isqrt(cells // 2), games, threads_for(games), codes, losing, player, won)
    return won


def _closed(codes: Tensor, colour: Tensor) -> Tensor:
    """Return the classes that a stone of a colour, int32 [X], closes on each free cell: int32 [3, X, N]."""
    near, shift, _ = neighbour_codes(isqrt(codes.shape[1] // 2), codes.device)
    around = [codes[:, cells] + turn for cells, turn in zip(near.unbind(0), shift.unbind(0), strict=True)]
    slots = zip(around[0::2], around[1::2], strict=True)
    frames = [frame(octagon, square, colour[:, None], torch.where) for octagon, square in slots]
    return torch.where(codes == 0, torch.stack(rules.closed(frames, torch.where)), 0)


@table
def neighbour_codes(size: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Return neighbours, int64 [8, N], what to add to their codes, int32 [8, N], and all cells, int32 [N].

    One table, since the compiler takes no two in a graph.
    """
    slots = torch.tensor(rules.slots(size), device=device).permute(2, 1, 0)  # [2, 8, N]
    cells = torch.arange(slots.shape[2], dtype=torch.int32, device=device)
    return slots[0].contiguous(), slots[1].to(torch.int32).contiguous(), cells

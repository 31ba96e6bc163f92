"""One generation of the Toroidal Cup: Life on a torus, with a team's colour on every live cell.

Rules: "Game Play" of the Toroidal Cup rules on the Golly.Life wiki, and the published games where it leaves a case
open: a newborn cell takes the majority colour of its three parents, a survivor that of its two or three live
neighbours; where colours tie, even row + column takes the lowest-numbered team, odd the highest.

Boards are packed as planes int64 [k, S, N, B]: the live cells, then those of each team but the last. Letters: `B`
games, `k` teams, `H, W` rows and columns, `S, N` stored rows and words (see `boards.bitboards`).
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid, count
from cellgames.envs.boards.life import inherited

Survivors = Literal["recolour", "keep"]


def pack(grid: Grid, board: Tensor, teams: int) -> Tensor:
    """Return planes of boards [B, H, W] of team numbers."""
    numbers = torch.arange(1, teams, dtype=board.dtype, device=board.device)
    return grid.pack(torch.cat((board.ne(0).unsqueeze(1), board.unsqueeze(1) == numbers[:, None, None]), 1))


def unpack(grid: Grid, planes: Tensor) -> Tensor:
    """Return boards of team numbers, int8 [B, H, W]; the inverse of `pack`."""
    cells, teams = grid.unpack(planes).to(torch.int8), len(planes)
    board = cells[:, 0] * teams
    for number in range(1, teams):
        board -= cells[:, number] * (teams - number)
    return board


def generation(grid: Grid, planes: Tensor, survivors: Survivors) -> Tensor:
    """Return the planes of the next generation; "keep" leaves survivors their colour."""
    live, *colours = planes.unbind()
    after, inherit = inherited(grid, live, colours)
    if survivors == "keep":
        inherit = [colour | (new & ~live) for colour, new in zip(colours, inherit, strict=True)]
    return torch.stack((after, *(new & after for new in inherit)))


def live_cells(planes: Tensor) -> Tensor:
    """Return the live cells of each team, int64 [B, k]."""
    all_teams, *others = count(planes).unbind()
    return torch.stack((*others, all_teams - sum(others)), 1)

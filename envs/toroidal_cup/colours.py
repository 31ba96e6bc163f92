"""One generation of the Toroidal Cup: Life on a torus, with a team's colour on every live cell.

Rules: "Game Play" of the Toroidal Cup rules on the Golly.Life wiki, and the published games where it leaves a case
open: a newborn cell takes the majority colour of its three parents, a survivor that of its two or three live
neighbours; where colours tie, even row + column takes the lowest-numbered team, odd the highest.

Letters: `B` games, `k` teams, `H, W` rows and columns, `S, N` stored rows and words (see `boards.bitboards`),
`L` slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid, count
from cellgames.envs.boards.life import inherited
from cellgames.envs.kernels.compiling import Compile, Kernel, kernel

__all__ = ["Rule", "Survivors"]

Survivors = Literal["recolour", "keep"]


@dataclass(frozen=True)
class Rule:
    """A board, its teams and how a generation of many boards is made.

    Boards are packed as planes int64 [k, S, N, L]: the live cells, then those of each team but the last.
    """

    grid: Grid
    teams: int
    survivors: Survivors
    compile: Compile

    def pack(self, board: Tensor) -> Tensor:
        """Return planes of boards [B, H, W] of team numbers."""
        numbers = torch.arange(1, self.teams, dtype=board.dtype, device=board.device)
        planes = torch.cat((board.ne(0).unsqueeze(1), board.unsqueeze(1) == numbers[:, None, None]), 1)
        return self.grid.pack(planes)

    def unpack(self, planes: Tensor) -> Tensor:
        """Return boards of team numbers, int8 [B, H, W]; the inverse of `pack`."""
        cells = self.grid.unpack(planes).to(torch.int8)
        board = cells[:, 0] * self.teams
        for number in range(1, self.teams):
            board -= cells[:, number] * (self.teams - number)
        return board

    def step(self, planes: Tensor, calls: int) -> Kernel:
        """Return the kernel of the next generation, of [*planes, *next planes]."""
        grid, teams, keep = self.grid, self.teams, self.survivors == "keep"

        def generation(*tensors: Tensor) -> None:
            (live, *colours), results = tensors[:teams], tensors[teams:]
            after, inherit = inherited(grid, live, colours)
            if keep:
                inherit = [colour | (new & ~live) for colour, new in zip(colours, inherit, strict=True)]
            results[0].copy_(after)
            for result, new in zip(results[1:], inherit, strict=True):
                result.copy_(new & after)

        examples = [*planes.unbind(), *planes.unbind()]
        return kernel(generation, examples, compile=self.compile, calls=calls)

    def counter(self, planes: Tensor, calls: int) -> Kernel:
        """Return the kernel that counts live cells, of [planes, int64 [k, L]]."""

        def live_cells(planes: Tensor, counts: Tensor) -> None:
            counts.copy_(count(planes))

        counts = planes.new_zeros(self.teams, planes.shape[-1])
        return kernel(live_cells, [planes, counts], compile=self.compile, calls=calls)

    def by_team(self, counts: Tensor) -> Tensor:
        """Return live cells of each team, [..., L, k], of those of each plane [..., k, L]."""
        others = counts[..., 1:, :]
        return torch.cat((others, counts[..., :1, :] - others.sum(-2, keepdim=True)), -2).transpose(-1, -2)

"""The symmetries of Torus.

Letters: `n` the size; `N = 2 n^2` cells; `S = 4 n^2` symmetries; `L` rows.

Translations by whole octagons and half turns keep both goals; quarter turns exchange them, so they count with colours
swapped. Reflections are no symmetries: they keep ring and bracelet and exchange the helices.

Symmetry q n^2 + r n + c makes q quarter turns clockwise around octagon O(0, 0), then moves everything r rows down and c
columns to the right. In half columns and rows an octagon is at (2 r, 2 c) and a square at (2 r + 1, 2 c + 1), and a
quarter turn takes (y, x) to (x, -y).
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.kernels.compiling import table


@table
def sources(size: int, device: torch.device) -> Tensor:
    """Return the cell whose content each symmetry brings to a cell: int64 [S, N]."""
    grid = torch.arange(size, device=device)
    row, col = (part.flatten() for part in torch.meshgrid(grid, grid, indexing="ij"))
    square = torch.arange(2, device=device).repeat_interleave(size * size)  # [N]
    y, x = 2 * row.repeat(2) + square, 2 * col.repeat(2) + square
    turned = []
    for _ in range(4):
        turned.append(torch.stack((y, x)))
        y, x = x, -y
    # [2, 4, translations, N]
    places = torch.stack(turned, 1)[:, :, None] + 2 * torch.stack((row, col))[:, None, :, None]
    down, right = (places // 2 % size).flatten(1, 2).unbind(0)
    return (square * size * size + down * size + right).argsort(1)


def transformed(observation: Tensor, actions: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
    """Return observations, [L, 5, n, n], and numbers by action, [L, ..., N], after symmetries int64 [L]."""
    rows, size = len(which), observation.shape[-1]
    source = sources(size, observation.device)[which]  # [L, N]
    stones = observation[:, :4].reshape(rows, 2, -1).gather(2, source[:, None].expand(-1, 2, -1))
    swapped = (which // (size * size) % 2 == 1).view(-1, 1, 1, 1)
    black = torch.where(swapped, 1 - observation[:, 4:], observation[:, 4:])
    expanded = source.view(rows, *(1,) * (actions.ndim - 2), -1).expand_as(actions)
    return torch.cat((stones.view(rows, 4, size, size), black), 1), actions.gather(-1, expanded)

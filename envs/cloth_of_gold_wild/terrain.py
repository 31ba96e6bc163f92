"""Terrain: water, rock, forest and plain.

A cell's ground is a code that says all that any rule asks of its height and moisture, at any water level: 0 is always
under water; 1 to 14 are bands of eight heights from 48 on, and a seventh up to 207, each without and with forest; 15
is rock. Letters: `n` games, `H, W` the world, `S, N` stored rows and words (see `boards.bitboards`).
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.native import Library, Operator

from .borders import WIDEST
from .noise import HEIGHTS, MOISTURE, noise_map

LOWEST, LEVEL, HIGHEST, LEVEL_STEP = 48, 64, 96, 8
"""The lowest water level, the one at the start, the highest, and the change of a round."""

ROCK = 15
"""The code of rock."""

_ROCK_HEIGHT, _FOREST_MOISTURE = 208, 140
_BANDS = (HIGHEST - LOWEST) // LEVEL_STEP + 1  # above the lowest level; the last one is never under water


@Operator
def make_ground(seed: Tensor, size: tuple[int, int]) -> Tensor:
    """Return the codes of new worlds' ground, uint8 [n, H, W], of seeds int64 [n]."""
    height, moisture = (noise_map(seed, purpose, size) for purpose in (HEIGHTS, MOISTURE))
    band = ((height - LOWEST) // LEVEL_STEP + 1).clamp(0, _BANDS)
    code = torch.where(band > 0, 2 * band - 1 + (moisture >= _FOREST_MOISTURE).int(), 0)
    return torch.where(height >= _ROCK_HEIGHT, ROCK, code).to(torch.uint8)


@make_ground.native
def _native_ground(native: Library, seed: Tensor, size: tuple[int, int]) -> Tensor:
    """Return the same by `sources/cloth_of_gold_wild.cpp`."""
    out = seed.new_empty((len(seed), *size), dtype=torch.uint8)
    native.cellgames_cloth_of_gold_ground(*size, len(seed), torch.get_num_threads(), seed, out)
    return out


def water_on(grid: Grid, ground: Tensor, level: Tensor) -> Tensor:
    """Return bitboards of water, int64 [S, N, n], for codes uint8 [n, H, W] and levels, integers [n]."""
    under = 2 * ((level.long() - LOWEST) // LEVEL_STEP)  # the highest code that is under water
    return _cells(grid, ground, (2 << under) - 1)


def land_on(grid: Grid, ground: Tensor) -> Tensor:
    """Return bitboards of forest while it is not under water, burnt or not, and of rock: int64 [2, S, N, n]."""
    forest = sum(1 << code for code in range(2, ROCK, 2))
    codes = torch.tensor([[forest], [1 << ROCK]], device=ground.device).expand(-1, len(ground))
    return torch.stack([_cells(grid, ground, some) for some in codes])


@Operator
def _cells(grid: Grid, ground: Tensor, codes: Tensor) -> Tensor:
    """Return bitboards, int64 [S, N, n], of the cells whose code is among those of the world, bits of int64 [n]."""
    return grid.pack((codes.int()[:, None, None] >> ground & 1).bool())


@_cells.native
def _native_cells(native: Library, grid: Grid, ground: Tensor, codes: Tensor) -> Tensor:
    """Return the same by `sources/cloth_of_gold_wild.cpp`."""
    if max(grid.rows, grid.cols) > WIDEST:
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    out = codes.new_empty(*grid.shape, len(ground))
    sizes = grid.rows, grid.cols, len(ground)
    native.cellgames_cloth_of_gold_codes(*sizes, torch.get_num_threads(), ground, codes, out)
    return out

"""Terrain: water, rock, forest and plain.

A cell's ground is a code that says all that any rule asks of its height and moisture, at any water level: 0 is always
under water; 1 to 14 are bands of eight heights from 48 on, and a seventh up to 207, each without and with forest; 15
is rock. Letters: `n` games, `H, W` the world, `S, N` stored rows and words (see `boards.bitboards`).
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.native import Library, operator, pointer

from .borders import WIDEST
from .noise import HEIGHTS, MOISTURE, noise_map

LOWEST, LEVEL, HIGHEST, LEVEL_STEP = 48, 64, 96, 8
"""The lowest water level, the one at the start, the highest, and the change of a round."""

ROCK = 15
"""The code of rock."""

_ROCK_HEIGHT, _FOREST_MOISTURE = 208, 140
_BANDS = (HIGHEST - LOWEST) // LEVEL_STEP + 1  # above the lowest level; the last one is never under water


def make_ground(seed: Tensor, size: tuple[int, int]) -> Tensor:
    """Return the codes of new worlds' ground, uint8 [n, H, W], of seeds int64 [n]."""
    rows, cols = size
    return _ground(seed, rows, cols)


@operator(
    "cloth_of_gold_ground(Tensor seed, int rows, int cols) -> Tensor",
    fake=lambda seed, rows, cols: torch.empty((len(seed), rows, cols), dtype=torch.uint8, device=seed.device),
)
def _ground(seed: Tensor, rows: int, cols: int) -> Tensor:
    """Return `make_ground`."""
    height, moisture = (noise_map(seed, purpose, (rows, cols)) for purpose in (HEIGHTS, MOISTURE))
    band = ((height - LOWEST) // LEVEL_STEP + 1).clamp(0, _BANDS)
    code = torch.where(band > 0, 2 * band - 1 + (moisture >= _FOREST_MOISTURE).int(), 0)
    return torch.where(height >= _ROCK_HEIGHT, ROCK, code).to(torch.uint8)


@_ground.native
def _native_ground(native: Library, seed: Tensor, rows: int, cols: int) -> Tensor:
    """Return the same by `sources/cloth_of_gold_wild.cpp`."""
    seed = seed.contiguous()
    out = seed.new_empty((len(seed), rows, cols), dtype=torch.uint8)
    native.cellgames_cloth_of_gold_ground(
        rows, cols, len(seed), torch.get_num_threads(), pointer(seed, torch.int64), pointer(out, torch.uint8)
    )
    return out


def water_on(grid: Grid, ground: Tensor, level: Tensor) -> Tensor:
    """Return bitboards of water, int64 [S, N, n], for codes uint8 [n, H, W] and levels, integers [n]."""
    under = 2 * ((level.long() - LOWEST) // LEVEL_STEP)  # the highest code that is under water
    water: Tensor = _cells(ground, (2 << under) - 1, grid.rows, grid.cols)
    return water


def land_on(grid: Grid, ground: Tensor) -> Tensor:
    """Return bitboards of forest while it is not under water, burnt or not, and of rock: int64 [2, S, N, n]."""
    forest = sum(1 << code for code in range(2, ROCK, 2))
    codes = torch.tensor([[forest], [1 << ROCK]], device=ground.device).expand(-1, len(ground))
    return torch.stack([_cells(ground, some, grid.rows, grid.cols) for some in codes])


@operator(
    "cloth_of_gold_codes(Tensor ground, Tensor codes, int rows, int cols) -> Tensor",
    fake=lambda ground, codes, rows, cols: codes.new_empty(*Grid(rows, cols, wrap=False).shape, len(ground)),
)
def _cells(ground: Tensor, codes: Tensor, rows: int, cols: int) -> Tensor:
    """Return bitboards, int64 [S, N, n], of the cells whose code is among those of the world, bits of int64 [n]."""
    return Grid(rows, cols, wrap=False).pack((codes.int()[:, None, None] >> ground & 1).bool())


@_cells.native
def _native_cells(native: Library, ground: Tensor, codes: Tensor, rows: int, cols: int) -> Tensor:
    """Return the same by `sources/cloth_of_gold_wild.cpp`."""
    if max(rows, cols) > WIDEST:
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    ground, codes = ground.contiguous(), codes.contiguous()
    out = codes.new_empty(*Grid(rows, cols, wrap=False).shape, len(ground))
    native.cellgames_cloth_of_gold_codes(
        rows,
        cols,
        len(ground),
        torch.get_num_threads(),
        pointer(ground, torch.uint8),
        pointer(codes, torch.int64),
        pointer(out, torch.int64),
    )
    return out

"""Territory: the cells within the radius of a side's units, on bitboards."""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.native import Library, Operator

from .rules import disk

WIDEST = 1600
"""The most columns of a board that native code has room for."""

LARGEST = 64
"""The largest radius of which that is true."""


@Operator
def territory(grid: Grid, units: Tensor, radius: int) -> Tensor:
    """Return bitboards [..., S, N, B] of the territory of units, bitboards of the same shape."""
    return grid.dilate(units, disk(radius))


@territory.native
def _native_territory(native: Library, grid: Grid, units: Tensor, radius: int) -> Tensor:
    """Return the same by `sources/cloth_of_gold_turns.cpp`."""
    if grid.cols > WIDEST or radius > LARGEST:
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    fields = torch.empty_like(units, memory_format=torch.contiguous_format)
    sizes = grid.rows, grid.cols, units.shape[-1], units.shape[:-3].numel()
    native.cellgames_cloth_of_gold_territory(*sizes, radius, torch.get_num_threads(), units, fields)
    return fields

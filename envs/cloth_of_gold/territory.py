"""Territory: the cells within the radius of a side's units, on bitboards.

The disk of a unit that is placed is added to a few rows; only where units have gone is all of it made anew, by
dilation, for all units at once.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.kernels.compiling import Compile, kernel
from cellgames.envs.kernels.lookup_tables import table

from .batch_widths import padded, width_for
from .rules import disk

__all__ = ["add_disks", "territory"]

_LARGEST_COMPILED = 16  # radius; the sums over rows of larger disks take minutes to compile


def territory(grid: Grid, units: Tensor, radius: int, *, compile: Compile = "auto") -> Tensor:
    """Return bitboards [..., S, N, B] of the territory of units, bitboards of the same shape."""

    def reach(units: Tensor, out: Tensor) -> None:
        out.copy_(grid.dilate(units, disk(radius)))

    width = width_for(units.shape[-1], units.device)
    planes = units.reshape(units.shape[:-3].numel(), *units.shape[-3:])
    buffer = units.new_empty(*grid.shape, width)
    calls = len(planes) * -(-units.shape[-1] // width)
    compile = compile if radius <= _LARGEST_COMPILED else "never"
    run = kernel(reach, [buffer, buffer], compile=compile, calls=calls, fused=False)
    if not run.compiled:
        return grid.dilate(units, disk(radius))
    fields = torch.empty_like(planes, memory_format=torch.contiguous_format)
    for plane, field in zip(planes, fields, strict=True):
        for chunk, out in zip(plane.split(width, -1), field.split(width, -1), strict=True):
            run([padded(chunk, width), buffer])
            out.copy_(buffer[..., : chunk.shape[-1]])
    return fields.view(units.shape)


def add_disks(grid: Grid, fields: Tensor, radius: int, row: Tensor, col: Tensor) -> None:
    """Add the territory of one more unit to each of `fields`, in place.

    Args:
        grid: the board.
        fields: int64 [n, S, N].
        radius: of the disk.
        row: int64 [n], the unit's.
        col: int64 [n].
    """
    spans = _spans(grid, radius, fields.device)[col]  # [n, D, N]
    rows = row[:, None] + torch.arange(1 - radius, radius, device=row.device)
    inside = (rows >= 0) & (rows < grid.rows)
    rows = rows.where(inside, grid.rows)  # the spare row, to which nothing is added
    place = torch.arange(len(fields), device=row.device)[:, None]
    fields[place, rows] |= spans * inside[:, :, None]


@table
def _spans(grid: Grid, radius: int, device: torch.device) -> Tensor:
    """Return the rows of the disk around a cell of each column, D = 2 * radius - 1 from above: int64 [cols, D, N]."""
    cells = torch.zeros(2 * radius - 1, grid.cols, grid.cols, dtype=torch.bool, device=device)
    col = torch.arange(grid.cols, device=device)
    for down, right in disk(radius).offsets:
        to = col + right
        inside = (to >= 0) & (to < grid.cols)
        cells[down + radius - 1, col[inside], to[inside]] = True
    rows = Grid(grid.cols, grid.cols, wrap=False)  # a row for each column of the unit
    return rows.pack(cells)[: grid.cols].permute(0, 2, 1).contiguous()

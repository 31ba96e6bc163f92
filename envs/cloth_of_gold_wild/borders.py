"""Borders: zones around the convex hulls of clusters of units, in place of territory around each unit.

Letters: `n` boards, `H, W` rows and columns, `S, N` stored rows and words (see `boards.bitboards`), `C` clusters on all
boards.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor
from torch.nn import functional

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.dilation import Footprint
from cellgames.envs.native import Library, Operator
from cellgames.envs.native.operators import table

CLUSTER_DISTANCE = 4
"""The Chebyshev distance up to which two units belong to one cluster."""

DIRECTIONS = tuple(
    (row, col)
    for row in range(-2, 3)
    for col in range(-2, 3)
    if max(abs(row), abs(col)) == 1 or {abs(row), abs(col)} == {1, 2}
)
"""The 16 directions that bound a hull, each as rows down and columns right."""


@cache
def round_disk(distance: int) -> Footprint:
    """Return all cells at a Euclidean distance of at most `distance`."""
    reach = range(-distance, distance + 1)
    return Footprint((row, col) for row in reach for col in reach if row * row + col * col <= distance * distance)


@Operator
def zones(grid: Grid, units: Tensor, buffer: Tensor) -> Tensor:
    """Return the zones of some boards of units of one player each: bitboards int64 [S, N, n] of the same.

    A zone reaches up to `buffer`, int32 [n], from a hull, by Euclidean distance.
    """
    inside = hulls(grid, units)
    out = torch.zeros_like(inside)
    for distance in sorted(set(buffer.tolist())):
        some = (buffer == distance).nonzero().squeeze(1)
        out[..., some] = grid.dilate(inside[..., some], round_disk(distance))
    return out


@zones.native
def _native_zones(native: Library, grid: Grid, units: Tensor, buffer: Tensor) -> Tensor:
    """Return the same by `sources/cloth_of_gold_wild.cpp`."""
    out = torch.empty_like(units, memory_format=torch.contiguous_format)
    sizes = grid.rows, grid.cols, units.shape[-1]
    native.cellgames_cloth_of_gold_zones(*sizes, torch.get_num_threads(), units, buffer, out)
    return out


def hulls(grid: Grid, units: Tensor) -> Tensor:
    """Return the cells within the hull of any cluster of units: bitboards int64 [S, N, n]."""
    live = grid.unpack(units)
    places = live.nonzero()
    if len(places) == 0:
        return torch.zeros_like(units)
    board, row, col = places.unbind(1)
    cells = grid.rows * grid.cols
    label = clusters(live)[board, row, col] + board * cells
    _, cluster = label.unique(return_inverse=True)
    number = int(cluster.max()) + 1
    support = (row[:, None] * _directions(row.device)[0] + col[:, None] * _directions(row.device)[1]).long()
    most = torch.full((number, len(DIRECTIONS)), -4 * cells, device=row.device)
    most = most.scatter_reduce(0, cluster[:, None].expand_as(support), support, "amax")
    home = torch.zeros(number, dtype=torch.int64, device=row.device).scatter_(0, cluster, board)
    first, last = _intervals(grid, most)
    held = (first <= last).nonzero()
    which, line = held.unbind(1)
    edges = torch.zeros((len(live), grid.rows, grid.cols + 1), dtype=torch.int32, device=row.device)
    one = torch.ones_like(which, dtype=torch.int32)
    edges.index_put_((home[which], line, first[which, line]), one, accumulate=True)
    edges.index_put_((home[which], line, last[which, line] + 1), -one, accumulate=True)
    return grid.pack(edges.cumsum(2)[..., :-1] > 0)


def clusters(live: Tensor) -> Tensor:
    """Return a number for each unit that all units of its cluster share, int64 [n, H, W], of units bool [n, H, W]."""
    cells = live.shape[1] * live.shape[2]
    own = torch.arange(1, cells + 1, device=live.device).view(live.shape[1:]).expand_as(live) * live
    label = own.float()  # whole numbers up to 65,536
    width = 2 * CLUSTER_DISTANCE + 1
    while True:
        rows = functional.max_pool2d(label, (width, 1), 1, (CLUSTER_DISTANCE, 0))
        spread = functional.max_pool2d(rows, (1, width), 1, (0, CLUSTER_DISTANCE)) * live
        flat = spread.flatten(1)  # the label of the unit that the label names is as near or nearer to the end
        spread = flat.gather(1, (flat.long() - 1).clamp(min=0)).view_as(spread).maximum(spread) * live
        if torch.equal(spread, label):
            return label.long()
        label = spread


@table
def _directions(device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the directions as rows down and columns right, int64 [16] each."""
    down, right = torch.tensor(DIRECTIONS, device=device).unbind(1)
    return down, right


def _intervals(grid: Grid, most: Tensor) -> tuple[Tensor, Tensor]:
    """Return the first and the last column of each row within hulls, int64 [C, H]; the first is the larger for none.

    The largest product of a unit with each direction is `most`, int64 [C, 16].
    """
    rows = torch.arange(grid.rows, device=most.device)
    first = torch.zeros((len(most), grid.rows), dtype=torch.int64, device=most.device)
    last = torch.full_like(first, grid.cols - 1)
    for (down, right), bound in zip(DIRECTIONS, most.unbind(1), strict=True):
        room = bound[:, None] - down * rows  # columns times `right` are at most this
        if right > 0:
            last = torch.minimum(last, room // right)
        elif right < 0:
            first = torch.maximum(first, -(room // -right))
        else:
            last = torch.where(room < 0, -1, last)
    return first, last

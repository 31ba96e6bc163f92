"""Many generations of many worlds of Cloth of Gold, and territory: the cells within a radius of a side's units.

Native code plays them on the CPU.

Letters: `n` worlds, `S, N` stored rows and words (see `boards.bitboards`), four planes: a, b, neutral, killed.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.native import Library, Operator

from . import rules

_WIDEST = 1600  # columns that native code has room for; far more than a game has


@torch.no_grad()
def simulate(grid: Grid, planes: Tensor, generations: int, neutral_rules: int = 0) -> Tensor:
    """Play some generations and return the worlds.

    Worlds that come back to themselves within 24 generations, as still lifes and most oscillators do, are not played
    on: the end is known.

    Args:
        grid: finite.
        planes: int64 [4, S, N, n]; not changed.
        generations: at least 0.
        neutral_rules: see `rules.generation`.

    Returns:
        int64 [4, S, N, n].
    """
    return _generations(grid, planes, generations, neutral_rules, True)


@torch.no_grad()
def advance(grid: Grid, planes: Tensor, generations: int, neutral_rules: int = 0) -> Tensor:
    """Play some generations without looking for worlds that repeat."""
    return _generations(grid, planes, generations, neutral_rules, False)


@Operator
def _generations(grid: Grid, planes: Tensor, generations: int, neutral_rules: int, settle: bool) -> Tensor:
    """Return the worlds after some generations; `settle`: see `simulate`."""
    if not settle:
        return _advance(grid, planes, generations, neutral_rules)
    after = torch.empty_like(planes, memory_format=torch.contiguous_format)
    places = torch.arange(planes.shape[-1], device=planes.device)
    worlds = _advance(grid, planes, generations % rules.PERIOD, neutral_rules)
    for _ in range(generations // rules.PERIOD):
        if len(places) == 0:
            break
        now = _advance(grid, worlds, rules.PERIOD, neutral_rules)
        moving = (now != worlds).flatten(0, -2).any(0)
        if not moving.all():
            after[..., places[~moving]] = now[..., ~moving]
            now, places = now[..., moving], places[moving]
        worlds = now
    after[..., places] = worlds
    return after


@_generations.native
def _native_generations(
    native: Library, grid: Grid, planes: Tensor, generations: int, neutral_rules: int, settle: bool
) -> Tensor:
    """Return the same by `sources/cloth_of_gold.cpp`."""
    if grid.cols > _WIDEST:
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    after = torch.empty_like(planes, memory_format=torch.contiguous_format)
    numbers = grid.rows, grid.cols, planes.shape[-1], generations, neutral_rules, settle
    native.cellgames_cloth_of_gold(*numbers, torch.get_num_threads(), planes, after)
    return after


def _advance(grid: Grid, planes: Tensor, generations: int, neutral_rules: int) -> Tensor:
    """Return the worlds after some generations; without neutral cells, since none comes from nothing, by less work."""
    a, b, neutral, killed = planes.clone(memory_format=torch.contiguous_format)
    neutrals = bool(neutral.any())
    for _ in range(generations):
        if neutrals:
            a, b, neutral, killed = rules.generation(grid, a, b, neutral, killed, neutral_rules)
        else:
            a, b, killed = rules.two_sided_generation(grid, a, b, killed)
    return torch.stack((a, b, neutral, killed))


@Operator
def territory(grid: Grid, units: Tensor, radius: int) -> Tensor:
    """Return bitboards [..., S, N, B] of the territory of units, bitboards of the same shape."""
    return grid.dilate(units, rules.disk(radius))


@territory.native
def _native_territory(native: Library, grid: Grid, units: Tensor, radius: int) -> Tensor:
    """Return the same by `sources/cloth_of_gold_turns.cpp`."""
    fields = torch.empty_like(units, memory_format=torch.contiguous_format)
    sizes = grid.rows, grid.cols, units.shape[-1], units.shape[:-3].numel()
    native.cellgames_cloth_of_gold_territory(*sizes, radius, torch.get_num_threads(), units, fields)
    return fields

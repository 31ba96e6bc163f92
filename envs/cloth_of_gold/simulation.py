"""Many generations of many worlds of Cloth of Gold.

Native code plays them on the CPU. Where it is missing, worlds stand side by side in memory and stay in the cache while
they live; a few worlds are quicker as integers, and so they are played unless the code for batches is compiled.

Letters: `n` worlds, `S, N` stored rows and words (see `boards.bitboards`), four planes: a, b, neutral, killed.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.intboards import IntGrid
from cellgames.envs.kernels.compiling import Compile, Kernel, kernel
from cellgames.envs.native import Library, library, pointer

from . import rules
from .batch_widths import padded, width_for

__all__ = ["NEUTRAL", "advance", "simulate"]

NEUTRAL = 2  # the plane

_WIDEST = 1600  # columns that native code has room for
FEW = 12  # so many worlds take as long as integers as in a batch without a compiler; one is quicker than with it


@torch.no_grad()
def simulate(
    grid: Grid, planes: Tensor, generations: int, births: bool = False, *, compile: Compile = "auto"
) -> Tensor:
    """Play some generations and return the worlds.

    Worlds that come back to themselves within 24 generations, as still lifes and most oscillators do, are not played
    on: the end is known.

    Args:
        grid: finite.
        planes: int64 [4, S, N, n]; not changed.
        generations: at least 0.
        births: see `rules.generation`.
        compile: see `kernels.compiling.kernel`; of no meaning to native code.

    Returns:
        int64 [4, S, N, n].
    """
    after = torch.empty_like(planes)
    places = torch.arange(planes.shape[-1], device=planes.device)
    worlds = advance(grid, planes, generations % rules.PERIOD, births, compile=compile)
    for _ in range(generations // rules.PERIOD):
        if len(places) == 0:
            break
        now = advance(grid, worlds, rules.PERIOD, births, compile=compile)
        moving = (now != worlds).flatten(0, -2).any(0)
        if not moving.all():
            after[..., places[~moving]] = now[..., ~moving]
            now, places = now[..., moving], places[moving]
        worlds = now
    after[..., places] = worlds
    return after


@torch.no_grad()
def advance(grid: Grid, planes: Tensor, generations: int, births: bool = False, *, compile: Compile = "auto") -> Tensor:
    """Play some generations without looking for worlds that repeat."""
    if planes.shape[-1] == 0 or generations == 0:
        return planes.clone()
    if (native := library(planes.device)) is not None and grid.cols <= _WIDEST:
        return _natively(native, grid, planes, generations, births)
    kinds = [0, 1, 3] if not planes[NEUTRAL].any() else [0, 1, 2, 3]  # no neutral cell comes from nothing
    width = width_for(planes.shape[-1], planes.device)
    chunks = planes[kinds].split(width, -1)  # of a copy, which is overwritten
    few = compile == "auto" and planes.device.type == "cpu" and planes.shape[-1] <= FEW
    calls = 0 if few else generations * len(chunks)  # a few worlds are no reason to compile
    step = _kernel(grid, planes.new_empty(len(kinds), *grid.shape, width), births, compile, calls)
    if few and (planes.shape[-1] == 1 or not step.compiled):
        return _as_integers(grid, planes, generations, births)
    after = torch.zeros_like(planes)
    for chunk, out in zip(chunks, after.split(width, -1), strict=True):
        now = _run(step, chunk, width, generations)
        for kind, plane in zip(kinds, now, strict=True):
            out[kind] = plane
    return after


def _natively(native: Library, grid: Grid, planes: Tensor, generations: int, births: bool) -> Tensor:
    """Return the same by `sources/cloth_of_gold.cpp`."""
    given, after = planes.contiguous(), torch.zeros_like(planes, memory_format=torch.contiguous_format)
    neutrals = 1 + births if given[NEUTRAL].any() else 0  # none comes from nothing
    native.cellgames_cloth_of_gold(
        grid.rows,
        grid.cols,
        len(grid.widths),
        grid.widths[0],
        planes.shape[-1],
        generations,
        neutrals,
        torch.get_num_threads(),
        pointer(given, torch.int64),
        pointer(after, torch.int64),
    )
    return after


def _run(step: Kernel, planes: Tensor, width: int, generations: int) -> Tensor:
    """Play some generations of up to `width` worlds, [k, S, N, n] of the same shape, which may be overwritten."""
    now = padded(planes, width)
    then = torch.empty_like(now)
    for _ in range(generations):
        step([*now.unbind(), *then.unbind()])
        now, then = then, now
    return now[..., : planes.shape[-1]]


def _kernel(grid: Grid, planes: Tensor, births: bool, compile: Compile, calls: int) -> Kernel:
    """Return the kernel of one generation of planes [k, S, N, width]; k is 3 in worlds without neutral cells."""

    def two_sided(a: Tensor, b: Tensor, killed: Tensor, *then: Tensor) -> None:
        for plane, out in zip(rules.two_sided_generation(grid, a, b, killed), then, strict=True):
            out.copy_(plane)

    def with_neutrals(a: Tensor, b: Tensor, neutral: Tensor, killed: Tensor, *then: Tensor) -> None:
        for plane, out in zip(rules.generation(grid, a, b, neutral, killed, births), then, strict=True):
            out.copy_(plane)

    function = two_sided if len(planes) == 3 else with_neutrals
    return kernel(function, [*planes.unbind(), *torch.empty_like(planes).unbind()], compile=compile, calls=calls)


def _as_integers(grid: Grid, planes: Tensor, generations: int, births: bool) -> Tensor:
    """Play the same, one world after the other."""
    board = IntGrid(grid.rows, grid.cols)
    worlds = []
    for cells in grid.unpack(planes).numpy():
        a, b, neutral, killed = map(board.pack, cells)
        for _ in range(generations):
            if neutral:
                a, b, neutral, killed = rules.generation(board, a, b, neutral, killed, births)
            else:
                a, b, killed = rules.two_sided_generation(board, a, b, killed)
        worlds.append(board.unpack(a, b, neutral, killed))
    return grid.pack(torch.from_numpy(np.stack(worlds)))

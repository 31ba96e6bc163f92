"""Many generations of many worlds of Cloth of Gold.

Native code plays them on the CPU. Elsewhere worlds stand side by side in memory and stay in the cache while they live.

Letters: `n` worlds, `S, N` stored rows and words (see `boards.bitboards`), four planes: a, b, neutral, killed.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.kernels.compiling import Compile, Kernel, kernel
from cellgames.envs.native import Library, Operator, pointer

from . import rules
from .territory import WIDEST

NEUTRAL = 2  # the plane
_WIDTHS = (32, 256)  # the wide one stays in the cache for many generations
_CUDA_WIDTHS = (128, 1024, 8192)


@torch.no_grad()
def simulate(
    grid: Grid, planes: Tensor, generations: int, neutral_rules: int = 0, *, compile: Compile = "auto"
) -> Tensor:
    """Play some generations and return the worlds.

    Worlds that come back to themselves within 24 generations, as still lifes and most oscillators do, are not played
    on: the end is known.

    Args:
        grid: finite.
        planes: int64 [4, S, N, n]; not changed.
        generations: at least 0.
        neutral_rules: see `rules.generation`.
        compile: see `kernels.compiling.kernel`; of no meaning to native code.

    Returns:
        int64 [4, S, N, n].
    """
    return _generations(grid, planes, generations, neutral_rules, True, compile)


@torch.no_grad()
def advance(
    grid: Grid, planes: Tensor, generations: int, neutral_rules: int = 0, *, compile: Compile = "auto"
) -> Tensor:
    """Play some generations without looking for worlds that repeat."""
    return _generations(grid, planes, generations, neutral_rules, False, compile)


@Operator
def _generations(
    grid: Grid, planes: Tensor, generations: int, neutral_rules: int, settle: bool, compile: Compile
) -> Tensor:
    """Return the worlds after some generations; `settle`: see `simulate`."""
    if not settle:
        return _advance(grid, planes, generations, neutral_rules, compile)
    after = torch.empty_like(planes, memory_format=torch.contiguous_format)
    places = torch.arange(planes.shape[-1], device=planes.device)
    worlds = _advance(grid, planes, generations % rules.PERIOD, neutral_rules, compile)
    for _ in range(generations // rules.PERIOD):
        if len(places) == 0:
            break
        now = _advance(grid, worlds, rules.PERIOD, neutral_rules, compile)
        moving = (now != worlds).flatten(0, -2).any(0)
        if not moving.all():
            after[..., places[~moving]] = now[..., ~moving]
            now, places = now[..., moving], places[moving]
        worlds = now
    after[..., places] = worlds
    return after


@_generations.native
def _native_generations(
    native: Library,
    grid: Grid,
    planes: Tensor,
    generations: int,
    neutral_rules: int,
    settle: bool,
    compile: Compile,
) -> Tensor:
    """Return the same by `sources/cloth_of_gold.cpp`."""
    if grid.cols > WIDEST:
        return NotImplemented  # type: ignore[no-any-return]  # as `Operator.native` allows
    given = planes.contiguous()
    after = torch.empty_like(given)
    native.cellgames_cloth_of_gold(
        grid.rows,
        grid.cols,
        planes.shape[-1],
        generations,
        neutral_rules,
        settle,
        torch.get_num_threads(),
        pointer(given, torch.int64),
        pointer(after, torch.int64),
    )
    return after


def _advance(grid: Grid, planes: Tensor, generations: int, neutral_rules: int, compile: Compile) -> Tensor:
    if planes.shape[-1] == 0 or generations == 0:
        return planes.clone(memory_format=torch.contiguous_format)
    kinds = [0, 1, 3] if not planes[NEUTRAL].any() else [0, 1, 2, 3]  # no neutral cell comes from nothing
    width = _width_for(planes.shape[-1], planes.device)
    chunks = planes[kinds].split(width, -1)  # of a copy, which is overwritten
    step = _kernel(
        grid, planes.new_empty(len(kinds), *grid.shape, width), neutral_rules, compile, generations * len(chunks)
    )
    after = torch.zeros_like(planes, memory_format=torch.contiguous_format)
    for chunk, out in zip(chunks, after.split(width, -1), strict=True):
        now = _run(step, chunk, width, generations)
        for kind, plane in zip(kinds, now, strict=True):
            out[kind] = plane
    return after


def _run(step: Kernel, planes: Tensor, width: int, generations: int) -> Tensor:
    """Play some generations of up to `width` worlds, [k, S, N, n] of the same shape, which may be overwritten."""
    now = _padded(planes, width)
    then = torch.empty_like(now)
    for _ in range(generations):
        step([*now.unbind(), *then.unbind()])
        now, then = then, now
    return now[..., : planes.shape[-1]]


def _kernel(grid: Grid, planes: Tensor, neutral_rules: int, compile: Compile, calls: int) -> Kernel:
    """Return the kernel of one generation of planes [k, S, N, width]; k is 3 in worlds without neutral cells."""

    def two_sided(a: Tensor, b: Tensor, killed: Tensor, *then: Tensor) -> None:
        for plane, out in zip(rules.two_sided_generation(grid, a, b, killed), then, strict=True):
            out.copy_(plane)

    def with_neutrals(a: Tensor, b: Tensor, neutral: Tensor, killed: Tensor, *then: Tensor) -> None:
        for plane, out in zip(rules.generation(grid, a, b, neutral, killed, neutral_rules), then, strict=True):
            out.copy_(plane)

    function = two_sided if len(planes) == 3 else with_neutrals
    return kernel(function, [*planes.unbind(), *torch.empty_like(planes).unbind()], compile=compile, calls=calls)


def _width_for(worlds: int, device: torch.device) -> int:
    """Return the batch width for `worlds` worlds; more worlds than fit are taken in turns."""
    widths = _WIDTHS if device.type == "cpu" else _CUDA_WIDTHS
    return next((width for width in widths if width >= worlds), widths[-1])


def _padded(planes: Tensor, width: int) -> Tensor:
    """Return planes [..., n] of up to `width` worlds as [..., width], contiguous, filled up with empty worlds."""
    missing = width - planes.shape[-1]
    return torch.nn.functional.pad(planes, (0, missing)).contiguous() if missing else planes.contiguous()

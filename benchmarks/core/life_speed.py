"""Cells of Life a second, ours and others': `python -m benchmarks.core.life_speed`.

All of single-colour Life advance 4096 boards of 64 x 64 on tori, random at first; units are cell updates. The
boards have been loaded before the clock starts, and nothing but the next generation is made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import Benchmark, Row, Work, timed, use_cores

BOARDS, SIZE = 4096, 64
CELLS = BOARDS * SIZE * SIZE
GENERATIONS = 24  # a call


@cache
def _start() -> npt.NDArray[np.bool_]:
    return np.random.default_rng(0).random((BOARDS, SIZE, SIZE)) < 0.35


def _check(cells: npt.NDArray[Any]) -> None:
    """Raise a `RuntimeError` unless a contestant's first generation is Life's."""
    import torch

    from cellgames.envs.boards.life import Life

    boards = Life(SIZE, SIZE, BOARDS, compile="never")
    boards.load(torch.from_numpy(_start()))
    boards.advance()
    if not np.array_equal(boards.cells().numpy(), cells != 0):
        raise RuntimeError("the contestant does not play Life")


def life(seconds: float, *, cores: int | None = None, compiled: bool = True, generations: int = GENERATIONS) -> Work:
    """Measure `boards.life.Life`, by native code or, not `compiled`, by eager torch code."""
    import torch

    from cellgames.envs.boards.life import Life
    from cellgames.envs.native import without_native

    use_cores(cores)
    boards = Life(SIZE, SIZE, BOARDS, compile="always" if compiled else "never")
    boards.load(torch.from_numpy(_start()))

    def play() -> int:
        with nullcontext() if compiled else without_native():
            boards.advance(generations)
        return generations * CELLS

    play()
    return timed(play, seconds)


def naive(seconds: float) -> Work:
    """Measure the first code that comes to mind: bytes, eight rolls, a sum."""
    import torch

    cells = torch.from_numpy(_start().astype(np.uint8))
    shifts = [(row, col) for row in (-1, 0, 1) for col in (-1, 0, 1) if row or col]

    def play() -> int:
        nonlocal cells
        neighbours = cells.roll(shifts[0], (1, 2))
        for shift in shifts[1:]:
            neighbours = neighbours + cells.roll(shift, (1, 2))
        cells = ((neighbours == 3) | ((neighbours == 2) & (cells == 1))).to(torch.uint8)
        return CELLS

    play()
    _check(cells.numpy())
    return timed(play, seconds)


def jax_rolls(seconds: float) -> Work:
    """Measure bytes and rolls in JAX, jitted, `GENERATIONS` in one loop."""
    import jax
    import jax.numpy as jnp

    def generation(_: int, cells: jax.Array) -> jax.Array:
        columns = cells + jnp.roll(cells, 1, 1) + jnp.roll(cells, -1, 1)
        neighbours = columns + jnp.roll(columns, 1, 2) + jnp.roll(columns, -1, 2) - cells
        return ((neighbours == 3) | ((neighbours == 2) & (cells == 1))).astype(jnp.uint8)

    advance = jax.jit(lambda cells: jax.lax.fori_loop(0, GENERATIONS, generation, cells))
    cells = jnp.asarray(_start(), dtype=jnp.uint8)

    _check(np.asarray(jax.jit(generation)(0, cells)))

    def play() -> int:
        nonlocal cells
        cells = advance(cells).block_until_ready()
        return GENERATIONS * CELLS

    play()
    return timed(play, seconds)


_LIFE = "Life, 4096 boards of 64 x 64 on tori; "


def _row(
    name: str, about: str, measure: Callable[[float], Work], rival: str = "", packages: tuple[str, ...] = ("torch",)
) -> Row:
    return Row(name, _LIFE + about, measure, "cells", BOARDS, rival, packages)


def _ours(name: str, about: str, rival: str, **how: Any) -> Row:
    return _row(name, about, partial(life, **how), rival, ("cellgames", "torch"))


LIFE = Benchmark(
    "Life: cells a second",
    "benchmarks.core.life_speed",
    Path("results/benchmarks/life.md"),
    (
        _ours("life_compiled", "compiled, 24 generations a call, all cores", "torch_rolls"),
        _ours("life_compiled_one_a_call", "compiled, one generation a call, all cores", "torch_rolls", generations=1),
        _ours("life_compiled_one_core", "compiled, 24 generations a call, one core", "torch_rolls", cores=1),
        _ours("life_eager", "no compiler, all cores", "torch_rolls", compiled=False),
        _row("torch_rolls", "eight rolls of bytes, all cores", naive),
        _row("jax_rolls", "rolls of bytes, jitted, XLA's threads", jax_rolls, packages=("jax",)),
    ),
)

if __name__ == "__main__":
    sys.exit(LIFE.main())

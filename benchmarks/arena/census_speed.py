"""Boards of Life a second by the census: `python -m benchmarks.arena.census_speed`.

Boards are 64 x 64 tori, random at a density of 0.3, after 5,000 generations; units are boards.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from torch import Tensor

from benchmarks.harness import Benchmark, Row, Work, timed

BOARDS, SIZE, DENSITY, GENERATIONS = 1000, 64, 0.3, 5000


def ash(boards: int, seed: int, generations: int = GENERATIONS) -> Tensor:
    """Return random tori after some generations, bool [B, 64, 64]."""
    import torch

    from cellgames.envs.boards.life import Life

    life = Life(SIZE, SIZE, boards)
    life.load(torch.rand(boards, SIZE, SIZE, generator=torch.Generator().manual_seed(seed)) < DENSITY)
    life.advance(generations)
    return life.cells()


def settled(seconds: float, *, generations: int = GENERATIONS, boards: int = BOARDS) -> Work:
    """Measure the census of boards after others of their kind: other soups have been counted before."""
    from cellgames.lab.life.census import census

    for seed in range(1, 4):
        census(ash(boards, seed, generations))
    fresh = [ash(boards, seed, generations) for seed in range(4, 8)]
    turn = 0

    def play() -> int:
        nonlocal turn
        census(fresh[turn % len(fresh)])
        turn += 1
        return boards

    return timed(play, seconds)


def cold(seconds: float) -> Work:
    """Measure the first census of a process, once; the libraries are loaded."""
    from cellgames.lab.life.census import census

    boards = ash(BOARDS, 4)
    census(boards[:1] & False)
    start = time.perf_counter()
    census(boards)
    return BOARDS, time.perf_counter() - start


def _row(name: str, about: str, measure: Callable[[float], Work], boards: int = BOARDS) -> Row:
    return Row(name, about, measure, "boards", boards, packages=("cellgames", "scipy"))


CENSUS = Benchmark(
    "Census of Life: boards a second",
    "benchmarks.arena.census_speed",
    Path("results/benchmarks/census.md"),
    (
        _row("ash", "64 x 64 random soups after 5,000 generations; 3,000 other boards were counted before", settled),
        _row("ash_cold", "the same, 1,000 boards, the first of a process", cold),
        _row(
            "young",
            "64 x 64 random soups after 200 generations, most of them in motion",
            partial(settled, generations=200, boards=20),
            20,
        ),
    ),
)


if __name__ == "__main__":
    sys.exit(CENSUS.main())

"""Contestants of the census benchmark, one a process: `python -m benchmarks.arena.census_boards NAME`.

Boards are 64 x 64 tori, random at a density of 0.3, after 5,000 generations; units are boards.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version

from torch import Tensor

from benchmarks.measurement import Measurement, serve, timed

__all__ = ["BOARDS", "CENSUS", "ash", "soups"]

BOARDS, SIZE, DENSITY, GENERATIONS = 1000, 64, 0.3, 5000


def ash(boards: int, seed: int, generations: int = GENERATIONS) -> Tensor:
    """Bool [B, 64, 64], random tori after some generations."""
    import torch

    return _lived(torch.rand(boards, SIZE, SIZE, generator=torch.Generator().manual_seed(seed)) < DENSITY, generations)


def soups(boards: int, seed: int) -> Tensor:
    """Bool [B, 128, 128], what comes of 20 x 20 cells, live with a chance of one half, in 1,200 generations."""
    import torch

    start = torch.zeros(boards, 128, 128, dtype=torch.bool)
    start[:, 54:74, 54:74] = torch.rand(boards, 20, 20, generator=torch.Generator().manual_seed(seed)) < 0.5
    return _lived(start, 1200)


def _lived(start: Tensor, generations: int) -> Tensor:
    from cellgames.envs.boards.life import Life

    boards, rows, cols = start.shape
    life = Life(rows, cols, boards)
    life.load(start)
    life.advance(generations)
    return life.cells()


def _measurement(name: str, boards: int, work: tuple[int, float]) -> Measurement:
    import cellgames

    found = f"{cellgames.__version__} (scipy {version('scipy')})"
    return Measurement(name, "cellgames", found, boards, "boards", *work)


def settled(seconds: float, *, name: str, generations: int = GENERATIONS, boards: int = BOARDS) -> Measurement:
    """The census of boards whose like it has seen: other soups have been counted before."""
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

    return _measurement(name, boards, timed(play, seconds))


def cold(seconds: float, *, name: str) -> Measurement:
    """The first census of a process, once; the libraries are loaded."""
    from cellgames.lab.life.census import census

    boards = ash(BOARDS, 4)
    census(boards[:1] & False)
    start = time.perf_counter()
    census(boards)
    return _measurement(name, BOARDS, (BOARDS, time.perf_counter() - start))


CENSUS: dict[str, Callable[[float], Measurement]] = {
    "ash": partial(settled, name="ash"),
    "ash_cold": partial(cold, name="ash_cold"),
    "young": partial(settled, name="young", generations=200, boards=20),
}

if __name__ == "__main__":
    sys.exit(serve(CENSUS))

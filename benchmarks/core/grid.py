"""Rounds of Grid Adaptation a second: `python -m benchmarks.core.grid`."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.contestants import Benchmark, Contestant

__all__ = ["GRID"]


def _contestant(name: str, about: str, rival: str = "") -> Contestant:
    return Contestant(name, "benchmarks.core.grid_play", about, rival)


_BATCHED = "4,096 matches of eight: draw, place, generation, scores, new matches, "

GRID = Benchmark(
    "Grid Adaptation on 15 x 15 spaces",
    "benchmarks.core.grid",
    Path("results/benchmarks/grid.md"),
    (
        _contestant("grid_4096", _BATCHED + "free spaces; all cores", "grid_4096_plain"),
        _contestant("grid_4096_masks", _BATCHED + "every player's masks; all cores", "grid_4096_plain"),
        _contestant("grid_4096_eager", _BATCHED + "free spaces; no compiler, all cores", "grid_4096_plain"),
        _contestant("grid_4096_talk", _BATCHED + "public talk; free spaces; all cores", "grid_4096"),
        _contestant("grid_4096_private", _BATCHED + "private talk; free spaces; all cores", "grid_4096"),
        _contestant(
            "grid_4096_plain", _BATCHED + "free spaces; a byte a space, without the match's end, eager torch, all cores"
        ),
        _contestant(
            "grid_parallel",
            "one match through PettingZoo's parallel interface, eight observations with masks, one thread",
            "pettingzoo_pursuit",
        ),
        _contestant(
            "pettingzoo_pursuit",
            "pursuit_v5 through the same loop, eight agents on 16 x 16 cells, no masks, one thread",
        ),
    ),
)

if __name__ == "__main__":
    sys.exit(GRID.main())

"""The price of states and masks that last, against reused buffers: `python -m benchmarks.core.buffers`."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.contestants import Benchmark, Contestant

__all__ = ["BUFFERS"]

_TORUS = "Torus n = 8, a compiled step, then state and mask are read"
_GRID = "4,096 matches of eight players on 15 x 15, a step, then every player's masks are read"


def _pair(module: str, about: str, copies: str, reused: str) -> tuple[Contestant, Contestant]:
    return (
        Contestant(copies, module, f"{about}; they last", reused),
        Contestant(reused, module, f"{about}; reuse_buffers=True"),
    )


BUFFERS = Benchmark(
    "Steps whose results last, and steps that reuse their buffers",
    "benchmarks.core.buffers",
    Path("results/benchmarks/buffers.md"),
    (
        *_pair("benchmarks.core.torus_moves", _TORUS, "torus_1024_copies", "torus_1024_state"),
        *_pair("benchmarks.core.torus_moves", _TORUS, "torus_4096_copies", "torus_4096_state"),
        *_pair("benchmarks.core.torus_moves", _TORUS, "torus_16384_copies", "torus_16384_state"),
        *_pair("benchmarks.core.grid_play", _GRID, "grid_4096_masks_copies", "grid_4096_masks"),
    ),
)

if __name__ == "__main__":
    sys.exit(BUFFERS.main())

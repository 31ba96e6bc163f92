"""One game outside a batch, on plain integers and as a batch of one: `python -m benchmarks.core.single_games`."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.contestants import Benchmark, Contestant

__all__ = ["SINGLE_GAMES"]


def _pair(game: str, about: str) -> tuple[Contestant, Contestant]:
    batch = f"{game}_batch_of_one"
    return (
        Contestant(f"{game}_host", "benchmarks.core.hosts", f"{about}; on integers, one thread", batch),
        Contestant(batch, "benchmarks.core.hosts", f"{about}; a batch of one, one thread"),
    )


SINGLE_GAMES = Benchmark(
    "One game outside a batch: mask, observation and step",
    "benchmarks.core.single_games",
    Path("results/benchmarks/single_games.md"),
    (
        *_pair("torus", "moves of Torus n = 8"),
        *_pair("cloth", "placements of Cloth of Gold on 100 x 100 cells, without the ends of turns"),
        *_pair("grid", "rounds of Grid Adaptation, eight observations on 15 x 15 spaces"),
    ),
)

if __name__ == "__main__":
    sys.exit(SINGLE_GAMES.main())

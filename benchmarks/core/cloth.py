"""Cells, masks, rounds and moves of Cloth of Gold a second: `python -m benchmarks.core.cloth`."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.contestants import Benchmark, Contestant

__all__ = ["CLOTH"]


def _contestant(name: str, about: str, rival: str = "") -> Contestant:
    return Contestant(name, "benchmarks.core.cloth_boards", about, rival)


_WORLDS = "168 generations of 1,024 worlds; "
_GROUND = "territory and legal cells of both players, 1,024 worlds; "
_RANDOM = "rounds of random agents that place shapes, 1,024 games that start over, all cores; "
_WILD = _RANDOM + "turn by turn; with "

CLOTH = Benchmark(
    "Cloth of Gold on 100 x 100 worlds",
    "benchmarks.core.cloth",
    Path("results/benchmarks/cloth.md"),
    (
        _contestant("cloth_generations", _WORLDS + "all cores", "torch_slices"),
        _contestant("cloth_generations_one_core", _WORLDS + "one core", "torch_slices"),
        _contestant("cloth_generations_neutral", _WORLDS + "with neutral cells, all cores", "torch_slices"),
        _contestant("torch_slices", "generations of 128 worlds as slices of bytes, eager torch, all cores"),
        _contestant("cloth_ground", _GROUND + "bitboards, all cores"),
        _contestant("cloth_ground_one_core", _GROUND + "bitboards, one core"),
        _contestant("cloth_masks", _GROUND + "masks of bools, all cores"),
        _contestant("cloth_random_units", _RANDOM + "unit by unit"),
        _contestant("cloth_random_turns", _RANDOM + "turn by turn, as in rollouts"),
        _contestant("cloth_wild_terrain", _WILD + "terrain", "cloth_random_turns"),
        _contestant("cloth_wild_weather", _WILD + "terrain and weather", "cloth_random_turns"),
        _contestant("cloth_wild_perks", _WILD + "perks", "cloth_random_turns"),
        _contestant("cloth_wild_borders", _WILD + "borders", "cloth_random_turns"),
        _contestant("cloth_wild_wildlife", _WILD + "wildlife", "cloth_random_turns"),
        _contestant("cloth_wild_all", _WILD + "all wild options", "cloth_random_turns"),
        _contestant("cloth_aec", "placements in one game through PettingZoo's AEC interface"),
    ),
)

if __name__ == "__main__":
    sys.exit(CLOTH.main())

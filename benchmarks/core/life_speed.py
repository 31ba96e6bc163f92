"""Cells, games and seasons of Life a second, ours and others': `python -m benchmarks.core.life_speed`."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.contestants import Benchmark, Contestant

__all__ = ["LIFE"]

_LIFE = "Life, 4096 boards of 64 x 64 on tori; "
_CUP = "Toroidal Cup 40 x 280; "


def _contestant(name: str, about: str, rival: str = "") -> Contestant:
    return Contestant(name, "benchmarks.core.life_boards", about, rival)


LIFE = Benchmark(
    "Life: cells and games a second",
    "benchmarks.core.life_speed",
    Path("results/benchmarks/life.md"),
    (
        _contestant("life_compiled", _LIFE + "compiled, 24 generations a call, all cores", "torch_rolls"),
        _contestant("life_compiled_one_a_call", _LIFE + "compiled, one generation a call, all cores", "torch_rolls"),
        _contestant("life_compiled_one_core", _LIFE + "compiled, 24 generations a call, one core", "cpp_one_core"),
        _contestant("life_eager", _LIFE + "no compiler, all cores", "torch_rolls"),
        _contestant("cpp_one_core", _LIFE + "a C++ loop, same layout, every generation through all boards, one core"),
        _contestant("cpp_one_core_chunks", _LIFE + "the same loop, 24 generations for 1024 boards at a time, one core"),
        _contestant("torch_rolls", _LIFE + "eight rolls of bytes, all cores"),
        _contestant("torch_conv2d", _LIFE + "a convolution of floats, all cores"),
        _contestant("jax_rolls", _LIFE + "rolls of bytes, jitted, XLA's threads"),
        _contestant("cup_two_colours", _CUP + "generations with recolouring and both counts, all cores"),
        _contestant("cup_two_colours_one_core", _CUP + "generations with recolouring and both counts, one core"),
        _contestant("cup_games", _CUP + "whole games from random arrangements, all cores"),
        _contestant("cup_games_one_core", _CUP + "whole games from random arrangements, one core"),
        _contestant("cup_games_eager", _CUP + "whole games, no compiler, all cores"),
        _contestant("cup_season", _CUP + "a season of 20 teams and 49 days with its playoffs, by the command"),
    ),
)

if __name__ == "__main__":
    sys.exit(LIFE.main())

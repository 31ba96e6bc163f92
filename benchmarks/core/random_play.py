"""Moves a second of random legal play, ours and other libraries': `python -m benchmarks.core.random_play`."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.contestants import Benchmark, Contestant

__all__ = ["RANDOM_PLAY"]

_PGX = "Hex 11x11 on the CPU, step with observation and auto-reset in one jitted loop, XLA's threads; "
_PGX_USUAL = _PGX + "categorical over the mask"
_PGX_TUNED = _PGX + "k-th legal action, cheap reset"

_TORUS = "Torus n = 8: draw, step, win detection, auto-reset, bool mask; "

CONTESTANTS = (
    Contestant("torus_4096", "benchmarks.core.torus_moves", _TORUS + "compiled, all cores", "pgx_hex_4096_tuned"),
    Contestant("torus_16384", "benchmarks.core.torus_moves", _TORUS + "compiled, all cores", "pgx_hex_16384_tuned"),
    Contestant(
        "torus_4096_observed",
        "benchmarks.core.torus_moves",
        _TORUS + "and the observation; compiled, all cores",
        "pgx_hex_4096_tuned",
    ),
    Contestant("torus_4096_eager", "benchmarks.core.torus_moves", _TORUS + "no compiler", "openspiel_hex_rollouts"),
    Contestant("torus_16384_eager", "benchmarks.core.torus_moves", _TORUS + "no compiler", "openspiel_hex_rollouts"),
    Contestant(
        "torus_aec",
        "benchmarks.core.torus_moves",
        "Torus n = 8 through the AEC loop with observation and mask, one thread",
        "pettingzoo_connect_four",
    ),
    Contestant(
        "pettingzoo_connect_four",
        "benchmarks.core.peers",
        "connect_four_v3 through the AEC loop with observation and mask, one thread",
    ),
    Contestant(
        "openspiel_hex_python",
        "benchmarks.core.peers",
        "Hex 11x11 stepped from Python, no observation, one thread",
    ),
    Contestant(
        "openspiel_hex_rollouts",
        "benchmarks.core.peers",
        "Hex 11x11, whole rollouts inside C++, no observation, one thread",
    ),
    Contestant("pgx_hex_256", "benchmarks.core.peers", _PGX_USUAL),
    Contestant("pgx_hex_4096", "benchmarks.core.peers", _PGX_USUAL),
    Contestant("pgx_hex_16384", "benchmarks.core.peers", _PGX_USUAL),
    Contestant("pgx_hex_256_tuned", "benchmarks.core.peers", _PGX_TUNED),
    Contestant("pgx_hex_4096_tuned", "benchmarks.core.peers", _PGX_TUNED),
    Contestant("pgx_hex_16384_tuned", "benchmarks.core.peers", _PGX_TUNED),
)


RANDOM_PLAY = Benchmark(
    "Random legal play: moves a second",
    "benchmarks.core.random_play",
    Path("results/benchmarks/random_play.md"),
    CONTESTANTS,
)

if __name__ == "__main__":
    sys.exit(RANDOM_PLAY.main())

"""Agent steps a second of learning, from acting to the optimizer: `python -m benchmarks.training.learning`."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.contestants import Benchmark, Contestant
from benchmarks.training.learning_maskable import LARGE_BATCHES, TUTORIAL
from benchmarks.training.learning_ours import PRESET, QUICK

__all__ = ["LEARNING"]

_FOUR = "MaskablePPO, MlpPolicy, playing itself in connect_four_v3; "
_TORUS = "Torus n = 5, "
_RIVAL = "supersuit_large_batches"  # not the slower one with the tutorial's settings


def _ours(name: str, about: str, rival: str = "") -> Contestant:
    return Contestant(name, "benchmarks.training.learning_ours", _TORUS + about, rival)


def _peer(name: str, about: str) -> Contestant:
    return Contestant(name, "benchmarks.training.learning_peers", _FOUR + about)


LEARNING = Benchmark(
    "Learning: agent steps a second, end to end",
    "benchmarks.training.learning",
    Path("results/benchmarks/learning.md"),
    (
        _ours("core", "no learning: a random move of the agent and one of an opponent, on the bare core"),
        _ours("sb3_adapter", "no learning: the same through the VecEnv for Stable-Baselines3", "core"),
        _ours("device_ppo", f"PPO on the core, playing itself, a small network; {QUICK}", "supersuit_tutorial"),
        _ours("device_ppo_preset", f"the same as `cellgames train` runs it; {PRESET}", _RIVAL),
        _ours(
            "maskable_ppo",
            f"MaskablePPO, MlpPolicy, on that VecEnv against a random opponent; {LARGE_BATCHES}",
            _RIVAL,
        ),
        _peer("pettingzoo_tutorial", f"as in PettingZoo's tutorial; {TUTORIAL}"),
        _peer("supersuit_tutorial", f"8 copies by SuperSuit; {TUTORIAL}"),
        _peer("supersuit_large_batches", f"8 copies by SuperSuit; {LARGE_BATCHES}"),
        _peer("supersuit_processes", f"8 copies by SuperSuit in 8 processes; {LARGE_BATCHES}"),
    ),
)

if __name__ == "__main__":
    sys.exit(LEARNING.main())

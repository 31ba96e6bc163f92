"""What the benchmark of round robins makes of a profile."""

from __future__ import annotations

import cProfile
import pstats
from pathlib import Path

import pytest
from benchmarks.arena import tournament as round_robin


def test_shares_of_a_run_add_up_and_name_agents_and_core(tmp_path: Path) -> None:
    stats = round_robin.profiled(["random", "greedy", "rollout:2"], games=4, chunk=2)
    shares = round_robin.shares(stats)
    assert sum(shares.values()) == pytest.approx(1)
    assert all(0 <= share < 1 for share in shares.values())
    assert shares["agents"] > 0.01
    assert shares["core"] > 0.01
    assert shares["tables, reports and plots"] > 0.01


def test_nothing_is_counted_where_nothing_was_played() -> None:
    profile = cProfile.Profile()
    profile.runcall(sum, range(10_000))
    shares = round_robin.shares(pstats.Stats(profile))
    assert shares.pop(round_robin.REST) == 1
    assert set(shares.values()) == {0.0}

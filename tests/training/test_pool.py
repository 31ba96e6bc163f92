"""The opponent pool: who is met, who is kept, and what a checkpoint brings back."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
import torch
from every_game import generator
from training_runs import network_for

import cellgames
from cellgames.training.selfplay.opponents import Pool

GAME = cellgames.make("torus-v0", size=2)


def filled(folder: Path, count: int = 4, **settings: object) -> Pool:
    pool = Pool(folder, **settings)  # type: ignore[arg-type]  # of the test's choice
    for number in range(count):
        pool.add(network_for(GAME, number), 100 * number)
    return pool


def shares(pool: Pool) -> list[float]:
    drawn = [member.steps // 100 for member in pool.sample(4000, generator())]
    return [drawn.count(number) / 4000 for number in range(len(pool))]


def test_uniform_meets_all_alike_and_latest_the_last_one(tmp_path: Path) -> None:
    assert shares(filled(tmp_path / "a", sampling="uniform")) == pytest.approx([0.25] * 4, abs=0.03)
    assert shares(filled(tmp_path / "b", sampling="latest")) == [0, 0, 0, 1]


def test_prioritized_meets_those_most_who_are_hard_to_beat(tmp_path: Path) -> None:
    pool = filled(tmp_path, sampling="prioritized")
    for member, score in zip(pool.members, (98, 48, 48, -1), strict=True):
        if score >= 0:
            pool.record(member, score, 98)
    win_rates = [member.win_rate for member in pool.members]
    assert win_rates == pytest.approx([0.99, 0.49, 0.49, 0.5])
    chance = torch.tensor([(1 - share) ** 2 for share in win_rates])
    assert shares(pool) == pytest.approx((chance / chance.sum()).tolist(), abs=0.03)


def test_old_results_fade(tmp_path: Path) -> None:
    pool = filled(tmp_path, 1)
    member = pool.members[0]
    for _ in range(20):
        pool.record(member, 100, 100)
    for _ in range(10):
        pool.record(member, 0, 100)
    assert member.win_rate < 0.1
    assert member.games < 1000


def test_what_goes_leaves_the_others_spread_over_time(tmp_path: Path) -> None:
    pool = filled(tmp_path, 40, limit=5)
    steps = [member.steps for member in pool.members]
    assert len(steps) == 5
    assert (steps[0], steps[-1]) == (0, 3900)
    gaps = [after - before for before, after in itertools.pairwise(steps)]
    assert max(gaps) <= 4 * min(gaps)


def test_a_checkpoint_brings_back_members_and_forgets_later_ones(tmp_path: Path) -> None:
    pool = filled(tmp_path)
    pool.record(pool.members[2], 1, 3)
    kept = pool.state_dict()
    pool.add(network_for(GAME, 9), 900)
    again = Pool(tmp_path)
    again.load_state_dict(kept)
    assert again.state_dict() == kept
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(member.file for member in again.members)
    (tmp_path / kept[1]["file"]).unlink()
    with pytest.raises(ValueError, match=r"snapshots 000000000100\.safetensors, found none"):
        Pool(tmp_path).load_state_dict(kept)


def test_those_who_went_stay_on_disk_until_a_checkpoint_knows_it(tmp_path: Path) -> None:
    pool = filled(tmp_path, 3, limit=3)
    before = {member.file for member in pool.members}
    pool.add(network_for(GAME, 3), 300)
    assert before < {path.name for path in tmp_path.iterdir()}
    others = {"mine.safetensors", "12.safetensors", "000000000100.txt"}
    for name in others:
        (tmp_path / name).write_bytes(b"")
    pool.prune()
    assert {path.name for path in tmp_path.iterdir()} == others | {member.file for member in pool.members}

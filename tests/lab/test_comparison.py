"""`cellgames compare`: groups of runs by their settings, intervals, and the test, against scipy and by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from refusals import fails
from scipy import stats

from cellgames.cli.main import main
from cellgames.lab.comparison import permutation_p, read_groups, welch_interval
from cellgames.runs.run_folder import RunError

ONE, OTHER = [0.61, 0.72, 0.66, 0.7], [0.52, 0.6, 0.55, 0.62, 0.58]


def run(folder: Path, seed: int, ends: float, **settings: object) -> Path:
    folder.mkdir(parents=True)
    given = {
        "game": "torus-v0",
        "seed": seed,
        "threads": seed,
        "lr": 0.1,
        "eval_opponents": ["weak=random"],
        **settings,
    }
    (folder / "arguments.json").write_text(json.dumps(given), encoding="utf-8")
    (folder / "progress.csv").write_text(f"steps,weak\n0,0.5\n100,{ends}\n", encoding="utf-8")
    return folder


def test_intervals_and_tests_are_those_of_scipy() -> None:
    generator = np.random.default_rng(1)
    expected = stats.ttest_ind(ONE, OTHER, equal_var=False).confidence_interval()
    assert welch_interval(ONE, OTHER) == pytest.approx(tuple(expected), abs=0.002)
    gap = lambda a, b: abs(np.mean(a) - np.mean(b))  # noqa: E731  # one line in one test
    exact = stats.permutation_test((ONE, OTHER), gap, n_resamples=10_000, vectorized=False, alternative="greater")
    assert permutation_p(ONE, OTHER, generator) == pytest.approx(exact.pvalue)
    low, high = (generator.normal(mean, 1, 12).tolist() for mean in (0.0, 0.9))
    drawn = permutation_p(low, high, generator)  # 2.7 million splits
    assert drawn == pytest.approx(stats.ttest_ind(low, high).pvalue, rel=0.2)
    assert all(math.isnan(bound) for bound in welch_interval([0.5], OTHER))


def test_runs_are_grouped_by_all_settings_but_the_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = [run(tmp_path / f"a{seed}", seed, 0.9 + seed / 100, lr=0.1) for seed in range(3)]
    b = [run(tmp_path / f"b{seed}", seed, 0.6 + seed / 100, lr=0.2) for seed in range(3)]
    assert main(["compare", *map(str, [*b, *a]), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["groups"] == [{"name": "lr=0.2", "seeds": [0, 1, 2]}, {"name": "lr=0.1", "seeds": [0, 1, 2]}]
    end, mean = found["differences"]
    assert (end["against"], end["measure"], mean["measure"]) == ("weak", "end", "mean")
    assert (end["difference"], mean["difference"]) == (-0.3, -0.15)
    assert end["low"] < -0.3 < end["high"] < 0
    assert end["p"] == 0.1, "2 of 20 splits"
    assert main(["compare", *map(str, [*a, *b])]) == 0
    assert "lr=0.1: 3 runs, seeds 0, 1, 2\n" in capsys.readouterr().out


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    one, other = run(tmp_path / "a", 1, 0.7), run(tmp_path / "b", 2, 0.7)
    with fails(RunError, parameter="runs", got="1"):
        read_groups([one, other])
    with fails(RunError, parameter="seed", got="1, 1"):
        read_groups([one, run(tmp_path / "c", 1, 0.7), run(tmp_path / "d", 1, 0.7, lr=0.2)])
    with fails(RunError, parameter=str(tmp_path / "nothing")):
        read_groups([tmp_path / "nothing"])
    (other / "progress.csv").write_text("steps,weak\n", encoding="utf-8")
    with fails(RunError, parameter=str(other), expected="a run with an evaluation"):
        read_groups([one, other])

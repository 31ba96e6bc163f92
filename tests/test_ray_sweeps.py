"""Sweeps on a Ray cluster: what comes out, and that nothing is lost or done twice when something dies."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from sweep_runs import FATAL, scripted, small_sweep
from training_runs import block_extras, tiny

import cellgames
from cellgames.agents.registry import load
from cellgames.cluster import LOCAL, ClusterError, connected
from cellgames.folders import write_atomic
from cellgames.training import sweeps, train
from cellgames.training.checkpoints import CHECKPOINT
from cellgames.training.sweep_book import Book
from cellgames.training.sweep_space import parse_space
from cellgames.training.sweep_trials import evaluations
from cellgames.training.sweeps import Sweep, plan, sweep

pytestmark = pytest.mark.ray

ROOT = Path(__file__).parents[1]
TIMES = ("seconds", "steps_per_second")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Of two workers, who find the agents of `sweep_runs` and neither TensorBoard nor matplotlib: these take long."""
    pytest.importorskip("ray")
    missing, armed = tmp_path_factory.mktemp("missing"), tmp_path_factory.mktemp("fatal") / "armed"
    for name in ("tensorboard", "matplotlib"):
        (missing / f"{name}.py").write_text("raise ImportError('left out')\n")
    paths = [str(path) for path in (missing, ROOT / "src", ROOT / "tests")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        patch.setenv("OMP_WAIT_POLICY", "passive")
        patch.setenv(FATAL, str(armed))
        block_extras(lambda name, value: patch.setitem(sys.modules, name, value))
        patch.setitem(sys.modules, "cellgames.training.sweep_plots", None)
        with connected(LOCAL, 2) as ray:
            yield ray


@pytest.fixture(scope="module")
def alone(cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """A sweep whose driver is left alone, but one of its workers is killed in the middle of a trial."""
    Path(os.environ[FATAL]).touch()
    found = small_sweep(tmp_path_factory.mktemp("alone"))
    assert not Path(os.environ[FATAL]).exists()  # it happened
    return found


def table(found: Sweep) -> list[dict[str, str]]:
    with (found.out / "trials.csv").open(encoding="utf-8") as file:
        return [{name: text for name, text in line.items() if name != "seconds"} for line in csv.DictReader(file)]


def learned(folder: Path) -> list[dict[str, str]]:
    """The table of a run, without times."""
    return [{name: repr(x) for name, x in line.items() if name not in TIMES} for line in evaluations(folder)]


def test_a_bad_setting_is_told_and_the_others_go_on(alone: Sweep) -> None:
    assert [trial.state for trial in alone.trials] == ["finished", "finished", "failed", "failed"]
    assert all("nobody" in trial.error for trial in alone.trials[2:])
    assert {trial.settings["opponents"] for trial in alone.trials[:2]} == {"self"}
    page = (alone.out / "report.md").read_text(encoding="utf-8")
    assert "failed: " in page
    assert not (alone.out / ".tune").exists()
    assert not (alone.out / ".token").exists()


def test_the_best_is_the_one_with_the_highest_score(alone: Sweep) -> None:
    first, second = alone.trials[:2]
    assert alone.best == first
    assert first.score >= second.score
    for trial in (first, second):
        last = evaluations(trial.folder)[-1]
        assert (trial.score, trial.steps) == (last["sweep_runs:Fatal"], last["steps"])
        assert trial.steps >= 480
    assert alone.agent is not None
    assert alone.agent.read_bytes() == first.agent.read_bytes()
    assert alone.again is not None
    assert alone.again.games == 4 * first.arguments.games
    load(str(alone.agent), cellgames.make("torus-v0", size=2))


def test_a_trial_learns_what_a_run_of_its_own_learns(alone: Sweep, tmp_path: Path) -> None:
    best = alone.trials[0]
    run = train(best.arguments, tmp_path / "run")
    assert learned(run.out) == learned(best.folder)
    here, there = (torch.load(folder / CHECKPOINT, weights_only=True) for folder in (run.out, best.folder))
    for name, weight in here["learner"]["network"].items():
        assert torch.equal(weight, there["learner"]["network"][name])


def test_a_killed_driver_is_continued_to_the_same_table(cluster: Any, alone: Sweep, tmp_path: Path) -> None:
    address = cluster.get_runtime_context().gcs_address
    code = f"from sweep_runs import sweep_until_killed; sweep_until_killed({str(tmp_path)!r}, {address!r})"
    killed = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert killed.returncode == -9, killed.stderr
    outcomes = json.loads((tmp_path / "outcomes.json").read_text(encoding="utf-8"))
    done = [tmp_path / "trials" / name / CHECKPOINT for name in outcomes if outcomes[name]["state"] == "finished"]
    assert done
    written = {path: path.stat().st_mtime_ns for path in done}
    found = small_sweep(tmp_path)
    assert found.before >= 1
    assert table(found) == table(alone)
    assert {path: path.stat().st_mtime_ns for path in done} == written  # nothing was learned twice


def test_low_scores_are_stopped_early(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "run_trial", scripted)
    base = tiny(steps=900)
    (tmp_path / "sweep.json").write_text('{"target": "random"}')
    planned = plan(base, parse_space(["learning_rate=0.001,0.01,0.1"], type(base)), grid=True)
    book = Book(tmp_path, planned, lambda progress: None)
    sweeps._run(cluster, base, "random", book, stopping=True, workers=1, gpus=0, command="")
    ends = {name: (outcome["state"], outcome["steps"]) for name, outcome in book.outcomes.items()}
    assert ends == {
        "001-seed=0": ("finished", 900),
        "002-seed=0": ("stopped", 100),  # the first rung, a ninth of the steps
        "003-seed=0": ("finished", 900),
    }
    assert not book.missing()


def test_a_worker_with_another_disk_is_refused(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(path: Path, text: str) -> None:
        if path.name != ".token":
            write_atomic(path, text)

    monkeypatch.setattr(sweeps, "write_atomic", write)
    with pytest.raises(ClusterError, match=r"does not see .* must be on a disk that all machines"):
        sweep(tiny(), ["epochs=1,2"], tmp_path, trials=1)


def test_a_trial_that_no_machine_can_run_is_refused(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="a trial needs 9 CPUs"):
        sweep(tiny(threads=9), ["epochs=1,2"], tmp_path)

"""Sweeps on a Ray cluster: what comes out, and that nothing is lost or done twice when something dies."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch
from paths import ROOT
from sweep_runs import FATAL, SCORES, VARY, base, scripted
from training_runs import block_extras, equal, tiny

import cellgames
from cellgames.agents.loading import load
from cellgames.cli import main as cli
from cellgames.cluster.connection import LOCAL, ClusterError, connected
from cellgames.training import PPOArguments, train
from cellgames.training.runs.checkpoints import CHECKPOINT
from cellgames.training.runs.logs import Logs
from cellgames.training.sweeps import sweep as sweeps
from cellgames.training.sweeps import sweep_reports
from cellgames.training.sweeps.sweep import plan, sweep
from cellgames.training.sweeps.sweep_book import Book
from cellgames.training.sweeps.sweep_reports import train_command
from cellgames.training.sweeps.sweep_space import parse_space
from cellgames.training.sweeps.sweep_trials import evaluations

pytestmark = pytest.mark.ray

TIMES = ("seconds", "steps_per_second")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Of two cores; workers find the agents of `sweep_runs` but neither TensorBoard nor matplotlib: these take long."""
    pytest.importorskip("ray")
    missing, armed = tmp_path_factory.mktemp("missing"), tmp_path_factory.mktemp("fatal") / "armed"
    for name in ("tensorboard", "matplotlib"):
        (missing / f"{name}.py").write_text("raise ImportError('left out')\n")
    paths = [str(path) for path in (missing, ROOT / "src", ROOT / "tests" / "support")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(paths))
        patch.setenv("OMP_WAIT_POLICY", "passive")
        patch.setenv(FATAL, str(armed))
        block_extras(lambda name, value: patch.setitem(sys.modules, name, value))
        patch.setitem(sys.modules, "cellgames.training.sweeps.sweep_plots", None)
        with connected(LOCAL, 2) as ray:
            yield ray


@dataclass(frozen=True)
class Swept:
    """A sweep whose driver died, and before it a worker; the command line continued it, with twice the seeds.

    before:  trials that were finished when the driver died, and when their checkpoints were written.
    lines:   of the table.
    printed: by the command.
    words:   of the command.
    """

    out: Path
    before: dict[Path, int]
    lines: list[dict[str, str]]
    printed: str
    words: list[str]


@pytest.fixture(scope="module")
def swept(cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> Swept:
    """One worker at a time: each needs seconds to start."""
    out, armed = tmp_path_factory.mktemp("swept"), Path(os.environ[FATAL])
    address = cluster.get_runtime_context().gcs_address
    armed.touch()
    code = f"from sweep_runs import sweep_until_killed; sweep_until_killed({str(out)!r}, {address!r})"
    killed = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert killed.returncode == -9, killed.stderr
    assert not armed.exists()  # a worker was killed, too
    outcomes = json.loads((out / "outcomes.json").read_text(encoding="utf-8"))
    done = [out / "trials" / name / CHECKPOINT for name in outcomes if outcomes[name]["state"] == "finished"]
    before = {path: path.stat().st_mtime_ns for path in done}
    words = [*shlex.split(train_command(base()))[2:], "--vary", *VARY, "--grid", "--no-stopping", "--out", str(out)]
    words = ["sweep", *words, "--ray-workers", "1", "--quiet", "--seeds", "2"]
    with redirect_stdout(StringIO()) as printed:
        assert cli.main(words) == 0
    return Swept(out, before, table(out), printed.getvalue(), words)


def table(out: Path) -> list[dict[str, str]]:
    with (out / "trials.csv").open(encoding="utf-8") as file:
        return [{name: text for name, text in line.items() if name != "seconds"} for line in csv.DictReader(file)]


def learned(folder: Path) -> list[dict[str, str]]:
    """The table of a run, without times."""
    return [{name: repr(x) for name, x in line.items() if name not in TIMES} for line in evaluations(folder)]


def test_what_has_ended_is_not_learned_again(swept: Swept) -> None:
    assert swept.before
    assert {path: path.stat().st_mtime_ns for path in swept.before} == swept.before
    assert f"8 trials, {len(swept.before)} of them ended before." in swept.printed
    assert not (swept.out / ".tune").exists()
    assert not (swept.out / ".token").exists()


def test_a_bad_setting_is_told_and_the_others_go_on(swept: Swept) -> None:
    assert [(line["state"], line["opponents"]) for line in swept.lines] == [
        *[("finished", "self")] * 4,
        *[("failed", "self=0.5,nobody=0.5")] * 4,
    ]
    assert all("nobody" in line["error"] for line in swept.lines[4:])
    assert "failed: " in (swept.out / "report.md").read_text(encoding="utf-8")


def test_a_trial_learns_what_a_run_of_its_own_learns(swept: Swept, tmp_path: Path) -> None:
    """Whatever died in between: the first one's worker and driver did, and another one has the second seed."""
    planned = {trial.name: trial for trial in plan(base(), parse_space(VARY, PPOArguments), grid=True, seeds=2)}
    lines = {line["trial"]: line for line in swept.lines}
    for name in ("001-seed=0", "003-seed=1"):
        there = swept.out / "trials" / name
        arguments = dataclasses.replace(planned[name].arguments, eval_opponents=("sweep_runs:Fatal",))
        here = train(arguments, tmp_path / name)
        assert learned(here.out) == learned(there)
        end = here.history[-1]
        assert (int(lines[name]["steps"]), float(lines[name]["score"])) == (end["steps"], end["sweep_runs:Fatal"])
        one, other = (torch.load(folder / CHECKPOINT, weights_only=True) for folder in (here.out, there))
        assert equal(one["learner"]["network"], other["learner"]["network"])


def test_the_best_is_of_the_setting_with_the_highest_mean(swept: Swept) -> None:
    means = {
        setting: fmean(float(line["score"]) for line in swept.lines[:4] if line["learning_rate"] == setting)
        for setting in ("0.003", "0.03")
    }
    again = json.loads((swept.out / "best.json").read_text(encoding="utf-8"))
    (best,) = [line for line in swept.lines if line["trial"] == again["trial"]]
    assert means[best["learning_rate"]] == max(means.values())
    assert float(best["score"]) == max(
        float(line["score"]) for line in swept.lines[:4] if line["learning_rate"] == best["learning_rate"]
    )
    agent = swept.out / "best.safetensors"
    assert agent.read_bytes() == (swept.out / "trials" / best["trial"] / "agent.safetensors").read_bytes()
    load(str(agent), cellgames.make("torus-v0", size=2))
    assert again["games"] == 4 * base().eval_games
    assert f"Best: {best['trial']}. In 16 new games it is ahead of sweep_runs:Fatal" in swept.printed
    assert "Over seeds:" in swept.printed
    assert all(line["trial"] in swept.printed for line in swept.lines)


def test_nothing_is_played_where_all_has_ended(
    swept: Swept, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Failed trials are tried again by every call, so that they count as stopped here."""
    path = swept.out / "outcomes.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"failed"', '"stopped"'), encoding="utf-8")
    monkeypatch.setattr(sweep_reports, "compare", None)  # the best one has been measured
    assert cli.main(swept.words) == 0
    assert "Nothing to do: all 8 trials" in capsys.readouterr().out


def test_low_scores_are_stopped_early(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeps, "run_trial", scripted(SCORES))
    monkeypatch.setattr(sweeps, "Job", lambda *_: None)
    """Trials 1 and 2 ended before, with 0.9 and 0.8: who is to go on needs 0.87, which is two thirds of the way."""
    common = tiny(total_steps=900)
    planned = plan(common, parse_space(["learning_rate=0.001,0.002,0.003,0.01,0.1"], type(common)), grid=True)
    ended = {}
    for trial in planned[:2]:
        folder = tmp_path / "trials" / trial.name
        folder.mkdir(parents=True)
        lines = [{"steps": steps, "random": SCORES[trial.name]} for steps in range(50, 901, 50)]
        Logs(folder, "", (), 0, lambda message: None).table(lines)
        ended[trial.name] = {"state": "finished", "steps": 900, "score": SCORES[trial.name], "seconds": 0.0}
    (tmp_path / "outcomes.json").write_text(json.dumps(ended))
    book = Book(tmp_path, planned, lambda progress: None)
    sweeps._run(cluster, common, "random", book, stopping=True, workers=1, gpus=0, command="")
    ends = {name: (outcome["state"], outcome["steps"]) for name, outcome in book.outcomes.items()}
    assert ends == {
        "001-seed=0": ("finished", 900),
        "002-seed=0": ("finished", 900),
        "003-seed=0": ("stopped", 100),  # the first rung, a ninth of the steps; alone it would have been the best
        "004-seed=0": ("stopped", 100),
        "005-seed=0": ("finished", 900),
    }
    assert not book.missing()


def test_a_worker_that_cannot_do_any_ends_the_sweep(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "run_trial", scripted({}))
    monkeypatch.setattr(sweeps, "Job", lambda *_: None)
    with pytest.raises(ClusterError, match="it sees another disk"):
        sweep(tiny(), ["num_epochs=1,2"], tmp_path, trials=1)


def test_a_trial_that_no_machine_can_run_is_refused(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="a trial needs 9 CPUs"):
        sweep(tiny(threads=9), ["num_epochs=1,2"], tmp_path)

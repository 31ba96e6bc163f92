"""Sweeps on a Ray cluster: what comes out, and that nothing is lost or done twice when something dies."""

from __future__ import annotations

import csv
import dataclasses
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest
import torch
from paths import ROOT
from sweep_runs import FATAL, VARY, Blind, Scripted, base
from training_runs import block_extras, equal, tiny

import cellgames
from cellgames.agents.loading import load
from cellgames.cli import main as cli
from cellgames.cluster.connection import LOCAL, ClusterError, connected
from cellgames.training import train
from cellgames.training.runs.checkpoints import CHECKPOINT
from cellgames.training.sweeps import sweep as sweeps
from cellgames.training.sweeps import sweep_reports
from cellgames.training.sweeps.sweep import SweepOptions, plan, sweep
from cellgames.training.sweeps.sweep_reports import train_command
from cellgames.training.sweeps.sweep_study import open_study, trial_arguments
from cellgames.utils.report.model import Plot

optuna = pytest.importorskip("optuna")

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

pytestmark = pytest.mark.ray


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
        patch.setattr("cellgames.utils.report.files.png", _no_plots)
        with connected(LOCAL, 2) as ray:
            yield ray


def _no_plots(plot: Plot, subject: str) -> bytes:
    raise ImportError("left out")


def outcomes(out: Path) -> dict[str, FrozenTrial]:
    """The trials in the study of a sweep; of several with one name the last."""
    return {trial.user_attrs["name"]: trial for trial in open_study(out).trials}


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
    done = [
        out / "trials" / name / CHECKPOINT for name, trial in outcomes(out).items() if trial.state.name == "COMPLETE"
    ]
    before = {path: path.stat().st_mtime_ns for path in done}
    words = [*shlex.split(train_command(base()))[2:], "--vary", *VARY, "--grid", "--no-stopping", "--out", str(out)]
    words = ["sweep", *words, "--ray-workers", "1", "--quiet", "--seeds", "2"]
    with redirect_stdout(StringIO()) as printed:
        assert cli.main(words) == 0
    return Swept(out, before, table(out), printed.getvalue(), words)


def table(out: Path) -> list[dict[str, str]]:
    with (out / "trials.csv").open(encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def learned(folder: Path) -> list[dict[str, str]]:
    """The table of a run."""
    with (folder / "progress.csv").open(encoding="utf-8") as file:
        return [*csv.DictReader(file)]


@pytest.mark.slow
def test_what_has_ended_is_not_learned_again(swept: Swept) -> None:
    assert swept.before
    assert {path: path.stat().st_mtime_ns for path in swept.before} == swept.before
    assert f"8 trials, {len(swept.before)} of them ended before." in swept.printed


@pytest.mark.slow
def test_a_bad_setting_is_told_and_the_others_go_on(swept: Swept) -> None:
    assert [(line["state"], line["opponents"]) for line in swept.lines] == [
        *[("finished", "self")] * 4,
        *[("failed", "self=0.5,nobody=0.5")] * 4,
    ]
    assert all("nobody" in line["error"] for line in swept.lines[4:])
    assert "| failed |" in (swept.out / "report.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_trial_learns_what_a_run_of_its_own_learns(swept: Swept, tmp_path: Path) -> None:
    """Whatever died in between: the first one's worker and driver did, and another one has the second seed."""
    planned = {trial.user_attrs["name"]: trial for trial in plan(base(), SweepOptions(vary=VARY, grid=True, seeds=2))}
    lines = {line["trial"]: line for line in swept.lines}
    for name in ("001-seed=0", "003-seed=1"):
        there = swept.out / "trials" / name
        arguments = dataclasses.replace(trial_arguments(base(), planned[name]), eval_opponents=("sweep_runs:Fatal",))
        here = train(arguments, tmp_path / name)
        assert learned(here.out) == learned(there)
        end = here.history[-1]
        assert (int(lines[name]["steps"]), float(lines[name]["score"])) == (end["steps"], end["sweep_runs:Fatal"])
        one, other = (torch.load(folder / CHECKPOINT, weights_only=True) for folder in (here.out, there))
        assert equal(one["learner"]["network"], other["learner"]["network"])


@pytest.mark.slow
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


@pytest.mark.slow
def test_nothing_is_played_where_all_has_ended(
    swept: Swept, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Failed trials are tried again by every call, so that they count as stopped here."""
    study = open_study(swept.out)
    for trial in outcomes(swept.out).values():
        if trial.state.name == "FAIL":
            stopped = optuna.trial.TrialState.PRUNED
            study.add_trial(
                optuna.create_trial(
                    state=stopped, params=trial.params, distributions=trial.distributions, user_attrs=trial.user_attrs
                )
            )
    monkeypatch.setattr(sweep_reports, "compare", None)  # the best one has been measured
    assert cli.main(swept.words) == 0
    assert "Nothing to do: all 8 trials" in capsys.readouterr().out


def test_low_scores_are_stopped_early(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep that continues compares with what ended before."""
    monkeypatch.setattr(sweeps, "TrialWork", Scripted)
    monkeypatch.setattr(sweeps, "finish", lambda found, asked, warn: found)
    vary = ("learning_rate=0.001,0.002,0.003,0.01,0.1",)
    common, options = tiny(total_steps=900), SweepOptions(vary=vary, grid=True, ray_workers=1)

    def interrupt(trials: Sequence[FrozenTrial]) -> None:
        if sum(trial.state.is_finished() for trial in trials) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(common, tmp_path, options, report=interrupt)
    assert [trial.state.name for trial in outcomes(tmp_path).values()][:2] == ["COMPLETE", "PRUNED"]
    found = sweep(common, tmp_path, options)
    assert found.before == 2
    assert [(trial.state.name, trial.value, trial.last_step) for trial in found.trials] == [
        ("COMPLETE", 0.9, 900),
        ("PRUNED", 0.8, 100),  # the first rung, a ninth of the steps
        ("PRUNED", 0.85, 100),
        ("PRUNED", 0.2, 100),
        ("COMPLETE", 0.95, 900),
    ]


def test_a_worker_that_cannot_do_any_ends_the_sweep(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "TrialWork", Blind)
    with pytest.raises(ClusterError, match=f"does not see {tmp_path}"):
        sweep(tiny(), tmp_path, SweepOptions(vary=("num_epochs=1,2",), trials=1))


def test_a_trial_that_no_machine_can_run_is_refused(cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="a trial needs 9 CPUs"):
        sweep(tiny(threads=9), tmp_path, SweepOptions(vary=("num_epochs=1,2",)))

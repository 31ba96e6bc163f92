"""A trial of a sweep, as a worker of a Ray cluster runs it: a run of training that reports its evaluations to Ray Tune.

The folder of a trial is one of `runs.train`, so a trial whose worker died goes on at its checkpoint.
"""

from __future__ import annotations

import csv
import importlib
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from cellgames.cluster.connection import Build, ClusterError, refuse_other_build
from cellgames.training.arguments import arguments_of
from cellgames.training.runs.checkpoints import PROGRESS
from cellgames.utils.run_folders import RunError, opened

__all__ = ["TRIAL", "Job", "State", "evaluations", "run_trial"]

_PATIENCE_S = 60

TRIAL = "trial"
"""What Tune's configuration of a trial holds: its name."""

State: TypeAlias = Literal["running", "finished", "stopped", "failed", "refused"]
"""Of a trial; `stopped` early since others were better, `refused` by a worker that cannot do any."""


@dataclass(frozen=True)
class Job:
    """What the trials of a sweep have in common.

    Attributes:
        folder: of all trials, absolute.
        token: a file that holds the text beside it, to see whether a worker has the same disk.
        text: see there.
        target: the evaluation opponent whose share is the score.
        trials: `Arguments.to_data` of each trial, by its name.
        command: what was typed, for the files of the agents.
        build: of the process that gives the work.
    """

    folder: Path
    token: Path
    text: str
    target: str
    trials: Mapping[str, Mapping[str, Any]]
    command: str
    build: Build


def run_trial(config: Mapping[str, Any], job: Job) -> None:
    """Train a trial to its end, unless Tune stops it; what goes wrong is reported, so that the other trials go on."""
    report: Callable[[Mapping[str, Any]], None] = importlib.import_module("ray.tune").report
    try:
        refuse_other_build(job.build)
        _refuse_other_disk(job)
    except ClusterError as error:
        report({"state": "refused", "error": str(error)})
        return
    warnings: list[str] = []
    try:
        result = _train(config[TRIAL], job, report, warnings.append)
    except Exception as error:  # whatever these settings lead to
        text = " ".join(str(error).split())
        result = {
            "state": "failed",
            "error": text if isinstance(error, ValueError) else f"{type(error).__name__}: {text}",
        }
    report({**result, "warnings": warnings})


def _refuse_other_disk(job: Job) -> None:
    """Raise a `ClusterError` unless this process sees the sweep's folder."""
    try:
        seen = job.token.read_text(encoding="utf-8")
    except OSError:
        seen = None
    if seen != job.text:
        raise ClusterError(
            f"the worker on {platform.node()} does not see {job.token.parent}: trials keep their checkpoints there, so "
            "the folder (--out) must be on a disk that all machines of the cluster share, under the same path"
        )


def _train(
    name: str, job: Job, report: Callable[[Mapping[str, Any]], None], warn: Callable[[str], None]
) -> dict[str, Any]:
    """The last report."""
    from cellgames.training.runs import run as runs

    arguments = arguments_of(job.trials[name])
    folder = job.folder / name
    _wait_for(folder)
    reported = 0.0  # before anything is learned there is nothing to compare

    def evaluated(progress: runs.Progress) -> None:
        """Report an evaluation that is new; the last one is reported when the run has its end on disk."""
        nonlocal reported
        if (
            progress.steps >= arguments.total_steps
            or (line := last_evaluation(folder)) is None
            or line["steps"] <= reported
        ):
            return
        reported = line["steps"]
        report({"state": "running", **_result(line, job.target)})

    finished = runs.train(arguments, folder, command=job.command, report=evaluated, warn=warn)
    line = evaluations(finished.out)[-1]
    return {"state": "finished", **_result(line, job.target)}


def _wait_for(folder: Path) -> None:
    """Let a worker of a driver that was killed end: it may still be at work in the folder, for seconds."""
    for _ in range(_PATIENCE_S if folder.is_dir() else 0):
        try:
            with opened(folder, ()):
                return
        except RunError:
            time.sleep(1)


def _result(line: Mapping[str, float], target: str) -> dict[str, Any]:
    return {"steps": int(line["steps"]), "score": line[target], "seconds": line["seconds"]}


def last_evaluation(folder: Path) -> Mapping[str, float] | None:
    """The last line of a run's table, None for none."""
    lines = evaluations(folder)
    return lines[-1] if lines else None


def evaluations(folder: Path) -> list[dict[str, float]]:
    """The lines of a run's table; none where there is no table."""
    path = folder / PROGRESS
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: float(value) for name, value in line.items()} for line in csv.DictReader(file)]

"""A trial of a sweep as a worker runs it: a run of training that reports its evaluations to the study.

The folder of a trial is one of `runs.train`, so a trial whose worker died goes on at its checkpoint.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cellgames.cluster.connection import ClusterError
from cellgames.training.arguments import arguments_of
from cellgames.utils.run_folders import RunError, opened

from .search_space import load_optuna
from .sweep_study import JOURNAL, TRIALS, fail, newest, open_study, trial_arguments

__all__ = ["TrialWork"]

_PATIENCE_S = 60  # with a worker of a driver that was killed: it may be at work for seconds


@dataclass(frozen=True)
class TrialWork:
    """The work of a sweep (`cluster.workers.Work`); its items are names of trials.

    Attributes:
        folder: of the sweep, absolute.
        token: text that the study holds, so that a worker knows that it sees the same disk.
        target: the evaluation opponent against which scores are measured.
        stopping: True to stop trials early.
        base: what all trials have in common, by `Arguments.to_data`.
        command: what was typed, for the files of the agents.
    """

    folder: Path
    token: str
    target: str
    stopping: bool
    base: Mapping[str, Any]
    command: str

    def start(self) -> Callable[[str], None]:
        """Open the study, and return the function that runs a trial."""
        steps = self.base["total_steps"] if self.stopping else None
        study = open_study(self.folder, steps) if (self.folder / JOURNAL).exists() else None
        if study is None or study.user_attrs.get("token") != self.token:
            raise ClusterError(
                f"the worker on {platform.node()} does not see {self.folder}: trials keep their checkpoints there, so "
                "the folder (--out) must be on a disk that all machines of the cluster share, under the same path"
            )
        return partial(self.run, study)

    def run(self, study: Any, name: str) -> None:
        """Train to the end, unless the study stops the trial; errors are kept, so that the other trials go on."""
        from cellgames.training.runs.run import Progress, train

        optuna, folder = load_optuna(), self.folder / TRIALS / name
        _wait_for(folder)
        if (found := newest(study, name)).state.is_finished():
            return
        trial, arguments = optuna.Trial(study, found._trial_id), trial_arguments(arguments_of(self.base), found)
        reported, warnings = -1.0 if found.last_step is None else found.last_step, list[str]()

        def warn(message: str) -> None:
            warnings.append(message)
            trial.set_user_attr("warnings", warnings)

        def report(progress: Progress) -> None:
            nonlocal reported
            for line in progress.history:
                if line["steps"] <= reported:
                    continue
                reported = line["steps"]
                trial.set_user_attr("seconds", progress.seconds)
                trial.report(line[self.target], int(reported))
                if reported < arguments.total_steps and trial.should_prune():
                    raise optuna.TrialPruned

        try:
            finished = train(arguments, folder, command=self.command, report=report, warn=warn)
            study.tell(trial, finished.history[-1][self.target])
        except optuna.TrialPruned:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        except Exception as error:  # whatever these settings lead to
            text = " ".join(str(error).split())
            fail(study, name, text if isinstance(error, ValueError) else f"{type(error).__name__}: {text}")


def _wait_for(folder: Path) -> None:
    """Wait until no other worker is at work in the folder."""
    for _ in range(_PATIENCE_S if folder.is_dir() else 0):
        try:
            with opened(folder, ()):
                return
        except RunError:
            time.sleep(1)

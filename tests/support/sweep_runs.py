"""A tiny sweep, drivers and workers that die in it, and trials that report scores they are given."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from killing import KILL
from torch import Tensor
from training_runs import tiny

import cellgames
from cellgames.agents.playouts.random_agent import RandomAgent
from cellgames.cluster.connection import connected
from cellgames.training import PPOArguments
from cellgames.training.sweeps.sweep import SweepOptions, sweep
from cellgames.training.sweeps.sweep_study import newest
from cellgames.training.sweeps.sweep_work import TrialWork

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial

FATAL = "FATAL_AFTER"
"""Names a file; while it is there, `Fatal` removes it when it is asked for the tenth time, and its process dies."""


class Fatal(RandomAgent):
    """Random, and the end of one process."""

    asked = 0

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        Fatal.asked += 1
        armed = Path(os.environ.get(FATAL, "/nonexistent"))
        if Fatal.asked >= 10 and armed.exists():
            armed.unlink()
            os.kill(os.getpid(), KILL)
        return super().act(observation, action_mask, env_ids, generator)


VARY = ("learning_rate=0.003,0.03", "opponents=self|self=0.5,nobody=0.5")
"""Two trials that learn, and two whose opponents do not exist."""


def base() -> PPOArguments:
    """Of all of them."""
    usual = PPOArguments.fitted(cellgames.make("torus-v0", size=2))
    return tiny(opponents=usual.opponents, eval_opponents=("sweep_runs:Fatal",), eval_every=1, total_steps=400)


def sweep_until_killed(out: str, address: str) -> None:
    """The process dies as soon as a trial is finished; it joins the cluster at the address."""

    def die(trials: Sequence[FrozenTrial]) -> None:
        if any(trial.state.name == "COMPLETE" for trial in trials):
            os.kill(os.getpid(), KILL)

    with connected(address):
        sweep(base(), out, SweepOptions(vary=VARY, grid=True, stopping=False, ray_workers=1), report=die)


SCORES = {f"{number:03d}-seed=0": score for number, score in enumerate((0.9, 0.8, 0.85, 0.2, 0.95), 1)}


class Scripted(TrialWork):
    """In place of trials: an evaluation every 50 steps, always with the same score."""

    def run(self, study: Study, name: str) -> None:
        import optuna

        time.sleep(0.5)  # a driver that is killed now leaves no lock of the study behind
        trial = optuna.Trial(study, newest(study, name)._trial_id)
        for steps in range(50, 901, 50):
            trial.report(SCORES[name], steps)
            if steps < 900 and trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                return
        study.tell(trial, SCORES[name])


class Blind(TrialWork):
    """In place of trials on a machine that has another disk."""

    def start(self) -> Callable[[str], None]:
        return TrialWork(**{**vars(self), "token": "another disk"}).start()

"""A tiny sweep, drivers and workers that die in it, and a trial that only reports what it is told to."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from training_runs import tiny

from cellgames.agents.random_agent import RandomAgent
from cellgames.cluster import connected
from cellgames.training.sweeps import Sweep, SweepProgress, sweep

FATAL = "FATAL_AFTER"
"""Names a file; while it is there, `Fatal` removes it when it is asked for the tenth time, and its process dies."""


class Fatal(RandomAgent):
    """Random, and the end of one process."""

    asked = 0

    def act(self, observation: Tensor, action_mask: Tensor, lanes: Tensor, generator: torch.Generator) -> Tensor:
        Fatal.asked += 1
        armed = Path(os.environ.get(FATAL, "/nonexistent"))
        if Fatal.asked >= 10 and armed.exists():
            armed.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(observation, action_mask, lanes, generator)


def small_sweep(out: Path, report: Callable[[SweepProgress], None] = lambda progress: None) -> Sweep:
    """Two trials that learn, and two whose opponents do not exist."""
    base = tiny(yardsticks=("sweep_runs:Fatal",), evaluate_every=1)
    vary = ["learning_rate=0.003,0.03", "opponents=self|self=0.5,nobody=0.5"]
    return sweep(base, vary, out, grid=True, stopping=False, report=report)


def sweep_until_killed(out: str, address: str) -> None:
    """The process dies as soon as a trial is finished; it joins the cluster at the address."""

    def die(progress: SweepProgress) -> None:
        if progress.done - progress.failed >= 1:
            os.kill(os.getpid(), signal.SIGKILL)

    with connected(address):
        small_sweep(Path(out), die)


SCORES = {"001-seed=0": 0.9, "002-seed=0": 0.2, "003-seed=0": 0.95}


def scripted(config: Mapping[str, Any], job: Any) -> None:
    """In place of a trial: an evaluation every 50 steps, always with the same score."""
    from ray import tune

    name = config["trial"]
    for steps in range(50, 900, 50):
        tune.report({"state": "running", "steps": steps, "score": SCORES[name], "seconds": 0.0})
    tune.report({"state": "finished", "steps": 900, "score": SCORES[name], "seconds": 0.0})

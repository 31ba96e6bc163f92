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

import cellgames
from cellgames.agents.random_agent import RandomAgent
from cellgames.cluster.connection import connected
from cellgames.training import PPOArguments
from cellgames.training.sweeps.sweep import SweepProgress, sweep

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
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(observation, action_mask, env_ids, generator)


VARY = ("learning_rate=0.003,0.03", "opponents=self|self=0.5,nobody=0.5")
"""Two trials that learn, and two whose opponents do not exist."""


def base() -> PPOArguments:
    """Of all of them."""
    usual = PPOArguments.fitted(cellgames.make("torus-v0", size=2))
    return tiny(opponents=usual.opponents, eval_opponents=("sweep_runs:Fatal",), eval_every=1, total_steps=400)


def sweep_until_killed(out: str, address: str) -> None:
    """The process dies as soon as a trial is finished; it joins the cluster at the address."""

    def die(progress: SweepProgress) -> None:
        if progress.done - progress.failed >= 1:
            os.kill(os.getpid(), signal.SIGKILL)

    with connected(address):
        sweep(base(), VARY, out, grid=True, stopping=False, workers=1, report=die)


SCORES = {f"{number:03d}-seed=0": score for number, score in enumerate((0.9, 0.8, 0.85, 0.2, 0.95), 1)}


def scripted(scores: Mapping[str, float]) -> Callable[..., None]:
    """In place of a trial: an evaluation every 50 steps, always with the same score; without one it is refused.

    Made in a function, it is sent to workers as it is, so that these need not import torch.
    """

    def play(config: Mapping[str, Any], job: None) -> None:
        from ray import tune

        score = scores.get(config["trial"])
        if score is None:
            tune.report({"state": "refused", "error": "it sees another disk"})
            return
        for steps in range(50, 900, 50):
            tune.report({"state": "running", "steps": steps, "score": score, "seconds": 0.0})
        tune.report({"state": "finished", "steps": 900, "score": score, "seconds": 0.0})

    return play

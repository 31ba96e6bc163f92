"""MaskablePPO of sb3-contrib as a contestant: whole iterations of acting, stepping and learning."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from benchmarks.measurement import Measurement, timed

__all__ = ["LARGE_BATCHES", "TUTORIAL", "Settings", "learn"]


@dataclass(frozen=True)
class Settings:
    """How MaskablePPO learns; everything else is its default.

    rollout: actions between two updates, of all environments together.
    batch:   actions in a minibatch.
    epochs:  times that each action is learned from.
    """

    rollout: int
    batch: int
    epochs: int

    def __str__(self) -> str:
        return f"rollouts of {self.rollout:,}, minibatches of {self.batch:,}, {self.epochs} epochs"


TUTORIAL = Settings(rollout=2048, batch=64, epochs=10)  # MaskablePPO's defaults for one environment
LARGE_BATCHES = Settings(rollout=8192, batch=1024, epochs=4)


def learn(name: str, library: str, env: Any, num_envs: int, settings: Settings, seconds: float) -> Measurement:
    """Agent steps a second of `MaskablePPO("MlpPolicy", env).learn`, the first iteration left out.

    An agent step is an action of the policy that learns, with its share of the updates.

    Args:
        name: of the contestant.
        library: that the environments come from.
        env: what MaskablePPO takes.
        num_envs: environments in it; they divide the rollout.
        settings: see there.
        seconds: to measure; an iteration is always finished.
    """
    from sb3_contrib import MaskablePPO

    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=settings.rollout // num_envs,
        batch_size=settings.batch,
        n_epochs=settings.epochs,
        seed=0,
        device="cpu",
    )

    def iterate() -> int:
        before = model.num_timesteps
        model.learn(settings.rollout, reset_num_timesteps=False)
        return model.num_timesteps - before

    iterate()
    steps, elapsed = timed(iterate, seconds)
    return Measurement(
        name,
        library,
        f"{version(library)} (sb3-contrib {version('sb3-contrib')})",
        num_envs,
        "agent steps",
        steps,
        elapsed,
    )

"""Checkpoints of MaskablePPO, so that a killed run continues exactly.

A checkpoint has the model and the pool only, because `SelfPlayCallback` restarts games and generators at these points.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cellgames.runs.run_folder import RunError
from cellgames.training.checkpoint_files import read_state, write_state
from cellgames.training.selfplay.opponent_pool import Pool
from cellgames.training.selfplay.updates import load_optimizer
from cellgames.utils.foreign_text import clipped, shown

from .callbacks import IterationCallback, SelfPlayCallback
from .maskable_ppo import BoardPolicy
from .sb3_import import MaskablePPO

__all__ = ["FORMAT", "CheckpointCallback", "continue_from", "load_model_state", "model_state"]

FORMAT = 1
"""Format of the file; it grows when older files can no longer be continued."""


def model_state(model: MaskablePPO) -> dict[str, Any]:
    """Return the state of a model, as `torch.load` reads it with `weights_only=True`."""
    return {
        "policy": model.policy.state_dict(),
        "optimizer": model.policy.optimizer.state_dict(),
        "timesteps": model.num_timesteps,
        "updates": model._n_updates,
        "episodes": [{name: episode[name] for name in "rl"} for episode in model.ep_info_buffer or ()],  # without times
    }


def load_model_state(model: MaskablePPO, state: Mapping[str, Any]) -> None:
    """Restore the result of `model_state` in a model made with the same arguments."""
    model.policy.load_state_dict(state["policy"])
    load_optimizer(model.policy.optimizer, state["optimizer"])
    counters, episodes = (state["timesteps"], state["updates"]), list(state["episodes"])
    if not all(type(number) is int and number >= 0 for number in counters):
        raise ValueError(f"expected numbers of steps and updates, got {shown(counters)}")
    if not all(isinstance(one, dict) and {type(one[name]) for name in "rl"} <= {int, float} for one in episodes):
        raise ValueError(f"expected results and lengths of episodes, got {shown(episodes)}")
    model.num_timesteps, model._n_updates = counters
    model.ep_info_buffer = deque(episodes, maxlen=model._stats_window_size)
    model.ep_success_buffer = deque(maxlen=model._stats_window_size)  # of which games have none


class CheckpointCallback(IterationCallback):
    """A callback that writes checkpoints where `SelfPlayCallback` restarts games and generators, and at the end.

    To continue a killed run, make a model with the same arguments and call `continue_from` and
    `model.learn(total - model.num_timesteps, callbacks, reset_num_timesteps=False)`. On the same device the results are
    bit-equal to those of a run that was not killed.

    Args:
        path: of the checkpoint; a new one takes the old one's place.
        self_play: the other callback of the same run.
    """

    def __init__(self, path: Path, self_play: SelfPlayCallback) -> None:
        super().__init__()
        self.path, self.self_play = path, self_play

    def _on_training_start(self) -> None:
        if getattr(self.self_play, "model", None) is not self.model:
            raise ValueError(
                "CheckpointCallback expects its SelfPlayCallback among the callbacks of the same run, which begins all "
                "games and chance anew where checkpoints are"
            )

    def _on_rollout_start(self) -> None:
        if self.self_play.restarting:
            self._keep()

    def _on_training_end(self) -> None:
        self._keep()

    def _keep(self) -> None:
        about = {"format": FORMAT, **_about(self.model)}
        state = {**about, "model": model_state(self.model), "pool": self.self_play.pool.state_dict()}
        write_state(self.path, state)
        self.self_play.pool.prune()


def continue_from(path: Path, model: MaskablePPO, pool: Pool) -> None:
    """Restore a checkpoint in a new model and a new pool.

    Args:
        path: of `CheckpointCallback`.
        model: made with the arguments of the run.
        pool: of the run's folder; weights in it that are newer than the checkpoint are deleted.

    Raises:
        ValueError: no checkpoint, a damaged one, or one of another format, game or size.
    """
    if not path.is_file():
        raise ValueError(f"{path}: expected a checkpoint, found none")
    try:
        data: dict[str, Any] = read_state(path, model.device)
        found = {name: data[name] for name in ("format", "game", "parameters", "size")}
    except Exception as error:  # unpickling fails in many ways
        raise ValueError(
            f"{path} is no checkpoint of CheckpointCallback ({type(error).__name__}: {clipped(str(error), 300)})"
        ) from error
    expected = {"format": FORMAT, **_about(model)}
    for name, value in found.items():
        if value != expected[name]:
            raise ValueError(f"{path}: expected a checkpoint of {name} {expected[name]}, got {shown(value)}")
    try:
        load_model_state(model, data["model"])
        pool.load_state_dict(data["pool"])
    except RunError:
        raise
    except Exception as error:  # torch raises many kinds
        raise ValueError(f"{path} is damaged ({type(error).__name__}: {clipped(str(error), 300)})") from error


def _about(model: MaskablePPO) -> dict[str, Any]:
    policy = model.policy
    if not isinstance(policy, BoardPolicy):
        raise ValueError(f"expected a model with BoardPolicy, got {type(policy).__name__}")
    return {"game": policy.game.id, "parameters": policy.game.parameters, "size": dataclasses.asdict(policy.size)}

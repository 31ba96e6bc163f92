"""MaskablePPO by self-play as a run drives it."""

from __future__ import annotations

import contextlib
import math
import random
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from typing_extensions import override

from cellgames.agents.networks.networks import Size
from cellgames.envs.core import Game
from cellgames.training.arguments import Arguments, MaskableArguments
from cellgames.training.ppo.ppo import PPOLearner
from cellgames.training.selfplay.learner import Iteration, Learner
from cellgames.training.selfplay.opponents import SELF
from cellgames.training.selfplay.updates import mean
from cellgames.utils.errors import InputError

from .callbacks import SelfPlayCallback
from .maskable_ppo import BoardPolicy, LearnerVecEnv
from .sb3_import import Logger, MaskablePPO

_LOGGED = {
    "policy_loss": "policy_gradient_loss",
    "value_loss": "value_loss",
    "entropy": "entropy_loss",
    "approx_kl": "approx_kl",
    "clip_fraction": "clip_fraction",
    "explained_variance": "explained_variance",
}
"""SB3's names of the metrics; its entropy is negated."""


class MaskableLearner(Learner):
    """The learner of `maskable-ppo`: it does what `MaskablePPO.learn` does, an iteration at a time."""

    METRICS: ClassVar[Mapping[str, str]] = {
        name: PPOLearner.METRICS[name] for name in (*_LOGGED, "others_score", "mean_return")
    }

    def __init__(self, game: Game, arguments: Arguments, folder: Path, device: torch.device) -> None:
        assert isinstance(arguments, MaskableArguments)  # `ALGORITHMS` pairs them
        self.sample = arguments.sample
        self._chance = _global_chance()
        size, rate = Size(arguments.channels, arguments.layers), arguments.learning_rate
        same = ("gamma", "gae_lambda", "clip_range", "ent_coef", "vf_coef", "max_grad_norm")
        self.env = LearnerVecEnv(game, arguments.num_envs, seed=0, device=device)
        self.model = MaskablePPO(
            BoardPolicy,
            self.env,
            learning_rate=lambda remaining: rate * (0.1 + 0.9 * remaining),
            n_steps=arguments.num_steps,
            batch_size=_minibatch(arguments),
            n_epochs=arguments.num_epochs,
            **{name: getattr(arguments, name) for name in same},
            policy_kwargs={"game": game, "size": size},
            device=device,
        )
        assert isinstance(self.model.policy, BoardPolicy)
        super().__init__(game, arguments, folder, device, network=self.model.policy.network)
        self.self_play = SelfPlayCallback(self.pool, arguments.opponents, snapshot_every=None, restart_every=None)
        self.model.set_logger(Logger(folder=None, output_formats=[]))
        self.model._setup_learn(arguments.total_steps, self.self_play)

    @override
    def restart(self, seed: int) -> None:
        with self._apart():
            self.self_play.restart(seed)

    @override
    def games_state(self) -> dict[str, Any] | None:
        games = self.self_play.games_state()
        python, numpy = self._chance
        numpy = [part.tolist() if isinstance(part, np.ndarray) else part for part in numpy]
        return None if games is None else {**games, "python": python, "numpy": numpy}

    @override
    def load_games(self, state: Mapping[str, Any]) -> None:
        with self._apart():
            self.self_play.load_games(state)
            numpy = state["numpy"]
            _set_global_chance((state["python"], (numpy[0], np.array(numpy[1], dtype=np.uint32), *numpy[2:])))

    @override
    def iterate(self, progress: float) -> Iteration:
        model, self_play = self.model, self.self_play
        model._current_progress_remaining = 1 - progress
        with self._apart():
            model.collect_rollouts(self.env, self_play, model.rollout_buffer, model.n_steps)
            model.train()
        logged = model.logger.name_to_value
        metrics = {name: float(logged[f"train/{theirs}"]) for name, theirs in _LOGGED.items()}
        metrics["entropy"] *= -1
        model.logger.dump()  # forgets it
        others = [score for name, scores in self_play.results.items() if name != SELF for score in scores]
        metrics |= {"others_score": mean(others), "mean_return": mean(self_play.returns)}
        return Iteration(model.n_steps * model.n_envs, len(self_play.turns), sum(self_play.turns), metrics)

    @override
    def state_dict(self) -> dict[str, Any]:
        model = self.model
        return {
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "timesteps": model.num_timesteps,
            "updates": model._n_updates,
            "episodes": [{name: one[name] for name in "rl"} for one in model.ep_info_buffer or ()],  # without times
            "pool": self.pool.state_dict(),
        }

    @override
    def load_state_dict(self, state: dict[str, Any]) -> None:
        model = self.model
        model.policy.load_state_dict(state["policy"])
        model.policy.optimizer.load_state_dict(state["optimizer"])
        model.num_timesteps, model._n_updates = state["timesteps"], state["updates"]
        model.ep_info_buffer = deque(state["episodes"], maxlen=model._stats_window_size)
        model.ep_success_buffer = deque(maxlen=model._stats_window_size)  # of which games have none
        self.pool.load_state_dict(state["pool"])

    @contextlib.contextmanager
    def _apart(self) -> Iterator[None]:
        """Use own states of the global generators of Python and numpy, from which SB3 draws, and restore the others."""
        outside = _global_chance()
        _set_global_chance(self._chance)
        try:
            yield
        finally:
            self._chance = _global_chance()
            _set_global_chance(outside)


def _global_chance() -> tuple[Any, Any]:
    return random.getstate(), np.random.get_state()  # noqa: NPY002  # what SB3 draws from


def _set_global_chance(state: tuple[Any, Any]) -> None:
    random.setstate(state[0])
    np.random.set_state(state[1])  # noqa: NPY002  # what SB3 draws from


def _minibatch(arguments: Arguments) -> int:
    """Return a size of minibatches near the one asked for, so that all have nearly the same size."""
    rows = arguments.num_envs * arguments.num_steps
    size = math.ceil(rows / max(1, round(rows / arguments.minibatch_size)))
    if rows % size == 1 or rows == 1:
        expected = f"a size that does not leave a single one of num_envs x num_steps = {rows} actions"
        raise InputError("minibatch_size", expected, arguments.minibatch_size)
    return size

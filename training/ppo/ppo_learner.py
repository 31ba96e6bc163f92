"""PPO by self-play as a run drives it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import torch
from typing_extensions import override

from cellgames.agents.networks.networks import Network
from cellgames.envs.core import Game
from cellgames.training.arguments import Arguments, PPOArguments
from cellgames.training.selfplay.actors import make_play
from cellgames.training.selfplay.learner import Iteration, Learner
from cellgames.training.selfplay.opponent_mix import Opponents, parse_mix
from cellgames.training.selfplay.opponent_pool import Pool
from cellgames.training.selfplay.rollouts import SelfPlay
from cellgames.training.selfplay.updates import score_against_others

from .ppo import PPO, Hyperparameters


class PPOLearner(Learner):
    """The learner of `ppo`: PPO with games in this process or in actors."""

    METRICS: ClassVar[Mapping[str, str]] = {
        "policy_loss": "PPO's clipped objective, negated; near 0, and no measure of strength",
        "value_loss": "mean squared error of the value, in units of the network",
        "entropy": "entropy of the policy in nats; 0 if it always plays the same action",
        "approx_kl": "estimated KL divergence of the policy before the iteration from the one after it",
        "clip_fraction": "share of the actions whose probability moved by more than `clip_range`",
        "grad_norm": "norm of the gradient before it is cut to `max_grad_norm`",
        "explained_variance": "share of the variance of the value targets that the value explains; 1 is perfect",
        "others_score": "score in the training games against others than itself, a win 1 and a draw 1/2",
        "mean_return": "return of a game, mean over the learner's seats; about 0 in zero-sum self-play",
    }

    def __init__(self, game: Game, arguments: Arguments, folder: Path, device: torch.device) -> None:
        assert isinstance(arguments, PPOArguments)  # `ALGORITHMS` pairs them
        super().__init__(game, arguments, folder, device)
        self.sample = arguments.sample
        self.play = make_play(_play, game, arguments, self.network, self.pool, device, self.warn)
        names = [field.name for field in dataclasses.fields(Hyperparameters)]
        self.ppo = PPO(self.network, self.play, Hyperparameters(**{name: getattr(arguments, name) for name in names}))
        self.ppo.generator, self.optimizer = self.generator, self.ppo.optimizer

    @override
    def iterate(self, progress: float) -> Iteration:
        rollout, losses, steps = self.ppo.iterate(progress)
        ended = rollout.ended
        mean_return = sum(ended.returns.values()) / ended.games if ended.games else math.nan
        values = (*dataclasses.astuple(losses), score_against_others(ended), mean_return)
        return Iteration(steps, ended.games, ended.turns, dict(zip(self.METRICS, values, strict=True)))


def _play(
    game: Game, arguments: PPOArguments, network: Network, pool: Pool, num_envs: int, device: torch.device
) -> SelfPlay:
    """Return the games of one process."""
    opponents = Opponents(game, parse_mix(arguments.opponents), pool, device)
    return SelfPlay(game, network, opponents, num_envs, device, mixed_precision=arguments.mixed_precision)

"""PPO by self-play, on the device on which the games are.

Schulman et al., "Proximal policy optimization algorithms", 2017, with the details of Huang et al., "The 37
implementation details of proximal policy optimization", 2022, that matter here. Read `PPO.iterate` from top to bottom.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import override

from cellgames.agents.networks.networks import Network
from cellgames.envs.core import Game
from cellgames.training.arguments import Arguments, PPOArguments
from cellgames.training.selfplay.learner import Iteration, Learner
from cellgames.training.selfplay.opponents import Opponents, parse_mix
from cellgames.training.selfplay.rollouts import Rollout, SelfPlay
from cellgames.training.selfplay.updates import anneal, estimate, explained_variance, minibatches, score_against_others


@dataclass(frozen=True)
class Hyperparameters:
    """Settings of the update; `arguments.PPOArguments` explains them."""

    num_steps: int
    num_epochs: int
    minibatch_size: int
    learning_rate: float
    gamma: float
    gae_lambda: float
    clip_range: float
    ent_coef: float
    vf_coef: float
    max_grad_norm: float


@dataclass(frozen=True)
class Losses:
    """Metrics of an iteration: means over its minibatches.

    Attributes:
        policy: clipped objective, negated.
        value: mean squared error of the value.
        entropy: entropy of the policy, in nats.
        approx_kl: estimate of how far the policy moved.
        clip_fraction: share of the actions whose probability ratio was clipped.
        grad_norm: norm of the gradient before it was cut.
        explained_variance: share of the variance of the targets that the values explained before the iteration.
    """

    policy: float
    value: float
    entropy: float
    approx_kl: float
    clip_fraction: float
    grad_norm: float
    explained_variance: float


class PPO:
    """Proximal policy optimization of a network, which is changed in place, by its games in progress."""

    def __init__(self, network: Network, play: SelfPlay, hyperparameters: Hyperparameters) -> None:
        self.network, self.play, self.h = network, play, hyperparameters
        fused = next(network.parameters()).device.type == "cuda"
        self.optimizer = torch.optim.Adam(network.parameters(), lr=hyperparameters.learning_rate, eps=1e-5, fused=fused)
        self.generator = torch.Generator()

    def iterate(self, progress: float) -> tuple[Rollout, Losses, int]:
        """Play, then learn from it; return the rollout, the metrics, and the number of actions that were learned from.

        The progress of the run is from 0 to 1; the learning rate falls with it (`anneal`).
        """
        h = self.h
        anneal(self.optimizer, h.learning_rate, progress)
        rollout = self.play.collect(h.num_steps)
        estimates = estimate(
            rollout.value, rollout.reward, rollout.player, rollout.done, gamma=h.gamma, gae_lambda=h.gae_lambda
        )
        # The learner's actions, and those whose sequel is known; opponents' are not its own.
        rows = (rollout.learner_mask & estimates.known).flatten().nonzero().squeeze(1)
        flat = [
            part.flatten(0, 1)[rows]
            for part in (rollout.observation, rollout.mask, rollout.action, rollout.log_prob, *estimates[:2])
        ]
        explained = explained_variance(*flat[4:])
        self.network.train()
        order = minibatches(len(rows), h.minibatch_size, h.num_epochs, self.generator, self.play.device)
        metrics = [self._learn(*(part[places] for part in flat)) for places in order]
        means: tuple[float, ...] = tuple(torch.stack(metrics).mean(0).tolist()) if metrics else (math.nan,) * 6
        return rollout, Losses(*means, explained), len(rows)  # type: ignore[call-arg]  # six of them, and one

    def _learn(
        self, observation: Tensor, mask: Tensor, action: Tensor, before: Tensor, advantage: Tensor, target: Tensor
    ) -> Tensor:
        """Take one step of the optimizer and return the first six of `Losses`, float [6]."""
        advantage = (advantage - advantage.mean()) / (advantage.std(correction=0) + 1e-8)
        self.optimizer.zero_grad()
        loss, metrics = self._losses(observation, mask, action, before, advantage, target)
        loss.backward()
        grad_norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.h.max_grad_norm)
        self.optimizer.step()
        return torch.cat((metrics, grad_norm[None])).detach()

    def _losses(
        self, observation: Tensor, mask: Tensor, action: Tensor, before: Tensor, advantage: Tensor, target: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the loss and the first five of `Losses`, float [5]; `advantage` is normalized."""
        choices, value = self.network.policy_and_value(observation, mask)
        log_prob, entropy = choices.evaluate_actions(action)
        log_ratio = log_prob - before
        ratio = log_ratio.exp()
        bounded = ratio.clamp(1 - self.h.clip_range, 1 + self.h.clip_range)
        policy_loss = -torch.minimum(advantage * ratio, advantage * bounded).mean()
        value_loss = functional.mse_loss(value, target)
        loss = policy_loss + self.h.vf_coef * value_loss - self.h.ent_coef * entropy.mean()
        with torch.no_grad():
            approx_kl = (ratio - 1 - log_ratio).mean()  # Schulman's third estimator
            clip_fraction = ((ratio - 1).abs() > self.h.clip_range).float().mean()
            return loss, torch.stack((policy_loss, value_loss, entropy.mean(), approx_kl, clip_fraction))


class PPOLearner(Learner):
    """The learner of `ppo`: PPO by self-play."""

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
        opponents = Opponents(game, parse_mix(arguments.opponents), self.pool, device)
        self.play = SelfPlay(game, self.network, opponents, arguments.num_envs, device)
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

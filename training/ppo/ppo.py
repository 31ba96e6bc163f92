"""PPO by self-play, on the device on which the games are.

Schulman et al., "Proximal policy optimization algorithms", 2017, with the details of Huang et al., "The 37
implementation details of proximal policy optimization", 2022, that matter here. Read `PPO.iterate` from top to bottom.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from cellgames.agents.networks.networks import Network
from cellgames.training.distributed import ALONE, Group
from cellgames.training.selfplay.rollouts import Play, Rollout

from .advantages import estimate

__all__ = ["PPO", "Hyperparameters", "Losses"]


@dataclass(frozen=True)
class Hyperparameters:
    """Of the learning itself; `arguments.PPOArguments` explains them."""

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
    """Metrics of one iteration of learning: means over its minibatches.

    explained_variance is the share of the variance of the targets that the values explained before it.
    """

    policy: float
    value: float
    entropy: float
    approx_kl: float
    clip_fraction: float
    grad_norm: float
    explained_variance: float


class PPO:
    """The learner.

    Args:
        network: changed in place.
        play: where its games are played.
        hyperparameters: see there.

    Attributes:
        group: the processes that learn as one; this one alone unless set.
    """

    def __init__(self, network: Network, play: Play[Rollout], hyperparameters: Hyperparameters) -> None:
        self.network, self.play, self.h = network, play, hyperparameters
        fused = next(network.parameters()).device.type == "cuda"
        self.optimizer = torch.optim.Adam(network.parameters(), lr=hyperparameters.learning_rate, eps=1e-5, fused=fused)
        self.generator = torch.Generator()
        self.group: Group = ALONE

    def iterate(self, progress: float) -> tuple[Rollout, Losses, int]:
        """Play, then learn from it.

        Args:
            progress: of the run, from 0 to 1; the learning rate falls to a tenth of what it was, along a line.

        Returns:
            What was played, how learning went, and from how many actions was learned. Of several processes each tells
            of what it played; means of losses over processes are those of all actions.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = self.h.learning_rate * (1 - 0.9 * progress)
        rollout = self.play.collect(self.h.num_steps)
        estimates = estimate(
            rollout.value,
            rollout.reward,
            rollout.player,
            rollout.done,
            gamma=self.h.gamma,
            gae_lambda=self.h.gae_lambda,
        )
        # The learner's actions, and those whose sequel is known; opponents' are not its own.
        rows = (rollout.learner_mask & estimates.known).flatten().nonzero().squeeze(1)
        flat = [
            part.flatten(0, 1)[rows]
            for part in (rollout.observation, rollout.mask, rollout.action, rollout.log_prob, *estimates[:2])
        ]
        error, variance = (float(part.var()) if len(rows) > 1 else 0.0 for part in flat[4:])
        explained_variance = 1 - error / variance if variance > 0 else math.nan
        self.network.train()
        total = sum(self.group.exchange(len(rows)))
        metrics = [self._learn(*(part[places] for part in flat)) for places in self._minibatches(len(rows), total)]
        mean: tuple[float, ...] = tuple(torch.stack(metrics).mean(0).tolist()) if metrics else (math.nan,) * 6
        return rollout, Losses(*mean, explained_variance), len(rows)  # type: ignore[call-arg]  # six of them, and one

    def _minibatches(self, rows: int, total: int) -> Iterator[Tensor]:
        """Row numbers in random order, as often as there are epochs; parts of nearly the same size.

        Every process makes as many, out of the `rows` that it has of the `total`; a part may be empty.
        """
        parts = max(1, round(total / self.h.minibatch_size))
        for _ in range(self.h.num_epochs if total else 0):
            order = torch.randperm(rows, generator=self.generator).to(self.play.device)
            yield from order.tensor_split(parts)

    def _learn(
        self, observation: Tensor, mask: Tensor, action: Tensor, before: Tensor, advantage: Tensor, target: Tensor
    ) -> Tensor:
        """Take one step of the optimizer and return the first six of `Losses`, float [6]."""
        advantage, weight = self.group.standard(advantage)
        self.optimizer.zero_grad()
        metrics = target.new_zeros(5)
        if len(target):  # a process that has no row of a minibatch takes the step of the others
            loss, metrics = self._losses(observation, mask, action, before, advantage, target)
            (loss * weight).backward()
        self.group.average_gradients(self.network)
        grad_norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.h.max_grad_norm)
        self.optimizer.step()
        return torch.cat((metrics * weight, grad_norm[None])).detach()

    def _losses(
        self, observation: Tensor, mask: Tensor, action: Tensor, before: Tensor, advantage: Tensor, target: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the loss and the first five of `Losses`, float [5]; `advantage` is normalized."""
        device = self.play.device.type
        with torch.autocast(device, torch.bfloat16, enabled=self.play.mixed_precision):
            choices, value = self.network.policy_and_value(observation, mask)
        log_prob, entropy = choices.evaluate_actions(action)
        log_ratio = log_prob - before
        ratio = log_ratio.exp()
        policy_loss = -torch.minimum(
            advantage * ratio, advantage * ratio.clamp(1 - self.h.clip_range, 1 + self.h.clip_range)
        ).mean()
        value_loss = functional.mse_loss(value, target)
        loss = policy_loss + self.h.vf_coef * value_loss - self.h.ent_coef * entropy.mean()
        with torch.no_grad():
            approx_kl = (ratio - 1 - log_ratio).mean()  # Schulman's third estimator
            clip_fraction = ((ratio - 1).abs() > self.h.clip_range).float().mean()
            return loss, torch.stack((policy_loss, value_loss, entropy.mean(), approx_kl, clip_fraction))

    def state_dict(self) -> dict[str, Any]:
        """Network, optimizer and the order of minibatches, for a checkpoint."""
        return {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse of `state_dict`."""
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["generator"].cpu())

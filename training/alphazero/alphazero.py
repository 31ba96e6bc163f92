"""AlphaZero with Gumbel search: self-play by search, and a network that learns from the searches.

Danihelka, Guez, Schrittwieser, Silver, "Policy improvement by planning with Gumbel", ICLR 2022; Silver et al., "A
general reinforcement learning algorithm that masters chess, shogi, and Go through self-play", 2018. The network's
policy is pulled towards the policy of the searches, its value towards results and the searches' later values
(lambda-returns). Positions are learned from as often as `num_epochs` says, on average, out of a replay of the latest,
each time moved by a random symmetry of the board.

Letters: `X` positions of a minibatch, `A` actions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import override

from cellgames.agents.networks.networks import Network
from cellgames.agents.search import GumbelSearch, NetworkEvaluator
from cellgames.envs.core import Game
from cellgames.training.arguments import Arguments
from cellgames.training.distributed import split_envs
from cellgames.training.ppo.advantages import estimate
from cellgames.training.selfplay.actors import make_play
from cellgames.training.selfplay.learner import Iteration, Learner
from cellgames.training.selfplay.opponent_mix import Opponents, parse_mix
from cellgames.training.selfplay.opponent_pool import Pool
from cellgames.training.selfplay.rollouts import Play
from cellgames.training.selfplay.updates import anneal, explained_variance, mean, score_against_others

from .alphazero_arguments import AlphaZeroArguments
from .replay_buffer import Positions, Replay
from .search_play import Searched, SearchPlay

__all__ = ["AlphaZeroLearner"]


class AlphaZeroLearner(Learner):
    """The learner of `alphazero`. Its agent plays by the policy alone, so that evaluations cost no search."""

    arguments: AlphaZeroArguments
    play: Play[Searched]

    METRICS: ClassVar[Mapping[str, str]] = {
        "policy_loss": "cross entropy of the policy against that of the searches, in nats; at best their entropy",
        "value_loss": "mean squared error of the value, from -1 to 1",
        "entropy": "entropy of the searches' policy, in nats",
        "kl_divergence": "KL divergence of the policy from that of the searches, in nats: what searching still adds",
        "grad_norm": "norm of the gradient before it is cut to `max_grad_norm`",
        "explained_variance": "share of the variance of the value targets that the searches explain; 1 is perfect",
        "others_score": "score in the training games against others than itself, a win 1 and a draw 1/2",
        "first_player": "share of the games that the first player won",
    }

    OWN = ("generator", "replay")

    def __init__(self, game: Game, arguments: Arguments, folder: Path, device: torch.device) -> None:
        assert isinstance(arguments, AlphaZeroArguments)  # `ALGORITHMS` pairs them
        _check(game, arguments)
        super().__init__(game, arguments, folder, device)
        self.play = make_play(_play, game, arguments, self.network, self.pool, device, self.warn)
        self.replay = Replay(game, arguments.buffer_size, device)
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(),
            lr=arguments.learning_rate,
            weight_decay=arguments.weight_decay,
            fused=device.type == "cuda",
        )

    @override
    @classmethod
    def share(cls, arguments: Arguments, world: int) -> Arguments:
        assert isinstance(arguments, AlphaZeroArguments)
        return split_envs(arguments, world, buffer_size=math.ceil(arguments.buffer_size / world))  # of each

    @override
    def iterate(self, progress: float) -> Iteration:
        h = self.arguments
        anneal(self.optimizer, h.learning_rate, progress)
        rollout = self.play.collect(h.num_steps)
        estimates = estimate(
            rollout.value, rollout.reward, rollout.player, rollout.done, gamma=h.gamma, gae_lambda=h.gae_lambda
        )
        # The learner's moves, and those whose sequel is known.
        rows = (rollout.learner_mask & estimates.known).flatten().nonzero().squeeze(1)
        parts = (rollout.observation, rollout.mask, rollout.policy, estimates.target)
        self.replay.add(Positions(*(part.flatten(0, 1)[rows] for part in parts)))
        self.network.train()
        new = sum(self.group.all_gather(len(rows)))
        steps = max(1, round(h.num_epochs * new / h.minibatch_size)) if new else 0
        metrics = [self._learn(self._minibatch() if self._part() else None) for _ in range(steps)]
        losses: list[float] = torch.stack(metrics).mean(0).tolist() if metrics else [math.nan] * 5
        explained = explained_variance(*(part.flatten()[rows] for part in (estimates.advantage, estimates.target)))
        ended, first = rollout.ended, rollout.reward[rollout.done][:, 0] > 0
        values = (*losses, explained, score_against_others(ended), mean(first.float().tolist()))
        return Iteration(len(rows), ended.games, ended.turns, dict(zip(self.METRICS, values, strict=True)))

    def _part(self) -> int:
        """Return how many positions of a minibatch this process draws; 0 without any."""
        return len(range(self.group.rank, self.arguments.minibatch_size, self.group.world)) if len(self.replay) else 0

    def _minibatch(self) -> Positions:
        """Draw positions from the replay, each moved by a random symmetry."""
        drawn = self.replay.sample(self._part(), self.generator)
        count = self.game.symmetries
        if count == 1:
            return drawn
        which = torch.randint(count, (len(drawn.value),), generator=self.generator, device="cpu").to(self.device)
        numbers = torch.stack((drawn.mask.float(), drawn.policy), 1)
        observation, moved = self.game.transform(drawn.observation, numbers, which)
        return Positions(observation, moved[:, 0] > 0, moved[:, 1], drawn.value)

    def _learn(self, positions: Positions | None) -> Tensor:
        """Take a step of the optimizer, and return the first five of `METRICS`, float [5].

        A process without positions takes the step of the others.
        """
        weight = self.group.mean_weight(0 if positions is None else len(positions.value), self.device)
        self.optimizer.zero_grad()
        metrics = torch.zeros(4, device=self.device, dtype=torch.float32)
        if positions is not None:
            loss, metrics = self._losses(positions)
            (loss * weight).backward()
        self.group.average_gradients(self.network)
        grad_norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.arguments.max_grad_norm)
        self.optimizer.step()
        return torch.cat((metrics * weight, grad_norm[None])).detach()

    def _losses(self, positions: Positions) -> tuple[Tensor, Tensor]:
        """Return the loss and the first four of `METRICS`, float [4]."""
        observation, mask, policy, target = positions
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.arguments.mixed_precision):
            logits, value, _ = self.network(observation)
        # Finite, so that what is not legal has neither loss nor gradient.
        logs = logits.float().masked_fill(~mask, -1e9).log_softmax(1)
        policy_loss = -(policy * logs).sum(1).mean()
        value_loss = functional.mse_loss(value.float(), target)
        entropy = -torch.xlogy(policy, policy).sum(1).mean()
        metrics = torch.stack((policy_loss, value_loss, entropy, policy_loss - entropy))
        return policy_loss + self.arguments.vf_coef * value_loss, metrics

    @override
    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "replay": self.replay.state_dict()}

    @override
    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.replay.load_state_dict(state["replay"])
        super().load_state_dict(state)


def _play(
    game: Game, arguments: AlphaZeroArguments, network: Network, pool: Pool, num_envs: int, device: torch.device
) -> SearchPlay:
    """Return the games of one process."""
    search = GumbelSearch(
        game,
        NetworkEvaluator(network),
        arguments.num_simulations,
        considered=arguments.max_num_considered_actions,
        noise=1.0,
        scale=arguments.value_scale,
    )
    opponents = Opponents(game, parse_mix(arguments.opponents), pool, device)
    return SearchPlay(
        game,
        network,
        opponents,
        num_envs,
        device,
        search,
        random_plies=arguments.random_plies,
        mixed_precision=arguments.mixed_precision,
    )


def _check(game: Game, arguments: AlphaZeroArguments) -> None:
    """Raise a `ValueError` unless the game can be searched, and its only rewards are results."""
    low, high = game.info.reward_range
    rewards = [] if (low, high) == (-1.0, 1.0) else [f"rewards go from {low:g} to {high:g}"]
    if found := [*game.info.search_obstacles, *rewards]:
        raise ValueError(
            f"{arguments.algorithm} learns games in turns with perfect information, plain actions and rewards from -1 "
            f"to 1; in {game.id} {' and '.join(found)}; ppo learns every game"
        )

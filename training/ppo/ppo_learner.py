"""PPO by self-play as a run drives it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import torch

from cellgames.agents.networks.networks import Network, Size, make_network
from cellgames.envs.core import Game
from cellgames.training.arguments import Arguments, PPOArguments
from cellgames.training.distributed import Group, divided
from cellgames.training.selfplay.actors import make_play
from cellgames.training.selfplay.learner import Iteration, Learner, Purpose, derive, for_rank, start_weights
from cellgames.training.selfplay.opponent_mix import Opponents, parse_mix
from cellgames.training.selfplay.opponent_pool import Pool
from cellgames.training.selfplay.rollouts import Ended, SelfPlay

from .ppo import PPO, Hyperparameters

__all__ = ["PPOLearner"]


class PPOLearner(Learner):
    """See `Learner` and `ppo.PPO`."""

    METRICS: ClassVar[Mapping[str, str]] = {
        "policy_loss": "PPO's clipped objective, negated; near 0, and no measure of strength",
        "value_loss": "mean squared error of the value, in units of the network",
        "entropy": "of the policy, in nats: high is undecided, 0 is always the same action",
        "approx_kl": "how far the policy moved in the iteration (KL, estimated)",
        "clip_fraction": "share of the actions whose chance moved by more than `clip_range`",
        "grad_norm": "before it is cut to `max_grad_norm`",
        "explained_variance": "share of the variance of what followed that the value foretold; 1 is perfect",
        "others_score": "score in the training games against others than itself: a win 1, a draw 1/2",
        "mean_return": "sum of the rewards of a game, mean over the learner's seats; about 0 in zero-sum self-play",
    }

    OWN = ("generator",)

    def __init__(self, game: Game, arguments: Arguments, folder: Path, device: torch.device) -> None:
        assert isinstance(arguments, PPOArguments)  # `ALGORITHMS` pairs them
        self.arguments, self.sample = arguments, arguments.sample
        self.network = make_network(game, Size(arguments.channels, arguments.layers))
        if arguments.start_from:
            start_weights(self.network, Path(arguments.start_from))
        self.network.to(device)
        self.pool = Pool(folder / "pool", arguments.sampling, arguments.pool_limit)
        play = make_play(_play, game, arguments, self.network, self.pool, device, self.warn)
        names = [field.name for field in dataclasses.fields(Hyperparameters)]
        self.ppo = PPO(
            self.network,
            play,
            Hyperparameters(**{name: getattr(arguments, name) for name in names}),
        )
        self.ppo.generator.manual_seed(derive(arguments.seed, Purpose.ORDER))

    @classmethod
    def share(cls, arguments: Arguments, world: int) -> Arguments:
        """See `Learner`."""
        return divided(arguments, world)

    def join(self, group: Group) -> None:
        """See `Learner`."""
        super().join(group)
        self.ppo.group = group
        self.ppo.generator.manual_seed(for_rank(derive(self.arguments.seed, Purpose.ORDER), group.rank))

    def start(self) -> None:
        """See `Learner`."""
        self.ppo.play.start()

    def restart(self, seed: int) -> None:
        """See `Learner`."""
        self.ppo.play.restart(seed)

    def iterate(self, progress: float) -> Iteration:
        """See `Learner`."""
        rollout, losses, steps = self.ppo.iterate(progress)
        ended = rollout.ended
        values = (*dataclasses.astuple(losses), *_results(ended))
        return Iteration(steps, ended.games, ended.turns, dict(zip(self.METRICS, values, strict=True)))

    def close(self) -> None:
        """See `Learner`."""
        self.ppo.play.close()

    def state_dict(self) -> dict[str, Any]:
        """See `Learner`."""
        return {**self.ppo.state_dict(), "pool": self.pool.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See `Learner`."""
        self.ppo.load_state_dict(state)
        self.pool.load_state_dict(state["pool"])


def _play(
    game: Game, arguments: PPOArguments, network: Network, pool: Pool, num_envs: int, device: torch.device
) -> SelfPlay:
    """What plays, in one process."""
    opponents = Opponents(game, parse_mix(arguments.opponents), pool, device)
    return SelfPlay(game, network, opponents, num_envs, device, mixed_precision=arguments.mixed_precision)


def _results(ended: Ended) -> tuple[float, float]:
    """Score against others, and mean return; NaN without games."""
    met = [result for number, result in ended.results.items() if number >= 0]
    games = sum(count for _, count in met)
    score = sum(won for won, _ in met) / games if games else math.nan
    return score, sum(ended.returns.values()) / ended.games if ended.games else math.nan

"""Rollouts in which the learner searches before it moves.

Letters as in `selfplay`: `T` steps, `B` games (lanes), `A` actions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from cellgames.agents.base import draw_seeds
from cellgames.agents.networks.networks import Network
from cellgames.agents.random_agent import random_actions
from cellgames.agents.search import GumbelSearch
from cellgames.envs.core import Game, State
from cellgames.training.selfplay.opponent_mix import Opponents
from cellgames.training.selfplay.rollouts import Rollout, SelfPlay

__all__ = ["SearchPlay", "Searched"]


@dataclass(frozen=True)
class Searched(Rollout):
    """A rollout whose values are the searches', and whose own actions are those that a search chose.

    policy: [T, B, A] float, what the search would play.
    """

    policy: Tensor


class SearchPlay(SelfPlay):
    """Games in progress, in turns and with perfect information; see `SelfPlay` for the other arguments.

    Args:
        search: asked for the learner's moves, all games at once.
        random_plies: a game begins with 0 to so many turns, drawn, in which the learner plays at random. Those actions
            are not its own in the rollout.
    """

    def __init__(
        self,
        game: Game[Any],
        network: Network,
        opponents: Opponents,
        lanes: int,
        device: torch.device,
        search: GumbelSearch,
        *,
        random_plies: int = 0,
        mixed: bool = False,
    ) -> None:
        super().__init__(game, network, opponents, lanes, device, mixed=mixed)
        self.search, self.random_plies = search, random_plies

    def restart(self, seed: int) -> None:
        """See `SelfPlay`."""
        self._plies = torch.zeros(self.lanes, dtype=torch.int64, device=self.device)
        super().restart(seed)

    @torch.no_grad()
    def collect(self, steps: int) -> Searched:
        """Play `T` steps in every lane."""
        self._policies: list[Tensor] = []
        self._at_random: list[Tensor] = []
        rollout = super().collect(steps)
        own = rollout.own & ~torch.stack(self._at_random)
        return Searched(**vars(replace(rollout, own=own)), policy=torch.stack(self._policies))

    def _decide(self, state: State, observation: Tensor, mask: Tensor, own: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """See `SelfPlay`; what it gives for opponents' rows has no meaning."""
        at_random = self._turns < self._plies
        lanes = (own & ~at_random).nonzero().squeeze(1)
        policy = torch.zeros(mask.shape, device=self.device)
        value = policy.new_zeros(self.lanes)
        action = torch.zeros_like(state.current_player)
        if len(lanes):
            part = state[lanes]
            if self.game.info.stochastic:  # nobody knows the dice to come
                part = part.replace(seed=draw_seeds(len(lanes), self.generator, self.device))
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed):
                found = self.search.run(part, self.generator)
            policy[lanes] = found.dense(found.policy.float(), mask.shape[1])
            value[lanes] = found.value.gather(1, part.current_player[:, None]).squeeze(1).float()
            action[lanes] = found.chosen
        if at_random.any():
            action = torch.where(at_random, random_actions(mask, self.game.info.action_nvec, self.generator), action)
        self._policies.append(policy)
        self._at_random.append(at_random)
        return action, policy.gather(1, action[:, None]).squeeze(1).log(), value

    def _begin(self, lanes: Tensor) -> None:
        plies = torch.randint(self.random_plies + 1, (len(lanes),), generator=self._draws)
        self._plies[lanes] = plies.to(self.device)
        super()._begin(lanes)

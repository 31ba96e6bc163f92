"""Rollouts in which the learner searches before it moves.

Letters as in `selfplay`: `T` steps, `B` games (environments), `R` rows that act in a step, `A` actions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import draw_seeds
from cellgames.agents.networks.networks import Network
from cellgames.agents.playouts.random_agent import random_actions
from cellgames.agents.search import GumbelSearch
from cellgames.agents.simultaneous import JointSearch
from cellgames.envs.core import Game, State
from cellgames.envs.registry import plugin_of
from cellgames.plugins import resolve
from cellgames.training.selfplay.opponent_mix import Opponents
from cellgames.training.selfplay.rollouts import Rollout, SelfPlay, load_tensor

__all__ = ["SearchPlay", "Searched"]


@dataclass(frozen=True)
class Searched(Rollout):
    """A rollout whose values and actions of the learner are those of searches.

    Attributes:
        policy: float [T, R, A], the policy of the search.
    """

    policy: Tensor


class SearchPlay(SelfPlay):
    """Games in progress; see `SelfPlay` for the other arguments.

    In turns the positions themselves are searched. Where all act at once, each seat searches a position of its own,
    which is made of what it sees (`GamePlugin.determinize`), and learns its mixed strategy.

    Args:
        search: asked for the learner's moves, all games at once.
        random_plies: a game begins with 0 to so many turns, drawn, in which the learner plays at random. Those actions
            are not its own in the rollout.
    """

    def __init__(
        self,
        game: Game,
        network: Network,
        opponents: Opponents,
        num_envs: int,
        device: torch.device,
        search: GumbelSearch | JointSearch,
        *,
        random_plies: int = 0,
        mixed_precision: bool = False,
    ) -> None:
        super().__init__(game, network, opponents, num_envs, device, mixed_precision=mixed_precision)
        self.search, self.random_plies = search, random_plies

    @override
    def restart(self, seed: int) -> None:
        self._plies = torch.zeros(self.num_envs, dtype=torch.int64, device=self.device)
        super().restart(seed)

    @override
    def games_state(self) -> dict[str, Any] | None:
        state = super().games_state()
        return None if state is None else {**state, "plies": self._plies}

    @override
    def load_games(self, state: Mapping[str, Any]) -> None:
        super().load_games(state)
        load_tensor(self._plies, state["plies"])

    @torch.no_grad()
    def collect(self, steps: int) -> Searched:
        """Play `T` steps in every environment."""
        self._policies: list[Tensor] = []
        self._at_random: list[Tensor] = []
        rollout = super().collect(steps)
        learner_mask = rollout.learner_mask & ~torch.stack(self._at_random)
        return Searched(**vars(replace(rollout, learner_mask=learner_mask)), policy=torch.stack(self._policies))

    def _decide(
        self, state: State, observation: Tensor, mask: Tensor, learner_mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the actions of searches, their log-probabilities and the values; opponents' rows have no meaning."""
        at_random = (self._turns < self._plies).repeat_interleave(len(mask) // self.num_envs)
        rows = (learner_mask & ~at_random).nonzero().squeeze(1)
        policy = torch.zeros(mask.shape, device=self.device, dtype=torch.float32)
        value = policy.new_zeros(len(mask))
        action = torch.zeros(len(mask), device=self.device, dtype=torch.int64)
        if len(rows):
            joint = isinstance(self.search, JointSearch)
            part, seats = self._imagined(observation, rows) if joint else (state[rows], state.current_player[rows])
            if self.game.info.stochastic:  # nobody knows the dice to come
                part = part.replace(seed=draw_seeds(len(rows), self.generator, self.device))
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed_precision):
                found = self.search.run(part, self.generator)
            dense, chosen = found.dense(found.policy.float(), mask.shape[1]), found.chosen
            if joint:
                of_seat = torch.arange(len(rows), device=self.device), seats
                dense, chosen = dense[of_seat], chosen[of_seat]
            policy[rows], action[rows] = dense, chosen
            value[rows] = found.value.gather(1, seats[:, None]).squeeze(1).float()
        if at_random.any():
            action = torch.where(at_random, random_actions(mask, self.game.info.action_nvec, self.generator), action)
        self._policies.append(policy)
        self._at_random.append(at_random)
        return action, policy.gather(1, action[:, None]).squeeze(1).log(), value

    def _imagined(self, observation: Tensor, rows: Tensor) -> tuple[State, Tensor]:
        """Return positions that look to the seats of some rows as they are observed, and these seats, int64 [L]."""
        seats = rows % self.game.info.num_players
        state: State = resolve(plugin_of(self.game).determinize)(self.game, observation[rows], seats)
        return state, seats

    def _begin(self, env_ids: Tensor) -> None:
        plies = torch.randint(self.random_plies + 1, (len(env_ids),), generator=self._draws, device="cpu")
        self._plies[env_ids] = plies.to(self.device)
        super()._begin(env_ids)

"""Rollouts: many games at once, in which the learner plays itself and others.

Letters: `T` steps, `B` games (environments), `P` players, `R` rows that act in a step: `B` in games in turns, else
`B P`, all seats of the first game, then those of the second; `A` mask width, `K` components of an action.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from cellgames.agents.networks.networks import Network
from cellgames.envs.core import Game, State, chance
from cellgames.envs.core.seating import Seating

from .opponents import Opponents


@dataclass(frozen=True)
class Ended:
    """Games that ended in a rollout.

    Attributes:
        games: number of games.
        turns: turns of all of them.
        results: the learner's score (a win 1, a draw 1/2) and the games by the number of the opponent; -1 is itself.
        returns: the learner's mean return times the games, by the number of the opponent.
    """

    games: int
    turns: int
    results: dict[int, tuple[float, int]]
    returns: dict[int, float]


@dataclass(frozen=True)
class Rollout:
    """A rollout of `T` steps, as tensors on the games' device.

    Attributes:
        observation: [T, R, ...], as the game gives it.
        mask: bool [T, R, A].
        action: int64 [T, R], or [T, R, K].
        log_prob: float [T, R], log-probability of the action.
        value: float [T, R], the network's.
        reward: float [T, R, S], in units of the network; `S` is 1 in simultaneous games, else `P`.
        player: int64 [T, R], which of the `S` acted.
        done: bool [T, R], the game ended.
        learner_mask: bool [T, R], the learner acted; else one of the opponents.
        ended: the games that ended.
    """

    observation: Tensor
    mask: Tensor
    action: Tensor
    log_prob: Tensor
    value: Tensor
    reward: Tensor
    player: Tensor
    done: Tensor
    learner_mask: Tensor
    ended: Ended


class SelfPlay:
    """Games in progress of a learner.

    In a game against an opponent the learner has one seat of a game for two, or half of the seats of a larger one,
    drawn for each game. Others may change the network between rollouts.
    """

    def __init__(self, game: Game, network: Network, opponents: Opponents, num_envs: int, device: torch.device) -> None:
        self.game, self.network, self.opponents, self.num_envs, self.device = game, network, opponents, num_envs, device

    def restart(self, seed: int) -> None:
        """Start new games in all environments; all that follows depends on the seed and on the learner."""
        players = self.game.info.num_players
        self.opponents.forget()
        learner, others = chance.seeds(seed, 2).tolist()
        self.generator = torch.Generator(self.device).manual_seed(learner)  # the learner's
        self._draws = torch.Generator().manual_seed(others)  # of opponents and seats
        dtype = self.game.info.observation.dtype
        self.vector = self.game.vector(self.num_envs, seed=seed, device=self.device, observe=dtype)
        self._seating = Seating(self.game, torch.full((self.num_envs, players), -1, device=self.device))
        self._returns = torch.zeros((self.num_envs, players), device=self.device, dtype=torch.float32)
        self._turns = torch.zeros(self.num_envs, dtype=torch.int64, device=self.device)
        self.opponents.renew(self._draws)
        self._begin(torch.arange(self.num_envs, device=self.device))

    @torch.no_grad()
    def collect(self, steps: int) -> Rollout:
        """Play `T` steps in every environment."""
        self.opponents.renew(self._draws)
        self.network.eval()
        self._games, self._length = 0, 0
        self._results: dict[int, tuple[float, int]] = {}
        self._sums: dict[int, float] = {}
        rows = [self._step() for _ in range(steps)]
        ended = Ended(self._games, self._length, self._results, self._sums)
        parts = (torch.stack(part) for part in zip(*rows, strict=True))
        return Rollout(*parts, ended=ended)  # type: ignore[misc, arg-type]  # one for each field, as `_step` has them

    def games_state(self) -> dict[str, Any] | None:
        """Return the games in progress and all that their next steps depend on, but for the network and the pool.

        None if an opponent has a memory, which cannot be saved.
        """
        if not self.opponents.memoryless:
            return None
        return {
            "games": self.vector.state,
            "seats": self._seating.seats,
            "returns": self._returns,
            "turns": self._turns,
            "generator": self.generator.get_state(),
            "draws": self._draws.get_state(),
            "opponents": self.opponents.state_dict(),
        }

    def load_games(self, state: Mapping[str, Any]) -> None:
        """Play on from `games_state`; the network and the pool must be those of the same checkpoint."""
        self.restart(0)
        self.opponents.load_state_dict(state["opponents"])
        self.vector.put(state["games"])
        self._returns.copy_(state["returns"])
        self._turns.copy_(state["turns"])
        self._seating.restore(state["seats"], len(self.opponents.agents), self.opponents.start)
        self.generator.set_state(state["generator"].cpu())
        self._draws.set_state(state["draws"].cpu())

    def _step(self) -> tuple[Tensor, ...]:
        info, state = self.game.info, self.vector.state
        observation, mask, player = self._seen(state)
        env_ids, seats = self._seating.to_move(state)
        rows = env_ids * info.num_players + seats if info.simultaneous else env_ids
        learner_mask = torch.ones(len(player), dtype=torch.bool, device=self.device).index_fill_(0, rows, False)
        action, log_prob, value = self._decide(state, observation, mask, learner_mask)
        if len(rows):
            action[rows] = self._seating.ask(env_ids, seats, self._pick)
        step = self.vector.step(action.view(self.num_envs, *info.action_shape), checked=False)
        reward, done = step.rewards, step.done
        self._count(reward, done)
        reward = reward / self.network.unit
        if info.simultaneous:
            reward, player = reward.reshape(-1, 1), torch.zeros_like(player)
        done = done.repeat_interleave(info.num_players) if info.simultaneous else done
        return observation, mask, action, log_prob, value, reward, player, done, learner_mask

    def _decide(
        self, state: State, observation: Tensor, mask: Tensor, learner_mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the learner's actions, their log-probabilities and the values, in its own rows (`learner_mask`)."""
        choices, value = self.network.policy_and_value(observation, mask)
        return *choices.sample_with_log_prob(self.generator), value

    def _seen(self, state: State) -> tuple[Tensor, Tensor, Tensor]:
        """Return the observations, masks and seats of all rows."""
        info, observation, mask = self.game.info, self.vector.observation, self.vector.legal_actions
        if not info.simultaneous:
            return observation, mask, state.current_player
        player = torch.arange(info.num_players, device=self.device).repeat(self.num_envs)
        return observation.flatten(0, 1), mask.flatten(0, 1), player

    def _pick(self, number: int, env_ids: Tensor, seats: Tensor) -> Tensor:
        return self.opponents.pick(number, self.vector.state, env_ids, seats, self._draws)

    def _count(self, reward: Tensor, done: Tensor) -> None:
        """Record the results, and begin the games that stand where others ended."""
        self._returns += reward
        self._turns += 1
        env_ids = done.nonzero().squeeze(1)
        if len(env_ids) == 0:
            return
        returns, owner = self._returns[env_ids], self._seating.seats[env_ids]
        self._games += len(env_ids)
        self._length += int(self._turns[env_ids].sum())
        rival = owner.amax(1)
        ahead = (returns[:, :, None] > returns[:, None]).float() + 0.5 * (returns[:, :, None] == returns[:, None])
        pairs = ((owner < 0)[:, :, None] & (owner >= 0)[:, None]).float()  # the learner's seats, and the rival's
        score = (ahead * pairs).sum((1, 2)) / pairs.sum((1, 2)).clamp(min=1)
        mean = (returns * (owner < 0)).sum(1) / (owner < 0).sum(1)
        for number in rival.unique().tolist():
            met = rival == number
            games = int(met.sum())
            had, before = self._results.get(number, (0.0, 0))
            won = float(score[met].sum())
            self._results[number] = (had + won, before + games)
            self._sums[number] = self._sums.get(number, 0.0) + float(mean[met].sum())
            if number >= 0:
                self.opponents.record(number, won, games)
        self._returns[env_ids] = 0.0
        self._turns[env_ids] = 0
        self._begin(env_ids)

    def _begin(self, env_ids: Tensor) -> None:
        """Draw opponents and seats for the games that begin in the environments `env_ids`."""
        players = self.game.info.num_players
        rivals = torch.tensor(self.opponents.draw(len(env_ids), self._draws), device="cpu")
        order = torch.rand((len(env_ids), players), generator=self._draws, dtype=torch.float32, device="cpu").argsort(1)
        kept = order < max(1, players // 2)  # the seats that the learner keeps
        seats = torch.where(kept, -1, rivals[:, None]).to(self.device)
        self._seating.deal(env_ids, seats, self.opponents.start)

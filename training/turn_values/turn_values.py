"""Learning what positions of Cloth of Gold are worth after whole turns.

A turn is up to ten units, and single ones mostly die: a policy over units would learn for long what a block is. So the
learner tries whole turns of known shapes, evaluates the positions after them by its network, plays the best turn, and
now and then another one. Its values are pulled towards later ones and towards results (TD(lambda) on
afterstates: Tesauro, "Temporal difference learning and TD-Gammon", 1995; Sutton and Barto, "Reinforcement learning",
6.8 and 12).

Letters: `T` turns of a rollout, `B` games (environments), `C` candidate turns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from cellgames.agents.base import acting
from cellgames.agents.cloth_of_gold.turns import TurnAgent
from cellgames.agents.cloth_of_gold.values import ClothEvaluator, ClothValues
from cellgames.agents.networks.choices import gumbel
from cellgames.agents.networks.networks import Size, make_network
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core import Game, chance
from cellgames.envs.core.seating import Seating
from cellgames.training.arguments import Arguments
from cellgames.training.ppo.advantages import estimate
from cellgames.training.selfplay.learner import Iteration, Learner, Purpose, derive, start_weights
from cellgames.training.selfplay.opponent_mix import Opponents, parse_mix
from cellgames.training.selfplay.opponent_pool import Pool

from .turn_arguments import TurnArguments

__all__ = ["TurnLearner"]


@dataclass(frozen=True)
class _Turns:
    """What happened in `T` turns of every environment.

    seen:    [T, B, ...], the position after the turn, as its player sees it.
    value:   [T, B] float, what it was evaluated at.
    reward:  [T, B, 2] float, results of games that ended with the turn.
    player:  [T, B] int64.
    done:    [T, B] bool.
    learner_mask: [T, B] bool, the learner's turn.
    """

    seen: Tensor
    value: Tensor
    reward: Tensor
    player: Tensor
    done: Tensor
    learner_mask: Tensor


class TurnLearner(Learner):
    """See `Learner` and the module."""

    network: ClothValues

    METRICS: ClassVar[Mapping[str, str]] = {
        "value_loss": "mean squared error of the values, from -1 to 1, against what followed",
        "explained_variance": "share of the variance of what followed that the values foretold; 1 is perfect",
        "grad_norm": "before it is cut to `max_grad_norm`",
        "others_score": "share of the games won against others than itself in training",
        "second_player": "share of the games among itself that player_b won",
        "both_lost": "share of all games that both lost",
    }

    def __init__(self, game: Game, arguments: Arguments, folder: Path, device: torch.device) -> None:
        assert isinstance(arguments, TurnArguments)  # `ALGORITHMS` pairs them
        if not isinstance(game, ClothOfGold):
            raise ValueError(f"{arguments.algorithm} learns {ClothOfGold.id}, got {game.id}; ppo learns every game")
        self.game, self.arguments, self.device = game, arguments, device
        network = make_network(game, Size(arguments.channels, arguments.layers), ClothValues.kind)
        assert isinstance(network, ClothValues)
        self.network = network
        if arguments.start_from:
            start_weights(self.network, Path(arguments.start_from))
        self.network.to(device)
        self.evaluator = ClothEvaluator(self.network, candidates=arguments.candidates)
        self.pool = Pool(folder / "pool", arguments.sampling, arguments.pool_limit)
        self.opponents = Opponents(game, parse_mix(arguments.opponents), self.pool, device)
        for number in range(len(self.opponents.agents)):
            self._rival(number)  # refuses who does not decide on whole turns
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=arguments.learning_rate)
        self.generator = torch.Generator().manual_seed(derive(arguments.seed, Purpose.ORDER))

    @staticmethod
    def longest(game: Game) -> int:
        """See `Learner`; a step is a whole turn."""
        assert isinstance(game, ClothOfGold)
        return 2 * (game.max_rounds + game.initial_placement)

    def restart(self, seed: int) -> None:
        """See `Learner`."""
        self.opponents.forget()
        self._draws = torch.Generator().manual_seed(seed)
        self._state: ClothState = self.game.init(chance.seeds(seed, self.arguments.num_envs, self.device))
        self._seating = Seating(self.game, torch.full((self.arguments.num_envs, 2), -1, device=self.device))
        self.opponents.renew(self._draws)
        env_ids = torch.arange(self.arguments.num_envs, device=self.device)
        self.evaluator.start(self.game, torch.zeros_like(env_ids), env_ids)
        self._begin(env_ids)

    def iterate(self, progress: float) -> Iteration:
        """See `Learner`."""
        h = self.arguments
        for group in self.optimizer.param_groups:
            group["lr"] = h.learning_rate * (1 - 0.9 * progress)
        self.opponents.renew(self._draws)
        turns = self._collect(h.temperature * (1 - 0.9 * progress))
        found = estimate(turns.value, turns.reward, turns.player, turns.done, gamma=h.gamma, gae_lambda=h.gae_lambda)
        # A position that ended the game needs no value.
        rows = (turns.learner_mask & found.known & ~turns.done).flatten().nonzero().squeeze(1)
        seen, target = turns.seen.flatten(0, 1)[rows], found.target.flatten()[rows]
        error, variance = (target - turns.value.flatten()[rows]).var(), target.var()
        losses = [self._learn(seen[places], target[places]) for places in self._minibatches(len(rows))]
        loss, grad_norm = torch.tensor(losses).mean(0).tolist() if losses else (math.nan, math.nan)
        explained_variance = 1 - float(error / variance) if len(rows) > 1 and float(variance) > 0 else math.nan
        games = len(self._results)
        values = (loss, explained_variance, grad_norm, *self._summary())
        metrics = dict(zip(self.METRICS, values, strict=True))
        return Iteration(len(rows), games, sum(result[4] for result in self._results), metrics)

    # --- playing --------------------------------------------------------------------------------------------------

    @torch.no_grad()
    def _collect(self, temperature: float) -> _Turns:
        self._results: list[tuple[int, float, float, float, int]] = []
        rows = [self._turn(temperature) for _ in range(self.arguments.num_steps)]
        return _Turns(*(torch.stack(part) for part in zip(*rows, strict=True)))

    def _turn(self, temperature: float) -> tuple[Tensor, ...]:
        """One turn in every environment."""
        game, state, env_ids = self.game, self._state, torch.arange(len(self._state), device=self.device)
        mover = state.current_player
        plans, worth, after = self.evaluator.evaluate(state, self._draws)
        noise = gumbel(worth, self._draws) * temperature
        # What wins at once is played; what loses is not tried out.
        tried = torch.where(worth.abs() > 1, worth * 10, worth + noise)
        best = tried.argmax(1)
        after = after[env_ids * plans.shape[1] + best]
        learner_mask = torch.ones(len(state), dtype=torch.bool, device=self.device)
        others, seats = self._seating.to_move(state)
        for number, rows in self._seating.by_player(others, seats):
            met = others[rows]
            turns = self._rival(number).turns(state[met], self._draws)
            after = after.put(met, game.play_turn(state[met], turns))
            learner_mask[met] = False
        value = worth[env_ids, best].clamp(-1, 1)
        seen, done = game.observe(after, mover), after.done
        outcome = game.outcome(after).float()
        reward = torch.where(done[:, None], outcome, 0.0)
        self._state = after
        self._end(done.nonzero().squeeze(1), outcome)
        return seen, value, reward, mover, done, learner_mask

    def _rival(self, number: int) -> TurnAgent:
        """An opponent, as the agent that it is in this game."""
        agent = acting(self.opponents.agents[number], self.game)
        if not isinstance(agent, TurnAgent):
            raise ValueError(
                f"opponents must decide on whole turns (TurnAgent), as greedy and rollout:N do; got {agent.name!r}"
            )
        return agent

    def _end(self, env_ids: Tensor, outcome: Tensor) -> None:
        """Keep the score of the games that ended, and begin others in their place."""
        if len(env_ids) == 0:
            return
        result, owner = outcome[env_ids], self._seating.seats[env_ids]
        own_seat = (owner < 0).int().argmax(1, keepdim=True)  # the first of the learner's seats
        won = (result.gather(1, own_seat).squeeze(1) > 0).float()
        second, lost = (result[:, 1] > 0).float(), (result < 0).all(1).float()
        length = self._state[env_ids].turn
        for row in zip(owner.amax(1).tolist(), *(x.tolist() for x in (won, second, lost, length)), strict=True):
            self._results.append(row)
            if row[0] >= 0:
                self.opponents.record(row[0], row[1], 1)
        self._state = self._state.put(env_ids, self.game.init(chance.next_seed(self._state.seed[env_ids])))
        self._begin(env_ids)

    def _begin(self, env_ids: Tensor) -> None:
        """Draw opponents, and the seats that the learner keeps."""
        rivals = torch.tensor(self.opponents.draw(len(env_ids), self._draws))
        keeps = torch.rand(len(env_ids), generator=self._draws) < 0.5
        seats = torch.where(torch.stack((keeps, ~keeps), 1), -1, rivals[:, None]).to(self.device)
        agents = self.opponents.agents
        self._seating.deal(env_ids, seats, lambda number, *where: agents[number].start(self.game, *where))

    def _summary(self) -> tuple[float, float, float]:
        """The last three of `METRICS`."""
        met = [won for number, won, *_ in self._results if number >= 0]
        alone = [second for number, _, second, *_ in self._results if number < 0]
        lost = [row[3] for row in self._results]
        one, two, three = (sum(x) / len(x) if x else math.nan for x in (met, alone, lost))
        return one, two, three

    # --- learning -------------------------------------------------------------------------------------------------

    def _minibatches(self, rows: int) -> list[Tensor]:
        parts = max(1, round(rows / self.arguments.minibatch_size))
        orders = [
            torch.randperm(rows, generator=self.generator) for _ in range(self.arguments.num_epochs if rows else 0)
        ]
        return [part.to(self.device) for order in orders for part in order.tensor_split(parts)]

    def _learn(self, seen: Tensor, target: Tensor) -> tuple[float, float]:
        """Take one step of the optimizer and return the loss and the norm of the gradient."""
        self.network.train()
        loss = functional.mse_loss(self.network.worth(seen), target)
        self.optimizer.zero_grad()
        loss.backward()
        grad_norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.arguments.max_grad_norm)
        self.optimizer.step()
        return float(loss.detach()), float(grad_norm)

    # --- what a run asks for --------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """See `Learner`."""
        return {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "pool": self.pool.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See `Learner`."""
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["generator"].cpu())
        self.pool.load_state_dict(state["pool"])

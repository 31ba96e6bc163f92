"""TD(lambda) on positions of Cloth of Gold after whole turns.

A turn is up to ten units, and single ones mostly die: a policy over units would learn for long what a block is. So the
learner tries whole turns of known shapes, evaluates the positions after them by its network, plays the best turn, and
now and then another one. Its values are pulled towards later ones and towards results (TD(lambda) on
afterstates: Tesauro, "Temporal difference learning and TD-Gammon", 1995; Sutton and Barto, "Reinforcement learning",
6.8 and 12).

Letters: `T` turns of a rollout, `B` games (environments), `C` candidate turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional
from typing_extensions import override

from cellgames.agents.base import acting
from cellgames.agents.cloth_of_gold.network import ClothEvaluator, ClothValues
from cellgames.agents.cloth_of_gold.turns import TurnAgent
from cellgames.agents.networks.networks import gumbel
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.core import Game, chance
from cellgames.envs.core.seating import Seating
from cellgames.training.arguments import Arguments, TurnArguments
from cellgames.training.selfplay.learner import Iteration, Learner
from cellgames.training.selfplay.opponents import Opponents, parse_mix
from cellgames.training.selfplay.updates import anneal, descend, estimate, explained_variance, mean, means, minibatches
from cellgames.utils.errors import InputError, shown


@dataclass(frozen=True)
class _Turns:
    """A rollout of `T` turns in every environment."""

    boards: Tensor  # int64 [T, B, 7, S, N], the position after the turn, as its player sees it
    numbers: Tensor  # int16 [T, B, 4], the same
    value: Tensor  # float [T, B], the network's value of it
    reward: Tensor  # float [T, B, 2], results of games that ended with the turn
    player: Tensor  # int64 [T, B], the seat whose turn it was
    done: Tensor  # bool [T, B], the game ended
    learner_mask: Tensor  # bool [T, B], the learner's turn


class TurnLearner(Learner):
    """The learner of `turn-values`."""

    arguments: TurnArguments
    game: ClothOfGold
    network: ClothValues

    METRICS: ClassVar[Mapping[str, str]] = {
        "value_loss": "mean squared error of the values, from -1 to 1",
        "explained_variance": "share of the variance of the value targets that the values explain; 1 is perfect",
        "grad_norm": "norm of the gradient before it is cut to `max_grad_norm`",
        "others_score": "share of the training games against others than itself that the learner won",
        "second_player": "share of the games against itself that player_b won",
        "both_lost": "share of all games that both players lost",
    }

    def __init__(self, game: Game, arguments: Arguments, folder: Path, device: torch.device) -> None:
        assert isinstance(arguments, TurnArguments)  # `ALGORITHMS` pairs them
        if not isinstance(game, ClothOfGold):
            raise InputError("game", f"a game of {ClothOfGold.id}", game.id, "ppo learns every game")
        super().__init__(game, arguments, folder, device, kind=ClothValues.kind)
        self.evaluator = ClothEvaluator(self.network, candidates=arguments.candidates, considered=arguments.considered)
        self.opponents = Opponents(game, parse_mix(arguments.opponents), self.pool, device)
        for number in range(len(self.opponents.agents)):
            self._rival(number)  # refuses agents that do not decide on whole turns
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=arguments.learning_rate)

    @override
    @staticmethod
    def longest(game: Game) -> int:
        assert isinstance(game, ClothOfGold)  # a step is a whole turn
        return 2 * (game.max_rounds + game.initial_placement)

    @override
    def restart(self, seed: int) -> None:
        self.opponents.forget()
        self._draws = torch.Generator().manual_seed(seed)
        self._state: ClothState = self.game.init(chance.seeds(seed, self.arguments.num_envs, self.device))
        self._seating = Seating(self.game, torch.full((self.arguments.num_envs, 2), -1, device=self.device))
        self.opponents.renew(self._draws)
        env_ids = torch.arange(self.arguments.num_envs, device=self.device)
        self.evaluator.start(self.game, torch.zeros_like(env_ids), env_ids)
        self._begin(env_ids)

    @override
    def games_state(self) -> dict[str, Any] | None:
        # Opponents decide on whole turns (`_rival`), so that none has a memory between two turns.
        return {
            "games": self._state,
            "seats": self._seating.seats,
            "draws": self._draws.get_state(),
            "opponents": self.opponents.state_dict(),
        }

    @override
    def load_games(self, state: Mapping[str, Any]) -> None:
        self.restart(0)
        self.opponents.load_state_dict(state["opponents"])
        if not isinstance(state["games"], ClothState) or len(state["games"]) != len(self._state):
            raise InputError("state", f"{len(self._state)} games of {self.game!r}", shown(state["games"]))
        self._state = state["games"].to(self.device)
        self._seating.restore(state["seats"], len(self.opponents.agents), self.opponents.start)
        self._draws.set_state(state["draws"].cpu())

    @override
    def iterate(self, progress: float) -> Iteration:
        h = self.arguments
        anneal(self.optimizer, h.learning_rate, progress)
        self.opponents.renew(self._draws)
        turns = self._collect(h.temperature * (1 - 0.9 * progress))
        found = estimate(turns.value, turns.reward, turns.player, turns.done, gamma=h.gamma, gae_lambda=h.gae_lambda)
        # A position that ended the game needs no value.
        rows = (turns.learner_mask & found.known & ~turns.done).flatten().nonzero().squeeze(1)
        boards, numbers = turns.boards.flatten(0, 1)[rows], turns.numbers.flatten(0, 1)[rows]
        target = found.target.flatten()[rows]
        explained = explained_variance(target - turns.value.flatten()[rows], target)
        order = minibatches(len(rows), h.minibatch_size, h.num_epochs, self.generator, self.device)
        losses = [self._learn(boards[places], numbers[places], target[places]) for places in order]
        loss, grad_norm = means(losses, 2)
        others = [won for number, won, *_ in self._results if number >= 0]
        second = [second for number, _, second, *_ in self._results if number < 0]
        lost, lengths = [row[3] for row in self._results], [row[4] for row in self._results]
        values = (loss, explained, grad_norm, mean(others), mean(second), mean(lost))
        return Iteration(len(rows), len(lengths), sum(lengths), dict(zip(self.METRICS, values, strict=True)))

    @torch.no_grad()
    def _collect(self, temperature: float) -> _Turns:
        self._results: list[tuple[int, float, float, float, int]] = []
        rows = [self._turn(temperature) for _ in range(self.arguments.num_steps)]
        return _Turns(*(torch.stack(part) for part in zip(*rows, strict=True)))

    def _turn(self, temperature: float) -> tuple[Tensor, ...]:
        """Play one turn in every environment, and return the fields of `_Turns`."""
        game, state, after = self.game, self._state, self._state
        mover = state.current_player
        others, seats = self._seating.to_move(state)
        for number, rows in self._seating.by_player(others, seats):
            met = others[rows]
            after = after.put(met, game.play_turn(state[met], self._rival(number).turns(state[met], self._draws)))
        learner_mask = torch.ones(len(state), dtype=torch.bool, device=self.device)
        learner_mask[others] = False
        value = torch.zeros(len(state), dtype=torch.float32, device=self.device)
        own = learner_mask.nonzero().squeeze(1)
        if len(own):
            plans, worth, reached = self.evaluator.evaluate(state[own], self._draws)
            noise = gumbel(worth, self._draws) * temperature
            # What wins at once is played; what loses is not tried out.
            best = torch.where(worth.abs() > 1, worth * 10, worth + noise).argmax(1, keepdim=True)
            value[own] = worth.gather(1, best).squeeze(1).clamp(-1, 1)
            places = torch.arange(len(own), device=self.device) * worth.shape[1] + best.squeeze(1)
            if game.random_rounds:  # the evaluator has thrown other dice
                after = after.put(own, game.play_turn(state[own], plans.flatten(0, 1)[places]))
            else:
                after = after.put(own, reached[places])
        done = after.done
        outcome = game.outcome(after).float()
        reward = torch.where(done[:, None], outcome, 0.0)
        self._state = after
        self._end(done.nonzero().squeeze(1), outcome)
        return *game.packed_observation(after, mover), value, reward, mover, done, learner_mask

    def _rival(self, number: int) -> TurnAgent:
        """Return an opponent as the agent that it is in this game."""
        agent = acting(self.opponents.agents[number], self.game)
        if not isinstance(agent, TurnAgent):
            expected = "agents that decide on whole turns (TurnAgent), as greedy and rollout:N do"
            raise InputError("opponents", expected, shown(agent.name))
        return agent

    def _end(self, env_ids: Tensor, outcome: Tensor) -> None:
        """Record the results of the games that ended, and begin others in their place."""
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
        """Draw opponents and seats for new games."""
        rivals = torch.tensor(self.opponents.draw(len(env_ids), self._draws), device="cpu")
        keeps = torch.rand(len(env_ids), generator=self._draws, dtype=torch.float32, device="cpu") < 0.5
        seats = torch.where(torch.stack((keeps, ~keeps), 1), -1, rivals[:, None]).to(self.device)
        self._seating.deal(env_ids, seats, self.opponents.start)

    def _learn(self, boards: Tensor, numbers: Tensor, target: Tensor) -> tuple[float, float]:
        """Take one step of the optimizer and return the loss and the norm of the gradient."""
        self.network.train()
        loss = functional.mse_loss(self.network.worth(boards, numbers), target)
        grad_norm = descend(self.optimizer, self.network, loss, self.arguments.max_grad_norm)
        return float(loss.detach()), grad_norm

"""Greedy Grid Adaptation: the plan that leads most in the generations to come, against guesses of what the others do.

Letters: `L` games.
"""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent, draw_seeds, must_start
from cellgames.envs.core import Game, chance, sampling
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import VOTE
from cellgames.utils.errors import check_at_least

from .decoding import Seen, seen
from .opponent_model import Others
from .plans import Planner, nothing

_BALLOT = chance.USER + 30


class GridPlayer(GameAgent[GridAdaptation]):
    """A base class of agents for Grid Adaptation: it votes at random, and `choose` decides in rounds.

    In steps that an extension of the game adds it does nothing.

    Args:
        name: as in `Agent`.
        guesses: number of guesses at what the others do in a round, to plan against.
    """

    plays = GridAdaptation

    def __init__(self, name: str, guesses: int) -> None:
        super().__init__(name)
        check_at_least(1, guesses=guesses)
        self._guesses = guesses
        self._planner: Planner | None = None

    @property
    def planner(self) -> Planner:
        """Return the planner of the game that is played; a `ValueError` before `start`."""
        if self._planner is None:
            raise must_start(self)
        return self._planner

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        super().start(game, players, env_ids)
        self._planner = Planner(self.others(self.game.base), self._guesses)

    def others(self, game: GridAdaptation) -> Others:
        """Return the model of how all others play."""
        return Others(game)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions, int64 [L, K]; chance comes from a seed of each row."""
        game = self.planner.game
        view, players = seen(game, observation), self.seats.of(env_ids)
        seeds = draw_seeds(len(env_ids), generator, observation.device)
        actions = nothing(self.game, len(view), observation.device)
        ballot = action_mask[:, : game.info.num_actions][:, -game.info.action_nvec[VOTE] :]
        lots = chance.draw(seeds, _BALLOT, torch.zeros_like(seeds)) & 0x7FFFFFFF
        actions[:, VOTE] = sampling.random_legal(ballot, lots)
        for number in view.round[view.playing].unique().tolist():
            rows = (view.playing & (view.round == number)).nonzero().squeeze(1)
            chosen = self.choose(view[rows], players[rows], env_ids[rows], seeds[rows], generator)
            actions[rows, : chosen.shape[1]] = chosen
        return actions

    def choose(self, view: Seen, players: Tensor, env_ids: Tensor, seeds: Tensor, generator: torch.Generator) -> Tensor:
        """Return actions without votes, int64 [L, 7], in one round of each game.

        Args:
            view: views of the players, all in the same round.
            players: int64 [L], the seats that see it.
            env_ids: int64 [L].
            seeds: int64 [L], for what is to depend on a row alone.
            generator: may be consumed.
        """
        raise NotImplementedError


class GridGreedy(GridPlayer):
    """An agent that plays the plan of `Planner` that is worth most."""

    memoryless = True

    def __init__(self, name: str = "greedy", *, guesses: int = 8) -> None:
        super().__init__(name, guesses)

    @override
    def choose(self, view: Seen, players: Tensor, env_ids: Tensor, seeds: Tensor, generator: torch.Generator) -> Tensor:
        plans = self.planner.plans(view, seeds)
        best = plans.worth.argmax(1)
        return plans.actions[torch.arange(len(view), device=best.device), best]

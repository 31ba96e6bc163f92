"""`mcts:N` where all players act at once: it plays the mixed strategy that a search finds.

Letters: `L` rows to move in, `P` players.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import BaseAgent, Seats, draw_seeds, must_start
from cellgames.envs.core import Game, State
from cellgames.envs.registry import plugin_of
from cellgames.plugins import resolve

from .joint_search import JointResult, RegretMatching

_BYTES = 1 << 29  # of trees that grow at the same time, about


class JointSearchAgent(BaseAgent):
    """An agent that searches from positions like the one it sees, and draws its action from the mixed strategy.

    The positions come from observations (`GamePlugin.determinize`): the agent sees neither what is hidden nor what the
    others choose in this step. In games of chance the search has draws of its own.

    Args:
        name: as in `Agent`.
        make: makes the search for a game.
    """

    def __init__(self, name: str, make: Callable[[Game], RegretMatching]) -> None:
        super().__init__(name)
        self._make = make
        self._search: RegretMatching | None = None
        self._game: Game | None = None
        self._seats = Seats()

    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless the game can be searched."""
        lacks = {
            "players act in turns": not game.info.simultaneous,
            "an action has several components": len(game.info.action_nvec) > 1,
            "no function guesses positions from observations (GamePlugin.determinize)": (
                plugin_of(game).determinize is None
            ),
        }
        if obstacles := [reason for reason, holds in lacks.items() if holds]:
            raise ValueError(
                f"agent {self.name!r} needs a game in which all act at once, with plain integer actions and a "
                f"determinization; in {game.id} {' and '.join(obstacles)}"
            )
        if game != self._game:
            self._search, self._game = self._make(game), game

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.check_game(game)
        self._seats.start(game, players, env_ids)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one action in each row, int64 [L]."""
        seats = self._seats.of(env_ids)
        chosen = self.search(observation, seats, generator).chosen
        return chosen.gather(1, seats[:, None]).squeeze(1)

    def search(self, observation: Tensor, seats: Tensor, generator: torch.Generator) -> JointResult:
        """Return the search's results for what seats, int64 [L], see; all players' strategies are in it."""
        search, game = self._search, self._game
        if search is None or game is None:
            raise must_start(self)
        state: State = resolve(plugin_of(game).determinize)(game, observation, seats)
        if game.info.stochastic:
            state = state.replace(seed=draw_seeds(len(seats), generator, state.device))
        together = self._together(search, state)
        parts = [search.run(part, generator) for part in _split(state, together)]
        fields = zip(*(vars(part).values() for part in parts), strict=True)
        return JointResult(*(torch.cat(field) for field in fields))

    @staticmethod
    def _together(search: RegretMatching, state: State) -> int:
        """Return the number of trees that may grow at the same time."""
        node = sum(field.element_size() * math.prod(field.shape[1:]) for field in state.tensors())
        node += 24 * search.players * search.width
        return max(1, _BYTES // ((search.simulations + 1) * node))


def _split(state: State, size: int) -> list[State]:
    rows = torch.arange(len(state), device=state.device)
    return [state[part] for part in rows.split(size)]


def mcts(simulations: int) -> JointSearchAgent:
    """Return the agent `mcts:N` for games in which all act at once: N simulations with regret matching."""
    return JointSearchAgent(f"mcts:{simulations}", lambda game: RegretMatching(game, simulations))

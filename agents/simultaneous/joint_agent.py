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
from cellgames.utils.errors import InputError

from .joint_search import JointResult, RegretMatching

_BYTES = 1 << 29  # of trees that grow at the same time, about


class JointSearchAgent(BaseAgent):
    """An agent that searches from positions like the one it sees, and draws its action from the mixed strategy.

    In games with perfect information these are the positions themselves. In others they come from observations
    (`GamePlugin.search`), so the agent does not see hidden information. It never sees the actions that others
    choose in this step. In games of chance the search has draws of its own.

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
            "information is hidden, and no function guesses positions from observations (GamePlugin.search)": (
                not game.info.perfect_information and plugin_of(game).search.get("determinize") is None
            ),
        }
        if obstacles := [reason for reason, holds in lacks.items() if holds]:
            wanted = "a game of plain actions in which all act at once, with perfect information or a determinization"
            raise InputError(f"agent {self.name!r}", wanted, game.id, " and ".join(obstacles))
        if game != self._game:
            self._search, self._game = self._make(game), game

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.check_game(game)
        self._seats.start(game, players, env_ids)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one action in each row, int64 [L]."""
        if self._game is None:
            raise must_start(self)
        state = resolve(plugin_of(self._game).search["determinize"])(self._game, observation, self._seats.of(env_ids))
        return self.act_on_state(state, env_ids, generator)

    def act_on_state(self, state: State, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one action in each row, int64 [L]."""
        chosen = self.search(state, generator).chosen
        return chosen.gather(1, self._seats.of(env_ids)[:, None]).squeeze(1)

    def search(self, state: State, generator: torch.Generator) -> JointResult:
        """Return the search's results for positions; all players' strategies are in it."""
        search, game = self._search, self._game
        if search is None or game is None:
            raise must_start(self)
        if game.info.stochastic:
            state = state.replace(seed=draw_seeds(len(state), generator, state.device))
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

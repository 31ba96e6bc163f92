"""Agents that play by what is solved: `perfect`, and others while the solver finds no win.

Letters: `L` games.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import AskingAgent, ByGame
from cellgames.agents.playouts import random_actions
from cellgames.envs.core import Game
from cellgames.envs.registry import plugin_of
from cellgames.envs.stones.stone_game import StoneGame
from cellgames.plugins import resolve
from cellgames.utils.errors import InputError

from .prover import ProofSearch, native_problem, proof_search, solve

_NODES = 256  # of the solver for a move of `AdvisedAgent`, less than a millisecond


class AdvisedAgent(AskingAgent[StoneGame[Any]]):
    """An agent that wins where a short search of the solver finds a win, and else plays as an agent of observations."""

    memoryless = True

    @override
    def check_game(self, game: Game) -> None:
        self._agent.check_game(game)

    def act_on_state(self, state: Any, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose moves, int64 [L]."""
        actions = self._winning(state, generator)
        if len(rows := (actions < 0).nonzero().squeeze(1)):
            left = state[rows]
            seen, legal = self.game.observe(left, left.current_player), self.game.legal_actions(left)
            actions[rows] = self._agent.act(seen, legal, env_ids[rows], generator)
        return actions

    def _winning(self, state: Any, generator: torch.Generator) -> Tensor:
        """Return moves that win, int64 [L], and -1 where none is known."""
        return solve(self.game, state, _NODES)[1]


class PerfectAgent(AdvisedAgent):
    """An agent that wins every position of a small board that can be won, at once if one stone does it.

    It chooses at random among the moves that `ProofSearch.best_moves` knows. In positions without such a move, which
    are lost, it moves as `greedy` does. A move takes some seconds at most.
    """

    _search: ProofSearch[StoneGame[Any]] | None = None

    def __init__(self) -> None:
        super().__init__(ByGame("perfect", lambda game: resolve(plugin_of(game).agents["greedy"])()))

    @override
    def check_game(self, game: Game) -> None:
        if not isinstance(game, StoneGame) or (kind := plugin_of(game).hook("prover")) is None:
            raise InputError(f"agent {self.name!r}", "torus-v0, hex-v0 or y-v0", game.id)
        if game.num_cells > kind.perfect_cells:
            expected = f"a board that is solved, of at most {kind.perfect_cells} cells"
            raise InputError(f"agent {self.name!r}", expected, game.num_cells, where=game.id)
        if problem := native_problem():
            raise InputError(f"agent {self.name!r}", "the native library", cause=problem)

    @override
    def _winning(self, state: Any, generator: torch.Generator) -> Tensor:
        legal, search = self.game.legal_actions(state), self._searching()
        choice = self.game.winning_actions(state)
        for row in (~choice.any(1)).nonzero().squeeze(1).tolist():
            choice[row] = search.best_moves(state[row : row + 1]).to(legal.device)
        lost = ~choice.any(1)
        actions = random_actions(torch.where(lost[:, None], legal, choice), legal.shape[1:], generator)
        return actions.masked_fill(lost, -1)

    def values(self, state: Any, nodes: int) -> Tensor:
        """Return 1 where the player to move wins unfinished positions, -1 where it loses, 0 if it is open, int8 [L].

        Args:
            state: positions of the game that was started.
            nodes: searched at most for each position.
        """
        search = self._searching()
        search.restart()
        return search.solve(state, nodes)

    def _searching(self) -> ProofSearch[StoneGame[Any]]:
        if self._search is None or self._search.game != self.game:
            self._search = proof_search(self.game)
        return self._search

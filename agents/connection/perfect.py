"""`perfect` in Hex and Y: small boards, by proof-number search.

Letters: `L` games, `A` actions.
"""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent
from cellgames.agents.playouts.random_agent import random_actions
from cellgames.envs.connection.game import ConnectionGame, ConnectionState
from cellgames.envs.core import Game
from cellgames.utils.errors import InputError

from .greedy import ConnectionGreedy
from .proof_search import ConnectionSearch
from .solving import native_problem

MOST_CELLS = 36
"""The cells of the largest boards: Hex of size 6, Y of size 8."""

_NODES = 400_000  # looked at in a position at most, some seconds
_FEW = 16  # free cells of positions in which all moves are judged
_MEMORY = 1 << 24


class ConnectionPerfect(GameAgent[ConnectionGame]):
    """An agent that wins every position of a small board that can be won.

    It searches up to 400,000 nodes a move, at most some seconds. With 16 free cells or fewer it chooses at random among
    all moves that win, else it plays the one that it has found. In lost positions it moves as `greedy` does. Where a
    swap may follow its first stone, every first stone loses; it plays that of `greedy`, too.
    """

    plays = ConnectionGame

    def __init__(self, name: str = "perfect") -> None:
        super().__init__(name)
        self._search: ConnectionSearch | None = None

    @override
    def check_game(self, game: Game) -> None:
        if not isinstance(game, ConnectionGame):
            raise InputError(f"agent {self.name!r}", "hex-v0 or y-v0", game.id)
        if (cells := game.layout.cells) > MOST_CELLS:
            raise InputError(f"agent {self.name!r}", f"a board that is solved, of at most {MOST_CELLS} cells", cells)
        if problem := native_problem():
            raise ValueError(f"agent {self.name!r} needs the native library, but {problem}")

    def act_on_state(self, state: ConnectionState, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose the best moves, int64 [L]."""
        game, legal, search = self.game, self.game.legal_actions(state), self._searching()
        choice = torch.stack([self._winning(search, state[row : row + 1]) for row in range(len(state))])
        choice = choice.to(legal.device)
        lost = ~choice.any(1)
        actions = random_actions(torch.where(lost[:, None], legal, choice), legal.shape[1:], generator)
        if lost.any():
            greedy = ConnectionGreedy()
            greedy.start(game, state.current_player, env_ids)
            seen = game.observe(state, state.current_player)
            actions = torch.where(lost, greedy.act(seen, legal, env_ids, generator), actions)
        return actions

    def values(self, state: ConnectionState, nodes: int) -> Tensor:
        """Return 1 where the player to move wins unfinished positions, -1 where it loses, 0 if it is open, int8 [L].

        Args:
            state: positions of the game that was started.
            nodes: searched at most for each position.
        """
        search = self._searching()
        search.clear()
        return search.solve(state, nodes)

    def _searching(self) -> ConnectionSearch:
        if self._search is None or self._search.game != self.game:
            self._search = ConnectionSearch(self.game, _MEMORY)
        return self._search

    def _winning(self, search: ConnectionSearch, state: ConnectionState) -> Tensor:
        """Return moves that win one position, bool [A]; none if it is lost, or not solved."""
        search.clear()  # so that a move does not depend on other games
        legal = self.game.legal_actions(state)[0].to("cpu")
        if int(legal.sum()) <= _FEW:
            return search.move_values(state)[0] == 1
        choice, found = torch.zeros_like(legal), next(search.search(state, _NODES))
        if found.value == 1:
            choice[found.move] = True
        return choice

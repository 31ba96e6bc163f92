"""`perfect`: Torus without a mistake, on boards small enough to be solved.

Letters: `L` games, `N` cells.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.agents.base import BaseAgent
from cellgames.agents.random_agent import random_actions
from cellgames.envs.core import Game
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.state import TorusState

from .solver import SOLVED_SIZES, check_size, solver

__all__ = ["TorusPerfect"]


class TorusPerfect(BaseAgent):
    """Wins every position that can be won: at once if one stone does it, else by a move after which it still wins.

    Among equal moves, and in lost positions among all, it chooses at random. Positions that alternating turns do not
    lead to are refused with a `ValueError`, see `torus_solver`.
    """

    def __init__(self, name: str = "perfect") -> None:
        super().__init__(name)
        self._size: int | None = None

    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless it is Torus on a board that is solved."""
        if not isinstance(game, Torus):
            sizes = " or ".join(map(str, SOLVED_SIZES))
            raise ValueError(f"agent {self.name!r} plays torus-v0 of size {sizes}, got {game.id}")
        try:
            check_size(game.size)
        except ValueError as error:
            raise ValueError(f"agent {self.name!r}: {error}") from error

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """See `StateAgent`."""
        self.check_game(game)
        self._size = game.parameters["size"]

    def act_on_state(self, state: TorusState, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """See `StateAgent`."""
        if self._size is None:
            raise ValueError(f"agent {self.name!r} must be started first: call start(game, players, env_ids)")
        known, legal = solver(self._size, state.device), state.codes == 0
        choice = legal
        for better in (known.winning_moves(state), known.immediate_wins(state)):
            choice = torch.where(better.any(1, keepdim=True), better, choice)
        return random_actions(choice, choice.shape[1:], generator)

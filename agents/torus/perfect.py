"""`perfect`: Torus without a mistake, on boards small enough to be solved.

Letters: `L` games, `N` cells.
"""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent
from cellgames.agents.playouts.random_agent import random_actions
from cellgames.envs.core import Game
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.state import TorusState

from .solver import SOLVED_SIZES, check_size, solver

__all__ = ["TorusPerfect"]


class TorusPerfect(GameAgent[Torus]):
    """An agent that wins every position that can be won, at once if one stone does it.

    Among equal moves, and in lost positions among all, it chooses at random. Positions that alternating turns do not
    lead to are refused with a `ValueError`, see `solver`.
    """

    plays = Torus

    def __init__(self, name: str = "perfect") -> None:
        super().__init__(name)

    @override
    def check_game(self, game: Game) -> None:
        if not isinstance(game, Torus):
            sizes = " or ".join(map(str, SOLVED_SIZES))
            raise ValueError(f"agent {self.name!r} plays torus-v0 of size {sizes}, got {game.id}")
        try:
            check_size(game.size)
        except ValueError as error:
            raise ValueError(f"agent {self.name!r}: {error}") from error

    def act_on_state(self, state: TorusState, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose the best moves, int64 [L]."""
        known, legal = solver(self.game.size, state.device), state.codes == 0
        choice = legal
        for better in (known.winning_moves(state), known.immediate_wins(state)):
            choice = torch.where(better.any(1, keepdim=True), better, choice)
        return random_actions(choice, choice.shape[1:], generator)

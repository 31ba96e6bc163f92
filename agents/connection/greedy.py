"""Greedy Hex and Y: play where one's own cheap connections and the opponent's meet."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent, refuse
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.core import Game, seeds

from .distance import connection_costs, greatest, values


class ConnectionGreedy(GameAgent[ConnectionGame]):
    """An agent that wins at once if one stone does it, else stops an opponent who could, else plays by potentials.

    The potential of a cell counts all kinds of connections through it, by their costs (`connection_costs`,
    `distance`). The agent plays the cell with the greatest sum of both players' potentials. Where the second player
    may swap, the first stone matters by its potential on an empty board: the agent takes over one on a cell that is
    better than most, and begins itself on a cell in the middle of that order. It keeps no memory; ties are broken by
    the generator, and a game does not depend on the batch around it.
    """

    memoryless = True

    def __init__(self, name: str = "greedy") -> None:
        super().__init__(name)

    @override
    def check_game(self, game: Game) -> None:
        refuse(self, game, [] if isinstance(game, ConnectionGame) else ["it is neither Hex nor Y"])

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one action in each game, int64 [L]."""
        game, cells = self.game, self.game.layout.cells
        value = values(*connection_costs(game, observation), action_mask[:, :cells])
        if game.swap:
            value = _with_swap(game, value, action_mask)
        return greatest(value, generator)


def _with_swap(game: ConnectionGame, value: Tensor, mask: Tensor) -> Tensor:
    """Return values of all actions, int64 [L, A], in which the first two turns count with the swap."""
    worth = _openings(game).to(value.device)
    middle = worth.median()
    free = mask[:, :-1]
    first = free.all(1) & ~mask[:, -1]
    # Of a first stone, the nearest to the middle; where a swap is legal, by whether the stone is better than that.
    value = torch.where(first[:, None], -(worth - middle).abs(), value)
    better = torch.where(free, 0, worth).amax(1) > middle
    swap = torch.where(mask[:, -1], torch.where(better, value.amax(1) + 1, -1), torch.iinfo(value.dtype).min)
    return torch.cat((value, swap[:, None]), 1)


@lru_cache(maxsize=32)
def _openings(game: ConnectionGame) -> Tensor:
    """Return the potentials of the cells of an empty board, int64 [N]; the mean of a cell and its mirror image."""
    state = game.init(seeds(0, 1))
    costs = connection_costs(game, game.observe(state, 0))
    return values(*costs, torch.ones((1, game.layout.cells), dtype=torch.bool, device="cpu"))[0]

"""`mcts:N` in the Toroidal Cup: a matrix game of own candidates and others' guesses for each placement.

Letters: `L` games, `C` candidates, `G` guesses, `A` actions.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.simultaneous import solve_matrix
from cellgames.envs.core import chance
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.state import CupState

from .greedy import ToroidalCupGreedy

__all__ = ["CupSearch"]

_CANDIDATES_A_GUESS = 4  # about; more candidates are worth more than more guesses
_DRAWN = chance.USER + 2  # after those of greedy
_ITERATIONS = 200  # of regret matching
_LOTS = 1 << 20  # equally likely numbers, by one of which a placement is drawn


class CupSearch(ToroidalCupGreedy):
    """A search that tries N pairs of an own placement and the others', and lets Life run a while after each pair.

    Candidates, guesses and the time for which Life is watched are those of `greedy`, with which it shares everything
    but numbers. Before the last step it plays the candidate of the best mean lead.

    The last placements are a matrix game, whose payoffs are the leads. Regret matching finds its mixed strategy, from
    which the placement is drawn. So a bot that foresees last placements gains little; but against one that does not,
    the candidate of the best mean lead (`mixed=False`) is worth more.

    Args:
        simulations: games of Life for each placement.
        mixed: draw the last placement from the mixed strategy; else play the best mean lead there, too.
        name: as in `Agent`.
    """

    def __init__(self, simulations: int, *, mixed: bool = True, name: str | None = None) -> None:
        if simulations < 1:
            raise ValueError(f"expected at least 1 simulation, got {simulations}")
        guesses = max(1, round(math.sqrt(simulations / _CANDIDATES_A_GUESS)))
        name = name if name is not None else f"mcts:{simulations}"
        super().__init__(name, candidates=simulations // guesses, guesses=guesses)
        self.mixed = mixed

    @override
    def _choose(self, game: ToroidalCup, state: CupState, seats: Tensor, mask: Tensor, seeds: Tensor) -> Tensor:
        actions, lead = self._leads(game, state, seats, mask, seeds)
        best = lead.mean(2).argmax(1)
        last = game.is_last_turn(state) & self.mixed
        if last.any():
            mixture = solve_matrix(lead[last], _ITERATIONS).row
            lots = chance.uniform_int(chance.draw(seeds[last], _DRAWN, torch.zeros_like(seeds[last])), _LOTS)
            drawn = mixture.cumsum(1) <= lots[:, None] / _LOTS  # the candidates that are passed by
            best[last] = drawn.sum(1).clamp(max=mixture.shape[1] - 1)
        return actions.gather(1, best[:, None]).squeeze(1)

"""Greedy Cloth of Gold: lay shapes in many ways, let the round run, and keep the best turn.

Letters: `L` games to move in, `C` candidate turns, `K` the most units of a turn.
"""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import draw_seeds
from cellgames.envs.boards.bitboards import count
from cellgames.envs.cloth_of_gold import placement
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.simulation import simulate
from cellgames.envs.cloth_of_gold.state import ClothState

from .turns import TurnAgent, random_turns

__all__ = ["ClothGreedy"]

_WORLDS = 1 << 22  # cells simulated at a time, which bounds the memory
_DECIDED = 1e6  # more than any lead


class ClothGreedy(TurnAgent):
    """An agent that plays the turn after which, if the round ran now, it would win, or else lead by most units.

    Candidates are random turns of shapes, half of them at the edge of one's own territory. For the player who places
    last the round is exactly what follows; the other one leaves out what the opponent will add.

    Chance comes from a seed of each game, so that a turn does not depend on the games beside it.
    """

    def __init__(self, name: str = "greedy", *, candidates: int = 12) -> None:
        super().__init__(name)
        if candidates < 1:
            raise ValueError(f"expected at least 1 candidate, got {candidates}")
        self.candidates = candidates

    @override
    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        game = self.game
        seeds = draw_seeds(len(state), generator, state.device)
        together = max(1, _WORLDS // (game.cells * self.candidates))
        rows = torch.arange(len(state), device=state.device)
        return torch.cat([self._best(game, state[some], seeds[some]) for some in rows.split(together)])

    def _best(self, game: ClothOfGold, state: ClothState, seeds: Tensor) -> Tensor:
        plans = random_turns(game, state, seeds, self.candidates, border=True)
        units = forecast(game, state, plans)
        best = worth(game, state, units).argmax(1)
        return plans[torch.arange(len(state), device=state.device), best]


def forecast(game: ClothOfGold, state: ClothState, plans: Tensor) -> Tensor:
    """Return both players' units if a round ran after the mover's turn, int64 [L, C, 2], for plans int64 [L, C, K]."""
    rows = torch.arange(len(state), device=state.device).repeat_interleave(plans.shape[1])
    new = placement.bits_of(game.grid, plans.flatten(0, 1))
    player = state.current_player[rows]
    sides = [state.units[rows, side] | new * (player == side)[:, None, None] for side in (0, 1)]
    planes = torch.stack((*sides, state.neutral[rows], state.killed[rows])).movedim(1, -1).contiguous()
    after = simulate(game.grid, planes, game.generations, game.neutral_births)
    return count(after[:2]).t().view(*plans.shape[:2], 2)


def worth(game: ClothOfGold, state: ClothState, units: Tensor) -> Tensor:
    """Return the worth of units after the round to the mover, float64 [L, C]: the lead, or a decision."""
    a, b = units.unbind(2)
    lead, before = a - b, state.scores[:, :1].to(units.dtype)
    won_a, won_b, lost = game.decided(state.round[:, None], before, a, b)
    sign = 1 - 2 * state.current_player[:, None]
    result = torch.where(won_a, 1, 0) - torch.where(won_b, 1, 0)
    value = lead * sign + _DECIDED * (result * sign - torch.where(lost, 1, 0)).float()
    return value.double()

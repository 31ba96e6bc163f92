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

__all__ = ["ClothGreedy", "proposals"]

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
        seeds = draw_seeds(len(state), generator, state.device)
        return proposals(self.game, state, seeds, self.candidates, 1)[0].squeeze(1)


def proposals(game: ClothOfGold, state: ClothState, seeds: Tensor, drawn: int, kept: int) -> tuple[Tensor, Tensor]:
    """Return the random turns that would be worth most if the round ran now, the best one first.

    Args:
        game: the rules.
        state: `L` games.
        seeds: int64 [L], of which the turns are a function.
        drawn: turns for each game, as `random_turns` draws them with a border.
        kept: `C`, how many of them to return.

    Returns:
        The turns, int64 [L, C, K], and their worth, float64 [L, C].
    """
    together = max(1, _WORLDS // (game.cells * drawn))
    rows = torch.arange(len(state), device=state.device)
    found = [_proposed(game, state[some], seeds[some], drawn, kept) for some in rows.split(together)]
    plans, value = map(torch.cat, zip(*found, strict=True))
    return plans, value


def _proposed(game: ClothOfGold, state: ClothState, seeds: Tensor, drawn: int, kept: int) -> tuple[Tensor, Tensor]:
    plans = random_turns(game, state, seeds, drawn, border=True)
    value, order = worth(game, state, forecast(game, state, plans)).sort(dim=1, descending=True, stable=True)
    order = order[:, :kept]
    return plans[torch.arange(len(state), device=state.device)[:, None], order], value[:, :kept]


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

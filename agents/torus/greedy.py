"""Greedy Torus: play where one's own cheap winning cycles and the opponent's meet.

Letters: `L` games, `N` cells, `M` kinds of cycles.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.agents.base import BaseAgent

from .distance import CLOSED, cycle_costs

__all__ = ["TorusGreedy"]

_HALVINGS = 16  # costs this far above the least count nothing
_URGENT = 1 << 44  # more than any sum of potentials


class TorusGreedy(BaseAgent):
    """An agent that wins at once if one stone does it, else stops an opponent who could, else plays by potentials.

    The potential of a cell for a player is the sum of 2^-cost over the kinds of winning cycles through it
    (`cycle_costs`), as a share of the player's greatest. The agent plays the cell with the
    greatest sum of both players' potentials: what helps itself and hurts the opponent most. Counting all
    kinds of cycles beats looking at the cheapest alone in 8 or 9 of 10 games. It keeps no memory; ties are
    broken by the generator, and everything is counted in integers, so a game does not depend on the batch
    around it.
    """

    memoryless = True

    def __init__(self, name: str = "greedy") -> None:
        super().__init__(name)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one cell in each game, int64 [L]."""
        costs = cycle_costs(observation)
        (own, own_best), (opponent, opponent_best) = (_potential(part, action_mask) for part in costs)
        wins, stops = ((part.amin(1) == 1) & action_mask for part in costs)
        value = own * opponent_best[:, None] + opponent * own_best[:, None]
        urgent = torch.where(wins.any(1, keepdim=True), wins, stops)
        value = value + urgent * _URGENT
        return _greatest(torch.where(action_mask, value, -1), generator)


def _potential(costs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return potentials of the legal cells, int64 [L, N], below 2^21, and the greatest, [L], at least 1."""
    least = costs.amin(1).where(mask, CLOSED).amin(1)
    above = costs.long() - least[:, None, None]
    counts = (costs < CLOSED) & mask[:, None] & (above < _HALVINGS)
    potential = torch.where(counts, 1 << (_HALVINGS - above).clamp(0, _HALVINGS), 0).sum(1)
    return potential, potential.amax(1).clamp(min=1)


def _greatest(values: Tensor, generator: torch.Generator) -> Tensor:
    """Return the place of the greatest value in each row, int64 [L]; a random one of several."""
    ties = values == values.amax(1, keepdim=True)
    chance = torch.rand(values.shape, generator=generator, device=generator.device, dtype=torch.float32).to(
        values.device
    )
    return chance.add_(1).where(ties, 0).argmax(1)

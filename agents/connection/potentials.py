"""Choose cells by what connections through them still cost. Hex, Y and Torus choose so.

Letters: `L` games, `N` cells, `M` kinds of connections.
"""

from __future__ import annotations

import torch
from torch import Tensor

CLOSED = 120
"""A cost from here on means that there is no such connection."""

_HALVINGS = 16  # costs this far above the least count nothing
_URGENT = 1 << 44  # more than any sum of potentials


def values(own: Tensor, opponent: Tensor, mask: Tensor) -> Tensor:
    """Return values of cells for the player to move, int64 [L, N]: cells that win come first, then those that defend.

    Else the potentials decide. The potential of a cell for a player is the sum of 2^-cost over the kinds of connections
    through it, as a share of the player's greatest; both players' are added. Everything is counted in integers, so a
    game does not depend on the batch around it.

    Args:
        own: uint8 [L, M, N], stones that the player still needs for each kind of connection through a cell.
        opponent: the same for the opponent.
        mask: bool [L, N], the free cells.
    """
    (mine, most), (theirs, their_most) = (_potential(part, mask) for part in (own, opponent))
    wins, stops = ((part.amin(1) == 1) & mask for part in (own, opponent))
    value = mine * their_most[:, None] + theirs * most[:, None]
    urgent = torch.where(wins.any(1, keepdim=True), wins, stops)
    return torch.where(mask, value + urgent * _URGENT, -1)


def _potential(costs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return potentials of the legal cells, int64 [L, N], below 2^22, and the greatest, [L], at least 1."""
    least = costs.amin(1).where(mask, CLOSED).amin(1)
    above = costs.long() - least[:, None, None]
    counts = (costs < CLOSED) & mask[:, None] & (above < _HALVINGS)
    potential = torch.where(counts, 1 << (_HALVINGS - above).clamp(0, _HALVINGS), 0).sum(1)
    return potential, potential.amax(1).clamp(min=1)


def greatest(values: Tensor, generator: torch.Generator) -> Tensor:
    """Return the place of the greatest value in each row, int64 [L]; a random one of several."""
    ties = values == values.amax(1, keepdim=True)
    chance = torch.rand(values.shape, generator=generator, device=generator.device, dtype=torch.float32).to(
        values.device
    )
    return chance.add_(1).where(ties, 0).argmax(1)

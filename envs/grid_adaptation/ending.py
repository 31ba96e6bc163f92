"""What a match of Grid Adaptation is worth in the end: tokens, garnets, the vote, the Elimination Candidate.

Letters: `B` matches, `P` players.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.core import chance

__all__ = [
    "GARNETS_EACH",
    "GARNETS_FROM",
    "ballot",
    "candidate_by_lot",
    "candidate_by_vote",
    "earned_garnets",
    "tokens",
    "voters",
]

GARNETS_FROM, GARNETS_EACH = 200, 50
_LOT = chance.USER + 1  # purpose of draws


def tokens(points: Tensor) -> Tensor:
    """int64 [B, P], Tokens of Life for points, [B, P]: 2 for the only first, 1 for two or three, 0 for more."""
    first = points == points.amax(1, keepdim=True)
    count = first.sum(1, keepdim=True)
    each = torch.where(count == 1, 2, torch.where(count <= 3, 1, 0))
    return torch.where(first, each, 0)


def earned_garnets(points: Tensor) -> Tensor:
    """int64 [B, P] for points, [B, P]: 1 at 200 and 1 more for every further 50."""
    above = points.long() - GARNETS_FROM
    return torch.where(above >= 0, 1 + torch.div(above, GARNETS_EACH, rounding_mode="floor"), 0)


def voters(tied: Tensor, won: Tensor) -> Tensor:
    """Bool [B, P], who votes among the tied, bool [B, P]: all who won a Token, int64 [B, P], if somebody is tied."""
    return (won > 0) & tied.any(1, keepdim=True)


def ballot(tied: Tensor) -> Tensor:
    """Bool [B, P, P], for whom each player may vote: the tied, oneself only if nobody else is."""
    own = torch.eye(tied.shape[1], dtype=torch.bool, device=tied.device)
    others = tied[:, None] & ~own
    return torch.where(others.any(2, keepdim=True), others, tied[:, None])


def candidate_by_vote(tied: Tensor, votes: Tensor, may_vote: Tensor, garnets: Tensor, seed: Tensor) -> Tensor:
    """int64 [B], who of the tied most voted for; if several, whose voters hold most garnets; else by lot.

    Args:
        tied: bool [B, P].
        votes: int64 [B, P], a seat, or `P` for none.
        may_vote: bool [B, P].
        garnets: int64 [B, P].
        seed: int64 [B], the lanes'.
    """
    seats = torch.arange(tied.shape[1], device=tied.device)
    cast = (votes[:, :, None] == seats) & ballot(tied) & may_vote[:, :, None]  # [B, voter, for whom]
    number = cast.sum(1)
    best = tied & (number == number.where(tied, -1).amax(1, keepdim=True))
    weight = torch.where(cast, garnets[:, :, None], 0).sum(1)
    best = best & (weight == weight.where(best, -1).amax(1, keepdim=True))
    return candidate_by_lot(best, seed)


def candidate_by_lot(among: Tensor, seed: Tensor) -> Tensor:
    """int64 [B], one of bool [B, P] with equal chances; the only one, if there is one."""
    lots = chance.draw(seed[:, None], _LOT, torch.arange(among.shape[1], device=among.device))
    return lots.where(among, -1).argmax(1)

"""The worth of a match of Grid Adaptation in the end: tokens, garnets, the vote, the Elimination Candidate.

Letters: `P` players, `B` matches, innermost as in `stages`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.core import chance

from .rules import quotient

GARNETS_FROM, GARNETS_EACH = 200, 50
_LOT = chance.USER + 1  # purpose of draws


def tokens(points: Tensor) -> Tensor:
    """Return Tokens of Life for points, int64 [P, B]: 2 for the only first, 1 for two or three, 0 for more."""
    first = points == points.amax(0)
    count = first.long().sum(0)
    each = torch.where(count == 1, 2, torch.where(count <= 3, 1, 0))
    return torch.where(first, each, 0)


def earned_garnets(points: Tensor) -> Tensor:
    """Return garnets for points, int64 [P, B]: 1 at 200 and 1 more for every further 50."""
    above = points.long() - GARNETS_FROM
    return torch.where(above >= 0, 1 + quotient(above, GARNETS_EACH), 0)


def fewest(points: Tensor) -> Tensor:
    """Return a mask of the players with the fewest points, bool [P, B]."""
    return points == points.amin(0)


def voters(tied: Tensor, won: Tensor) -> Tensor:
    """Return a mask of the voters, bool [P, B]: if somebody is tied, all players with a Token (`won`, int64 [P, B])."""
    return (won > 0) & (tied.long().sum(0) > 0)


def ballot(tied: Tensor) -> Tensor:
    """Return for whom each player may vote, bool [P, P, B]: the tied, oneself only if nobody else is."""
    own = torch.eye(len(tied), dtype=torch.bool, device=tied.device)[:, :, None]
    others = tied & ~own
    return torch.where(others.any(1, keepdim=True), others, tied)


def most_voted(tied: Tensor, votes: Tensor, won: Tensor, garnets: Tensor) -> Tensor:
    """Return a mask of the tied with most votes, bool [P, B]; of several, those whose voters hold most garnets.

    Args:
        tied: bool [P, B].
        votes: int64 [P, B], a seat, or `P` for none.
        won: int64 [P, B], Tokens of Life.
        garnets: int64 [P, B].
    """
    seats = torch.arange(len(tied), device=tied.device)[:, None]
    cast = (votes[:, None] == seats) & ballot(tied) & voters(tied, won)[:, None]  # [voter, for whom, B]
    number = cast.sum(0)
    best = tied & (number == number.where(tied, -1).amax(0))
    weight = torch.where(cast, garnets[:, None], 0).sum(0)
    return best & (weight == weight.where(best, -1).amax(0))


def by_lot(among: Tensor, seed: Tensor) -> Tensor:
    """Return one of bool [P, B] with equal chances, int64 [B].

    Args:
        among: bool [P, B].
        seed: int64 [B], the matches'.
    """
    upto = among.long().cumsum(0)
    place = torch.zeros_like(seed)
    env_ids = (upto[-1] > 1).nonzero().squeeze(1)
    if len(env_ids):
        place[env_ids] = chance.uniform_int(chance.draw(seed[env_ids], _LOT, place[env_ids]), upto[-1, env_ids])
    return (upto <= place).sum(0)

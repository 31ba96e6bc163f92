"""The rules of Grid Adaptation: generations of boards, points, and the worth of a match in the end.

Sources: the game's sheet by pseudonam (Genius Game 4, Main Match 6) and its clarifications.

Letters: `B` matches, `P` players. Boards are batches of bitboards (`boards.packedboards`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Tensor

from cellgames.envs.boards.packedboards import PackedGrid
from cellgames.envs.core import chance

N = TypeVar("N", Tensor, int)

DIGITS = (4, 2, 1)
"""Values of a sequence's digits, in the order in which boards are stored and sequences written."""

FIRST_PRICE = 2
GARNETS_FROM, GARNETS_EACH = 200, 50
_LOT = chance.USER + 1  # purpose of draws


def generation(board: PackedGrid, tiles: Tensor, digits: Sequence[Tensor]) -> tuple[Tensor, list[Tensor]]:
    """Return the next generation: a tile with two or three neighbours stays, an empty space with three gets one.

    Each digit of a new tile is the one that most of its three parents have; `digits` are masks of the tiles with digit
    1.
    """
    ones, twos, fours = board.neighbour_counts(tiles)
    enough = board.trim(twos & ~fours)
    stays, born = tiles & enough, enough & ones & ~tiles
    # Two or three of three parents is the second bit of their number.
    return stays | born, [(stays & digit) | (born & board.neighbour_counts(digit, 2)[1]) for digit in digits]


def land(free: Tensor, named: Sequence[Tensor]) -> list[Tensor]:
    """Return the tiles that each player gets of the spaces that it named: the free ones that nobody else names."""
    somebody, several = free ^ free, free ^ free
    for spaces in named:
        somebody, several = somebody | spaces, several | (somebody & spaces)
    return [spaces & free & ~several for spaces in named]


def flipped(sequence: N, flip: N) -> N:
    """Return a sequence after a flip: 0 leaves it, k turns the digit of value 2 ** (k - 1)."""
    return sequence ^ ((1 << flip) >> 1)


def bits_matched(tiles: N, ones: Sequence[N]) -> list[N]:
    """Return the points of each of the eight sequences: 3 less the Hamming distance for every tile.

    Given are the number of tiles, and for each digit the number of those that have digit 1.
    """
    return [
        sum((one if sequence & value else tiles - one for value, one in zip(DIGITS, ones, strict=True)), tiles - tiles)
        for sequence in range(8)
    ]


def price(bought: N) -> N:
    """Return the price of a player's next extra tile in garnets, after `bought` extra tiles: 2, 4, 8, ..."""
    return FIRST_PRICE << bought


def tokens(points: Tensor) -> Tensor:
    """Return Tokens of Life for points, int64 [B, P]: 2 for the only first, 1 for two or three, 0 for more."""
    first = points == points.amax(1, keepdim=True)
    count = first.sum(1, keepdim=True)
    each = torch.where(count == 1, 2, torch.where(count <= 3, 1, 0))
    return torch.where(first, each, 0)


def earned_garnets(points: Tensor) -> Tensor:
    """Return garnets for points, int64 [B, P]: 1 at 200 and 1 more for every further 50."""
    above = points.long() - GARNETS_FROM
    return torch.where(above >= 0, 1 + above // GARNETS_EACH, 0)


def voters(tied: Tensor, won: Tensor) -> Tensor:
    """Return a mask of the voters, bool [B, P]: if somebody is tied, all players with a Token (`won`, int64 [B, P])."""
    return (won > 0) & tied.any(1, keepdim=True)


def ballot(tied: Tensor) -> Tensor:
    """Return for whom each player may vote, bool [B, P, P]: the tied, oneself only if nobody else is."""
    others = tied[:, None] & ~torch.eye(tied.shape[1], dtype=torch.bool, device=tied.device)
    return torch.where(others.any(2, keepdim=True), others, tied[:, None])


def most_voted(tied: Tensor, votes: Tensor, won: Tensor, garnets: Tensor) -> Tensor:
    """Return a mask of the tied with most votes, bool [B, P]; of several, those whose voters hold most garnets.

    Votes are seats, `P` for none, int64 [B, P] as garnets and Tokens of Life, `won`.
    """
    seats = torch.arange(tied.shape[1], device=tied.device)
    cast = (votes[:, :, None] == seats) & ballot(tied) & voters(tied, won)[:, :, None]  # [B, voter, for whom]
    number = cast.sum(1)
    best = tied & (number == number.where(tied, -1).amax(1, keepdim=True))
    weight = torch.where(cast, garnets[:, :, None], 0).sum(1)
    return best & (weight == weight.where(best, -1).amax(1, keepdim=True))


def by_lot(among: Tensor, seed: Tensor) -> Tensor:
    """Return one of bool [B, P] with equal chances, int64 [B], by the matches' seeds, int64 [B]."""
    upto = among.cumsum(1)
    place = chance.uniform_int(chance.draw(seed, _LOT, torch.zeros_like(seed)), upto[:, -1])
    return (upto <= place[:, None]).sum(1)

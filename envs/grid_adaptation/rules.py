"""The rules of Grid Adaptation that boards follow, on batches of bitboards (`boards.packedboards`).

Sources: the game's sheet by pseudonam (Genius Game 4, Main Match 6) and its clarifications.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from torch import Tensor

from cellgames.envs.boards.packedboards import PackedGrid

N = TypeVar("N", Tensor, int)

DIGITS = (4, 2, 1)
"""Values of a sequence's digits, in the order in which boards are stored and sequences written."""

FIRST_PRICE = 2


def generation(board: PackedGrid, tiles: Tensor, digits: Sequence[Tensor]) -> tuple[Tensor, list[Tensor]]:
    """Return the next generation: a tile with two or three neighbours stays, an empty space with three gets one.

    Each digit of a new tile is the one that most of its three parents have.

    Args:
        board: the shape of the boards.
        tiles: mask of the spaces with a tile.
        digits: masks of the tiles with digit 1, one for each digit of the sequence.
    """
    ones, twos, fours = board.neighbour_counts(tiles)
    enough = board.trim(twos & ~fours)
    stays, born = tiles & enough, enough & ones & ~tiles
    # Two or three of three parents is the second bit of their number.
    return stays | born, [(stays & digit) | (born & board.neighbour_counts(digit, 2)[1]) for digit in digits]


def landing(free: Tensor, named: Sequence[Tensor]) -> Tensor:
    """Return the spaces on which tiles land: the free ones that exactly one player has named.

    Args:
        free: spaces without a tile.
        named: the spaces that each player has named, once or more.
    """
    pairs = [(spaces, spaces & ~spaces) for spaces in named]  # named by somebody, by several
    while len(pairs) > 1:  # in pairs, so that the compiler has little to work out twice
        joined = [
            (one | other, twice | again | (one & other))
            for (one, twice), (other, again) in zip(pairs[::2], pairs[1::2], strict=False)
        ]
        pairs = joined + pairs[len(joined) * 2 :]
    somebody, several = pairs[0]
    return free & somebody & ~several


def land(free: Tensor, named: Sequence[Tensor]) -> list[Tensor]:
    """Return the tiles that each player gets of the spaces that all have named."""
    alone = landing(free, named)
    return [spaces & alone for spaces in named]


def flipped(sequence: N, flip: N) -> N:
    """Return a sequence after a flip: 0 leaves it, k turns the digit of value 2 ** (k - 1)."""
    return sequence ^ ((1 << flip) >> 1)


def bits_matched(tiles: N, ones: Sequence[N]) -> list[N]:
    """Return the points of each of the eight sequences: 3 less the Hamming distance for every tile.

    Args:
        tiles: number of tiles.
        ones: number of tiles that have digit 1, for each digit.
    """
    return [
        sum((one if sequence & value else tiles - one for value, one in zip(DIGITS, ones, strict=True)), tiles - tiles)
        for sequence in range(8)
    ]


def quotient(number: N, divisor: int) -> N:
    """Return a number from 0 to 300,000 over one from 1 to 50, rounded down, without division."""
    return number * ((1 << 24) // divisor + 1) >> 24


def price(bought: N) -> N:
    """Return the price of a player's next extra tile in garnets, after `bought` extra tiles: 2, 4, 8, ..."""
    return FIRST_PRICE << bought

"""The state of a batch of Grid Adaptation matches, and the layout of what a player observes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor
from typing_extensions import TypeVar

from cellgames.envs.core.state import State

COMPONENTS = ("tile 1", "tile 2", "tile 3", "reserve tile", "flip", "purchase", "vote")
"""Of an action; the first four name spaces."""

SLOTS = slice(0, 4)
RESERVE, FLIP, BUY, VOTE = range(3, 7)
MOST_TILES = 3

PLANES = (
    "tile",
    *(f"digit {place} of the tile" for place in (1, 2, 3)),
    *(f"own digit {place}" for place in (1, 2, 3)),
    "own reserve tiles",
    "own garnets",
    "price of the next extra tile",
    "own points",
    "round",
    "1 in rounds with a flip",
    "1 in the voting step",
    *(f"what sequence {sequence:03b} would have earned in the last round" for sequence in range(8)),
)
"""Planes before those of the players: first the board, then numbers that are the same everywhere."""

BOARDS = 4
LARGEST = (1 << 15) - 1  # of an int16; larger numbers are shown as this


@dataclass(frozen=True, eq=False)
class GridState(State):
    """The state of a batch of Grid Adaptation matches.

    Letters: `P` players, `N` words of a board (see `boards.packedboards`).

    Scores are points so far.

    Attributes:
        planes: [B, 4, N] int64, boards: tiles, and where the first, second and third digit of their sequence is 1.
        placed: [B, N] int64, board of the tiles that were placed in the last step.
        sequence: [B, P] int64, the players' own, 0 to 7, the first digit the most significant.
        reserves: [B, P] int64, reserve tiles held.
        bought: [B, P] int64, extra tiles bought so far.
        garnets: [B, P] int64.
        public: [B, 8] int64, what each sequence would have earned in the last round; zeros before the first.
        round: [B] int64, to be played, from 1; one more than there are in the voting step. The last one played when the
            match is over.
        tied: [B, P] bool, among whom the vote is; false but in the voting step and after it.
        tokens: [B, P] int64, Tokens of Life; zeros until the rounds are over.
        candidate: [B] int64, the Elimination Candidate's seat; -1 until the match is over.
    """

    planes: Tensor
    placed: Tensor
    sequence: Tensor
    reserves: Tensor
    bought: Tensor
    garnets: Tensor
    public: Tensor
    round: Tensor
    tied: Tensor
    tokens: Tensor
    candidate: Tensor


G = TypeVar("G", bound=GridState, default=Any)
"""The type of the states of a game, which may extend `GridState`."""


def num_planes(players: int) -> int:
    """Return the number of planes, with each player's points and who is tied."""
    return len(PLANES) + 2 * players

"""The state of a batch of Cloth of Gold games, and the layout of what a player observes of it."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from cellgames.envs.core.state import State

COLUMNS = ("units_a", "units_b", "territory_a", "territory_b", "contested", "killed")
"""Of `ClothState.rounds`."""

BOARDS = ("own", "opponent", "neutral", "killed", "placed", "own territory", "opponent's territory")
NUMBERS = ("units left in this turn", "round", "own score of the last round", "1 for player_a")
PLANES = len(BOARDS) + len(NUMBERS)
LARGEST = (1 << 15) - 1  # of an int16: scores beyond are shown as this


@dataclass(frozen=True, eq=False)
class ClothState(State):
    """The state of a batch of Cloth of Gold games.

    Letters: `S, N` stored rows and words in them (see `boards.bitboards`), `R` the most rounds.

    Scores are leads in units when the last round was scored; the initial placement counts as one.

    Attributes:
        units: [B, 2, S, N] int64, bitboards of the players' units.
        neutral: [B, S, N] int64, neutral cells.
        killed: [B, S, N] int64, killed cells.
        territory: [B, 2, S, N] int64, territories of the units on the board, now.
        placed: [B, S, N] int64, units that the mover has placed in this turn.
        live: [B, 2] int32, units on the board.
        left: [B] int32, units that the mover may still place in this turn.
        acts: [B] int32, placements and take-backs in this turn.
        first: [B] int64, the player who places first in this round; when the game is over, who did in the last one.
        round: [B] int32, 0 while the initial population is placed, then from 1; the last one when the game is over.
        rounds: [B, R + 1, 6] int32, after each round (`COLUMNS`): units, territory, contested and killed cells; row 0
            after the initial placement, zeros without that placement, and for rounds that have not been played.
    """

    units: Tensor
    neutral: Tensor
    killed: Tensor
    territory: Tensor
    placed: Tensor
    live: Tensor
    left: Tensor
    acts: Tensor
    first: Tensor
    round: Tensor
    rounds: Tensor

"""The state of a batch of Toroidal Cup games."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from cellgames.envs.core.state import State


@dataclass(frozen=True, eq=False)
class CupState(State):
    """The state of a batch of Toroidal Cup games.

    Letters: `P` teams, `S` shapes of the longest game.

    Scores are live cells. The lives between start and end are not kept: the start determines them.

    Attributes:
        pattern: [B] int64, which of the game's patterns is played.
        queue: [B, P, S] int8, the shapes still to be placed, the next one first (indices of the game's `stamps`), -1
            beyond the last; all teams of an env have the same number.
        start: [B, rows, cols] int8, the arrangement so far, 0 empty, else the team's number.
        board: [B, rows, cols] int8, the same until Life has run, then the final position.
        generations: [B] int32, the generation at which the game ended, 0 before.
    """

    pattern: Tensor
    queue: Tensor
    start: Tensor
    board: Tensor
    generations: Tensor

"""The fields that the states of all games of connected stones have."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from typing_extensions import TypeVar

from cellgames.envs.core.state import State


@dataclass(frozen=True, eq=False)
class StoneState(State):
    """The state of a batch of games of connected stones.

    Letters: `N` cells, `A` actions, `W = ceil(A / 32)` words.

    Attributes:
        codes: [B, N] int32, colour, group and what else the game knows of every stone, 0 where free (see `joining`).
        free: [B, W] int64, the packed mask of the legal actions; in memory the batch is innermost.
        last: [B] int32, the cell of the last stone, -1 before the first.
    """

    codes: Tensor
    free: Tensor
    last: Tensor


StoneS = TypeVar("StoneS", bound=StoneState, default=StoneState)

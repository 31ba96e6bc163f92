"""The state of a batch of games of Hex or Y."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from cellgames.envs.core.state import State

__all__ = ["ConnectionState"]


@dataclass(frozen=True, eq=False)
class ConnectionState(State):
    """The state of a batch of games of Hex or Y.

    Letters: `N` cells, `A` actions, `W = ceil(A / 32)` words.

    Attributes:
        codes: [B, N] int32, colour, group and sides of every stone, 0 where free (see `rules`).
        free: [B, W] int64, the packed mask of the legal actions; in memory the batch is innermost.
        last: [B] int32, the cell of the last stone, -1 before the first.
    """

    codes: Tensor
    free: Tensor
    last: Tensor

"""The state of a batch of Torus games."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from cellgames.envs.core.state import State

__all__ = ["TorusState"]


@dataclass(frozen=True, eq=False)
class TorusState(State):
    """The state of a batch of Torus games.

    Letters: `N = 2 n^2` cells, `W = ceil(N / 32)` words.

    Attributes:
        codes: [B, N] int32, colour, group and winding of every stone, 0 where free (see `rules`).
        free: [B, W] int64, the packed mask of the free cells; in memory the batch is innermost.
        losing: [B] int32, the class of the first path around the torus (an offset, see `rules.keep`), else 0.
        last: [B] int32, the cell of the last move, -1 before the first.
    """

    codes: Tensor
    free: Tensor
    losing: Tensor
    last: Tensor

"""The state of a batch of Torus games."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from cellgames.envs.stones.stone_state import StoneState


@dataclass(frozen=True, eq=False)
class TorusState(StoneState):
    """The state of a batch of Torus games.

    The field `codes` has the winding of each stone, too (see `rules`).

    Attributes:
        losing: [B] int32, the class of the first path around the torus (an offset, see `rules.keep`), else 0.
    """

    losing: Tensor

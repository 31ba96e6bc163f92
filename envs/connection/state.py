"""The state of a batch of games of Hex or Y."""

from __future__ import annotations

from dataclasses import dataclass

from cellgames.envs.stones.stone_state import StoneState


@dataclass(frozen=True, eq=False)
class ConnectionState(StoneState):
    """The state of a batch of games of Hex or Y; the field `codes` has the sides that groups touch, too (`rules`)."""

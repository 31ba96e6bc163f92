"""Agents and networks for Cloth of Gold.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .greedy import ClothGreedy
    from .network import ClothNetwork
    from .rollout import ClothRollout
    from .turn_game import TurnGame, TurnState
    from .turns import ClothRandom, TurnAgent, random_turns
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "greedy": ("ClothGreedy",),
            "network": ("ClothNetwork",),
            "rollout": ("ClothRollout",),
            "turn_game": ("TurnGame", "TurnState"),
            "turns": ("ClothRandom", "TurnAgent", "random_turns"),
        },
    )

__all__ = [
    "ClothGreedy",
    "ClothNetwork",
    "ClothRandom",
    "ClothRollout",
    "TurnAgent",
    "TurnGame",
    "TurnState",
    "random_turns",
]

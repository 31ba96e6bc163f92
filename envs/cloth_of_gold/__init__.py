"""Cloth of Gold, designed by Adam Murray: a competitive Game of Life that the players feed by hand.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .game import ClothOfGold
    from .notation import position_to_string, string_to_position
    from .simulation import simulate
    from .solo import ClothSolo
    from .state import ClothState
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "game": ("ClothOfGold",),
            "notation": ("position_to_string", "string_to_position"),
            "simulation": ("simulate",),
            "solo": ("ClothSolo",),
            "state": ("ClothState",),
        },
    )

__all__ = [
    "ClothOfGold",
    "ClothSolo",
    "ClothState",
    "position_to_string",
    "simulate",
    "string_to_position",
]

"""Grid Adaptation by pseudonam (Genius Game 4, Main Match 6): Life whose tiles carry the players' secret sequences.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .game import GridAdaptation
    from .notation import position_to_string, string_to_position
    from .solo import GridSolo
    from .state import GridState
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "game": ("GridAdaptation",),
            "notation": ("position_to_string", "string_to_position"),
            "solo": ("GridSolo",),
            "state": ("GridState",),
        },
    )

__all__ = [
    "GridAdaptation",
    "GridSolo",
    "GridState",
    "position_to_string",
    "string_to_position",
]

"""The Toroidal Cup: teams of coloured cells, Life on a torus, the most cells win.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .game import ToroidalCup
    from .notation import position_to_string, string_to_position
    from .patterns.pattern import PATTERNS, arrange
    from .patterns.stamps import COLS, ROWS
    from .roster import Roster
    from .simulator import Result, simulate
    from .state import CupState
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "game": ("ToroidalCup",),
            "notation": ("position_to_string", "string_to_position"),
            "patterns.pattern": ("PATTERNS", "arrange"),
            "patterns.stamps": ("COLS", "ROWS"),
            "roster": ("Roster",),
            "simulator": ("Result", "simulate"),
            "state": ("CupState",),
        },
    )

__all__ = [
    "COLS",
    "PATTERNS",
    "ROWS",
    "CupState",
    "Result",
    "Roster",
    "ToroidalCup",
    "arrange",
    "position_to_string",
    "simulate",
    "string_to_position",
]

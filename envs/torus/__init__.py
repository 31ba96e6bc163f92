"""Torus, a connection game by Mark Steere.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .game import Torus
    from .geometry import cell_to_name, name_to_cell, num_cells
    from .notation import position_to_string, string_to_position
    from .solo import TorusSolo
    from .state import TorusState
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "game": ("Torus",),
            "geometry": ("cell_to_name", "name_to_cell", "num_cells"),
            "notation": ("position_to_string", "string_to_position"),
            "solo": ("TorusSolo",),
            "state": ("TorusState",),
        },
    )

__all__ = [
    "Torus",
    "TorusSolo",
    "TorusState",
    "cell_to_name",
    "name_to_cell",
    "num_cells",
    "position_to_string",
    "string_to_position",
]

"""Connection games on boards with edges: Hex and Y.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .boards import Board, board
    from .game import ConnectionGame
    from .hex import Hex
    from .state import ConnectionState
    from .y import Y
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "boards": ("Board", "board"),
            "game": ("ConnectionGame",),
            "hex": ("Hex",),
            "state": ("ConnectionState",),
            "y": ("Y",),
        },
    )

__all__ = ["Board", "ConnectionGame", "ConnectionState", "Hex", "Y", "board"]

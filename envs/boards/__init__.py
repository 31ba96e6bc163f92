"""Boards stored as bits, and Life on them.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bitboards import Grid, count
    from .dilation import Footprint
    from .intboards import IntGrid
    from .life import Life, generation, inherited
    from .packedboards import PackedGrid
    from .rle import board_to_string, string_to_board
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "bitboards": ("Grid", "count"),
            "dilation": ("Footprint",),
            "intboards": ("IntGrid",),
            "life": ("Life", "generation", "inherited"),
            "packedboards": ("PackedGrid",),
            "rle": ("board_to_string", "string_to_board"),
        },
    )

__all__ = [
    "Footprint",
    "Grid",
    "IntGrid",
    "Life",
    "PackedGrid",
    "board_to_string",
    "count",
    "generation",
    "inherited",
    "string_to_board",
]

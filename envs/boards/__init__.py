"""Boards stored as bits, and Life on them.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .bitboards import Grid as Grid, count as count
    from .dilation import Footprint as Footprint
    from .life import Life as Life, generation as generation, inherited as inherited
    from .packedboards import PackedGrid as PackedGrid
    from .rle import board_to_string as board_to_string, string_to_board as string_to_board
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)

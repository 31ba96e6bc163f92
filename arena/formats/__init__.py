"""Recorded games in the formats of other programs, and datasets for offline learning.

Names are imported when they are first used. Parquet needs the extra `research`, and Minari `minari`.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .rle_files import (
        board_to_rle as board_to_rle,
        record_to_rle as record_to_rle,
        rle_to_board as rle_to_board,
        rle_to_position as rle_to_position,
    )
    from .sgf_files import records_to_sgf as records_to_sgf, sgf_to_records as sgf_to_records
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)

"""Recorded games in the formats of other programs, and datasets for offline learning.

Names are imported when they are first used. Parquet needs the extra `research`, and Minari `minari`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .kaggle_replays import record_to_kaggle
    from .rle_files import board_to_rle, record_to_rle, rle_to_board, rle_to_position
    from .sgf_files import records_to_sgf, sgf_to_records
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "kaggle_replays": ("record_to_kaggle",),
            "rle_files": ("board_to_rle", "record_to_rle", "rle_to_board", "rle_to_position"),
            "sgf_files": ("records_to_sgf", "sgf_to_records"),
        },
    )

__all__ = [
    "board_to_rle",
    "record_to_kaggle",
    "record_to_rle",
    "records_to_sgf",
    "rle_to_board",
    "rle_to_position",
    "sgf_to_records",
]

"""Recorded games in the formats of other programs, and datasets for offline learning.

Names are imported when they are first used. Parquet needs the extra `research`, and Minari `minari`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .decision_tables import export_decisions
    from .kaggle_replays import record_to_kaggle
    from .minari_datasets import export_minari
    from .offline_dataset import OfflineDataset
    from .rle_files import board_to_rle, record_to_rle, rle_to_board, rle_to_position
    from .sgf_files import records_to_sgf, sgf_to_records
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "decision_tables": ("export_decisions",),
            "kaggle_replays": ("record_to_kaggle",),
            "minari_datasets": ("export_minari",),
            "offline_dataset": ("OfflineDataset",),
            "rle_files": ("board_to_rle", "record_to_rle", "rle_to_board", "rle_to_position"),
            "sgf_files": ("records_to_sgf", "sgf_to_records"),
        },
    )

__all__ = [
    "OfflineDataset",
    "board_to_rle",
    "export_decisions",
    "export_minari",
    "record_to_kaggle",
    "record_to_rle",
    "records_to_sgf",
    "rle_to_board",
    "rle_to_position",
    "sgf_to_records",
]

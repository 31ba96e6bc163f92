"""Agents and networks for Grid Adaptation.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .greedy import GridGreedy
    from .joint_moves import GridSearch
    from .matched_others import MatchedOthers
    from .network import GridNetwork
    from .opponent_model import KeenOthers, Others
    from .rollout import GridRollout
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "greedy": ("GridGreedy",),
            "joint_moves": ("GridSearch",),
            "matched_others": ("MatchedOthers",),
            "network": ("GridNetwork",),
            "opponent_model": ("KeenOthers", "Others"),
            "rollout": ("GridRollout",),
        },
    )

__all__ = [
    "GridGreedy",
    "GridNetwork",
    "GridRollout",
    "GridSearch",
    "KeenOthers",
    "MatchedOthers",
    "Others",
]

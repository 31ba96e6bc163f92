"""Agents and networks for the Toroidal Cup.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .champion import ToroidalCupChampion
    from .determinization import determinize
    from .greedy import ToroidalCupGreedy
    from .network import CupNetwork, PlacementAgent, PlacementValues
    from .placement_search import CupSearch
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "champion": ("ToroidalCupChampion",),
            "determinization": ("determinize",),
            "greedy": ("ToroidalCupGreedy",),
            "network": ("CupNetwork", "PlacementAgent", "PlacementValues"),
            "placement_search": ("CupSearch",),
        },
    )

__all__ = [
    "CupNetwork",
    "CupSearch",
    "PlacementAgent",
    "PlacementValues",
    "ToroidalCupChampion",
    "ToroidalCupGreedy",
    "determinize",
]

"""Agents and networks for the Toroidal Cup.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .champion import ToroidalCupChampion as ToroidalCupChampion
    from .greedy import CupSearch as CupSearch, ToroidalCupGreedy as ToroidalCupGreedy, determinize as determinize
    from .network import CupNetwork as CupNetwork, PlacementAgent as PlacementAgent, PlacementValues as PlacementValues
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)

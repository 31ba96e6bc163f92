"""Agents and networks for Hex and Y.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .greedy import ConnectionGreedy as ConnectionGreedy
    from .network import ConnectionNetwork as ConnectionNetwork
    from .proof_search import ConnectionSearch as ConnectionSearch
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)

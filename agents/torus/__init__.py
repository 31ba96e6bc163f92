"""Agents and networks for Torus.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .greedy import TorusGreedy as TorusGreedy
    from .network import TorusNetwork as TorusNetwork
    from .proof_search import TorusSearch as TorusSearch
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)

"""Cloth of Gold, designed by Adam Murray: a competitive Game of Life that the players feed by hand.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .game import ClothOfGold as ClothOfGold
    from .notation import position_to_string as position_to_string, string_to_position as string_to_position
    from .simulation import simulate as simulate
    from .state import ClothState as ClothState
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)

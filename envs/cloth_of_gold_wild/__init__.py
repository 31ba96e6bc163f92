"""Wild Cloth of Gold: the game with terrain, weather, perks, borders and wildlife.

The designer's prototype names these directions and gives no rules for them; the rules are this package's own.
Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .game import ClothOfGoldWild as ClothOfGoldWild
    from .state import WildState as WildState
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)

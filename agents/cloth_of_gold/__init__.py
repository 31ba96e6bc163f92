"""Agents and networks for Cloth of Gold.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .greedy import ClothGreedy as ClothGreedy, ClothRollout as ClothRollout
    from .network import ClothNetwork as ClothNetwork
    from .turn_choices import TurnChoices as TurnChoices, TurnChooser as TurnChooser
    from .turn_search import TurnGame as TurnGame, TurnState as TurnState
    from .turns import ClothRandom as ClothRandom, TurnAgent as TurnAgent, random_turns as random_turns
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)

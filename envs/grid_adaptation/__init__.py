"""Grid Adaptation by pseudonam (Genius Game 4, Main Match 6): Life whose tiles carry the players' secret sequences.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .game import GridAdaptation as GridAdaptation
    from .notation import position_to_string as position_to_string, string_to_position as string_to_position
    from .state import GridState as GridState
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)

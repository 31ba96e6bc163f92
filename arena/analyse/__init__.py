"""Analyses of recorded games: openings, places, time series, Life objects, score flows and behaviour.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .agent_games import play_some as play_some
    from .behaviour import Behaviour as Behaviour, compare as compare
    from .openings import Openings as Openings, find_openings as find_openings
    from .places import Places as Places, count_places as count_places
    from .queries import Positions as Positions, draw_positions as draw_positions
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)

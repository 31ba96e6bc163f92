"""Analyses of recorded games: openings and places; `cellgames.lab` has more.

Names are imported when they are first used.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from cellgames.arena.play.evaluation import play_some as play_some

    from .openings import Openings as Openings, find_openings as find_openings
    from .places import Places as Places, count_places as count_places
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)

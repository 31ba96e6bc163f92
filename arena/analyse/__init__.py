"""Analyses of recorded games: openings, places, time series, Life objects, score flows and behaviour.

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .agent_games import play_some
    from .behaviour import Behaviour, compare
    from .openings import Openings, find_openings
    from .places import Places, count_places
    from .queries import Positions, draw_positions
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "agent_games": ("play_some",),
            "behaviour": ("Behaviour", "compare"),
            "queries": ("Positions", "draw_positions"),
            "openings": ("Openings", "find_openings"),
            "places": ("Places", "count_places"),
        },
    )

__all__ = [
    "Behaviour",
    "Openings",
    "Places",
    "Positions",
    "compare",
    "count_places",
    "draw_positions",
    "find_openings",
    "play_some",
]

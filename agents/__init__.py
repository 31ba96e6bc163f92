"""Players, and the loop in which they play.

    from cellgames.agents import load, play
    agents = [load("greedy", game), load("rollout:64", game)]
    played = play(game, agents, seats, seeds, generators)

Names are imported when they are first used, so that lists and help texts need no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .base import Agent, AnyAgent, BaseAgent, Seats, StateAgent, select
    from .loading import AGENTS, load
    from .play_loop import Played, moves, parse_move, play, random_openings
    from .policy import PolicyAgent
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "base": ("Agent", "AnyAgent", "BaseAgent", "Seats", "StateAgent", "select"),
            "loading": ("AGENTS", "load"),
            "play_loop": ("Played", "moves", "parse_move", "play", "random_openings"),
            "policy": ("PolicyAgent",),
        },
    )

__all__ = [
    "AGENTS",
    "Agent",
    "AnyAgent",
    "BaseAgent",
    "Played",
    "PolicyAgent",
    "Seats",
    "StateAgent",
    "load",
    "moves",
    "parse_move",
    "play",
    "random_openings",
    "select",
]

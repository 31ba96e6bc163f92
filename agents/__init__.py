"""Agents, and the loop in which they play.

    from cellgames.agents import load, play
    agents = [load("greedy", game), load("rollout:64", game)]
    played = play(game, agents, seats, seeds, generators)

Names are imported when they are first used, so that lists and help texts need no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .agent_opponent import as_opponent
    from .agent_specs import AGENTS
    from .base import Agent, AnyAgent, BaseAgent, Seats, StateAgent, acting, draw_seeds
    from .loading import load
    from .networks.networks import Network, Size, make_network
    from .networks.saved import load_network, read_about, save_network
    from .networks.sb3_agent import SB3Agent
    from .networks.trained import shipped
    from .play_loop import Played, moves, parse_move, play, random_openings
    from .policy import PolicyAgent
    from .programs.program_agent import ProgramAgent
    from .selection import select
    from .views import View, ViewAgent
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "agent_opponent": ("as_opponent",),
            "base": ("Agent", "AnyAgent", "BaseAgent", "Seats", "StateAgent", "acting", "draw_seeds"),
            "agent_specs": ("AGENTS",),
            "loading": ("load",),
            "networks.networks": ("Network", "Size", "make_network"),
            "networks.saved": ("load_network", "read_about", "save_network"),
            "networks.sb3_agent": ("SB3Agent",),
            "networks.trained": ("shipped",),
            "play_loop": ("Played", "moves", "parse_move", "play", "random_openings"),
            "policy": ("PolicyAgent",),
            "programs.program_agent": ("ProgramAgent",),
            "selection": ("select",),
            "views": ("View", "ViewAgent"),
        },
    )

__all__ = [
    "AGENTS",
    "Agent",
    "AnyAgent",
    "BaseAgent",
    "Network",
    "Played",
    "PolicyAgent",
    "ProgramAgent",
    "SB3Agent",
    "Seats",
    "Size",
    "StateAgent",
    "View",
    "ViewAgent",
    "acting",
    "as_opponent",
    "draw_seeds",
    "load",
    "load_network",
    "make_network",
    "moves",
    "parse_move",
    "play",
    "random_openings",
    "read_about",
    "save_network",
    "select",
    "shipped",
]

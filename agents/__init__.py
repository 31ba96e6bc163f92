"""Players, and the loop in which they play.

    from cellgames.agents import load
    from cellgames.agents.play import play
    agents = [load("greedy", game), load("rollout:64", game)]
    played = play(game, agents, seats, seeds, generators)

Names are imported when they are first used, so that lists and help texts need no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import Agent, AnyAgent, BaseAgent, Seats, StateAgent, select
    from .loading import AGENTS, load
    from .play import Played, moves, random_openings
    from .policy import PolicyAgent

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
    "random_openings",
    "select",
]

_HOME = {
    name: module
    for module, names in {
        "base": ("Agent", "AnyAgent", "BaseAgent", "Seats", "StateAgent", "select"),
        "play": ("Played", "moves", "random_openings"),  # not `play`, which is the module
        "policy": ("PolicyAgent",),
        "loading": ("AGENTS", "load"),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)

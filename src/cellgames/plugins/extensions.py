"""`additions`: commands, agents, reports, files and answers of the page from a package on top of the core.

The core names none of it: `cellgames.lab.plugin` does, where `cellgames.lab` is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from .plugin import Target


@dataclass(frozen=True, kw_only=True)
class Additions:
    """The additions of a package on top of the core. Targets are imported when they are needed.

    Attributes:
        commands: modules with a function `add`, each with its line in the help, by name of the command, by title of
            their group in the help.
        agents: arguments of `agents.agent_specs.AgentSpec`.
        parts: functions of a game and its records to sections of `cellgames analyse`, by name of the part.
        sections: functions of the same kind for its part "flows", by target of the game's class.
        asked_sections: functions of a game, agents by name and records, with the keywords `seed`, `shown` and perhaps
            `positions` and `draws`, to sections of `cellgames analyse --agents`, by target of the game's class; None
            stands for all games.
        formats: functions that write records to a path for `cellgames export`, by name, each with a description. They
            call `played` with the number of games just written and return the numbers of games, decisions and forfeits.
        answers: functions of a record to data that the page shows, by name of the route, each with a description.
    """

    commands: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict)
    agents: tuple[tuple[str, str, str], ...] = ()
    parts: Mapping[str, Target] = field(default_factory=dict)
    sections: Mapping[Target, tuple[Target, ...]] = field(default_factory=dict)
    asked_sections: Mapping[Target | None, tuple[Target, ...]] = field(default_factory=dict)
    formats: Mapping[str, tuple[Target, str]] = field(default_factory=dict)
    answers: Mapping[str, tuple[Target, str]] = field(default_factory=dict)


@cache
def additions() -> Additions:
    """Return the additions of `cellgames.lab`; no addition without that package."""
    if find_spec("cellgames.lab") is None:
        return Additions()
    found: Additions = import_module("cellgames.lab.plugin").ADDITIONS
    return found

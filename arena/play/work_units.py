"""A game and its agents on their way to another process.

Agents given by spec are loaded there anew, and must be what they are here (`agents.identity`). Agents given as objects
travel pickled. The game is made there by its id, so it must be known in that process, too.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cellgames.agents.base import AnyAgent
from cellgames.agents.identity import identities
from cellgames.agents.loading import load
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.envs.registry import ENTRY_POINTS, VARIABLE
from cellgames.runs.workers import WorkerError
from cellgames.utils.foreign_text import shown


@dataclass(frozen=True)
class Parcel:
    """A game and agents that can be pickled; see the module.

    Attributes:
        game: id of the game.
        parameters: parameters of the game.
        agents: specs, or pickled agents, by name.
        identities: identities of the agents by name, "" for an unknown one.
    """

    game: str
    parameters: Mapping[str, Any]
    agents: Mapping[str, str | bytes]
    identities: Mapping[str, str]

    @classmethod
    def pack(cls, game: Game, agents: Mapping[str, str | AnyAgent]) -> Parcel:
        """Return a game and agents, specs or objects by name (`agent_names.by_name`), ready to be sent.

        Raises:
            ValueError: a game that its id does not make, or an agent that cannot be pickled.
        """
        try:
            made = registry.make(game.id, **game.parameters)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"workers make games by their ids, but {game.id!r} cannot be made: {error}; a game of your own must be "
                f"registered (cellgames.register) and its module be named in {VARIABLE}, so that workers know it"
            ) from error
        if made != game:
            raise ValueError(
                f"workers make games by their ids, but cellgames.make({game.id!r}) gives another game than {game}"
            )
        sent = {name: agent if isinstance(agent, str) else _pickled(name, agent) for name, agent in agents.items()}
        return cls(game.id, dict(game.parameters), sent, identities(agents, game))

    def unpack(self) -> tuple[Game, dict[str, AnyAgent]]:
        """Return the game, and the agents by name.

        Raises:
            WorkerError: a game that is not known here, an agent that is not what it was.
            ValueError: an agent that cannot be loaded here; the message says why.
        """
        try:
            game = registry.make(self.game, **self.parameters)
        except ValueError as error:
            raise WorkerError(
                f"a worker cannot make the game {self.game!r}: {error}; name the module of a game of your own in "
                f"{VARIABLE}, or in an entry point of the group {ENTRY_POINTS!r}"
            ) from error
        agents: dict[str, AnyAgent] = {
            name: load(agent, game, name=name) if isinstance(agent, str) else pickle.loads(agent)
            for name, agent in self.agents.items()
        }
        given = {name: sent if isinstance(sent, str) else agents[name] for name, sent in self.agents.items()}
        for name, found in identities(given, game).items():
            if found and (known := self.identities[name]) not in ("", found):
                raise WorkerError(
                    f"a worker has another agent {shown(name)}: expected identity {known}, got {found}; its source and "
                    "weights must be the same in all processes"
                )
        return game, agents


def _pickled(name: str, agent: AnyAgent) -> bytes:
    try:
        return pickle.dumps(agent)
    except Exception as error:  # whatever the parts of an agent raise
        raise ValueError(
            f"agent {shown(name)} cannot be sent to workers ({type(error).__name__}: {error}); give its spec "
            "instead, such as my_bots:MyBot"
        ) from error

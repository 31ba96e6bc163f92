"""A game and its agents on their way to another process, which may be on another machine.

Agents given by spec are loaded there anew, and must be what they are here (`agents.identity`): one's own bots with the
same source, shipped weights of the same package. Files of weights and models travel with the parcel. Agents given as
objects travel pickled. The game is made there by its id, so it must be known in that process, too.
"""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellgames.agents.agent_specs import AgentFile, file_of
from cellgames.agents.base import AnyAgent, takes_states
from cellgames.agents.identity import digest, identities, identity
from cellgames.agents.loading import load
from cellgames.cluster.connection import ClusterError, packed, unpacked
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.envs.registry import ENTRY_POINTS, VARIABLE
from cellgames.utils.foreign_text import shown


@dataclass(frozen=True)
class _Sent:
    """An agent that is sent: name, identity here ("" unknown), and its spec, a file with its content, or itself."""

    name: str
    identity: str
    spec: str = ""
    file: tuple[AgentFile, bytes] | None = None
    object: bytes | None = None


@dataclass(frozen=True)
class Parcel:
    """A game and agents that can be pickled; see the module."""

    game: str
    parameters: Mapping[str, Any]
    agents: tuple[_Sent, ...]

    @classmethod
    def pack(cls, game: Game, agents: Mapping[str, str | AnyAgent]) -> Parcel:
        """Return a game and agents, specs or objects by name (`agent_names.by_name`), ready to be sent.

        Raises:
            ValueError: a game that its id does not make, an agent that cannot be pickled, weights that are not there.
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
        return cls(game.id, dict(game.parameters), tuple(_packed(name, agent, game) for name, agent in agents.items()))

    @property
    def identities(self) -> dict[str, str]:
        """Return the identities of the agents by name (`agents.identity`)."""
        return {sent.name: sent.identity for sent in self.agents}

    def unpack(self) -> tuple[Game, dict[str, AnyAgent]]:
        """Return the game, and the agents by name.

        Raises:
            ClusterError: a game that is not known here, an agent that is not what it was.
            ValueError: an agent that cannot be loaded here; the message says why.
        """
        try:
            game = registry.make(self.game, **self.parameters)
        except ValueError as error:
            raise ClusterError(
                f"the worker on {platform.node()} cannot make the game {self.game!r}: {error}; for a game of your own "
                f"name its module in {VARIABLE} before the cluster is started, on every machine, or in an entry point "
                f"of the group {ENTRY_POINTS!r}"
            ) from error
        return game, {sent.name: _unpacked(sent, game) for sent in self.agents}


def _packed(name: str, agent: str | AnyAgent, game: Game) -> _Sent:
    known = identities({name: agent}, game)[name]
    if isinstance(agent, str):
        if (file := file_of(agent)) is None:
            return _Sent(name, known, spec=agent)
        try:
            content = file.path.read_bytes()
        except OSError as error:
            raise ValueError(f"agent {shown(name)}: {file.path} cannot be read: {error.strerror}") from error
        return _Sent(name, digest(content), file=(file, content))
    try:
        return _Sent(name, known, object=packed(agent))
    except Exception as error:  # whatever the parts of an agent raise
        raise ValueError(
            f"agent {shown(name)} cannot be sent to workers ({type(error).__name__}: {error}); give its spec "
            "instead, such as my_bots:MyBot"
        ) from error


def _unpacked(sent: _Sent, game: Game) -> AnyAgent:
    """Return the agent, ready to play the game."""
    if sent.object is not None:
        agent: AnyAgent = unpacked(sent.object)
        # One that was typed at a prompt or in a script came by value, and has no source here.
        _compare(sent, identity(agent, game), unknown_is_fine=True)
        return agent
    if sent.file is None:
        agent = load(sent.spec, game, name=sent.name)
        _compare(sent, identities({sent.name: sent.spec}, game)[sent.name])
        return agent
    file, content = sent.file
    with tempfile.TemporaryDirectory(prefix="cellgames-") as folder:
        path = Path(folder, f"agent{file.path.suffix}")
        path.write_bytes(content)
        agent = load(f"{file.before}{path}{file.after}", name=sent.name)
        takes_states(agent, game)
        check: Callable[[Game], None] | None = getattr(agent, "check_game", None)
        if check is not None:  # reads the file
            check(game)
    return agent


def _compare(sent: _Sent, found: str, *, unknown_is_fine: bool = False) -> None:
    """Raise a `ClusterError` unless the agent is the one that was sent."""
    if found != sent.identity and not (unknown_is_fine and not found):
        raise ClusterError(
            f"the worker on {platform.node()} has another agent {shown(sent.name)}: expected identity "
            f"{sent.identity or 'unknown'}, got {found or 'unknown'}; its source or weights must be the same on every "
            "machine of the cluster"
        )

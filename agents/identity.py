"""Identities of agents: names stay while weights and programs change.

A file of weights is written again by every run of training, `trained` changes with the package, and anyone's own bot
with its source. So that games of what was once called `agent.safetensors` and of what is called so now are not taken
for those of one agent, a game is kept with an identity beside each name:

    weights, a model     BLAKE2b of the file
    one's own class      BLAKE2b of the source file that holds it
    a league             BLAKE2b of its file, which names the identities of its members
    a program (exec:)    BLAKE2b of its arguments and of all files that its command line names
    anything else        the version of the package

What cannot be found out is "". Importing this imports no torch.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.networks.agent_files import MIXTURE_FILE
from cellgames.envs.registry import plugin_of
from cellgames.utils.version import __version__

from .agent_specs import AGENTS, file_of, inner_spec, own_name, split_name
from .programs.process import identity_of_command

if TYPE_CHECKING:
    from cellgames.envs.core import Game

    from .base import AnyAgent

_BYTES = 8


def digest(content: bytes) -> str:
    """Return 16 hexadecimal digits of BLAKE2b."""
    return hashlib.blake2b(content, digest_size=_BYTES).hexdigest()


def identities(
    agents: Mapping[str, str | AnyAgent] | Iterable[str | AnyAgent], game: Game | None = None
) -> dict[str, str]:
    """Return the identity of each agent by its name, in the order of names, in a game if it is given (`identity`).

    Agents are specs and agents by name, or texts that `agents.load` takes, and agents.
    """
    if isinstance(agents, Mapping):
        named = list(agents.items())
    else:
        named = [split_name(agent) if isinstance(agent, str) else (own_name(agent), agent) for agent in agents]
    found = {name: _of_spec(agent, game) if isinstance(agent, str) else identity(agent, game) for name, agent in named}
    return dict(sorted(found.items()))


def identity(agent: str | AnyAgent, game: Game | None = None) -> str:
    """Return a text without spaces that tells an agent from others that have had its name, "" if that is unknown.

    The agent may be a text that `agents.load` takes, of which a name does not matter; one that has a text `identity` of
    its own says itself. In each game `trained` and `gumbel` have other weights.
    """
    if isinstance(agent, str):
        return _of_spec(split_name(agent)[1], game)
    declared = getattr(agent, "identity", None)
    if isinstance(declared, str):
        return "".join(declared.split())
    if (network := getattr(agent, "network", None)) is not None and hasattr(network, "state_dict"):
        return _of_weights(network)
    if type(agent).__module__.partition(".")[0] == "cellgames":
        spec = getattr(agent, "spec", None) or agent.name
        known = spec.partition(":")[0] in AGENTS or file_of(spec) is not None
        return _of_spec(spec, game) if known else __version__
    # A policy in `PolicyAgent` is found above; a class typed at a prompt has no source file.
    return _of_source(inspect.getsourcefile, type(agent))


def is_program(spec: str) -> bool:
    """Return True for an agent of the package that has no weights, so that the version identifies it."""
    name = inner_spec(spec, mixed=True).partition(":")[0]
    return name in AGENTS and AGENTS[name].weights is None and AGENTS[name].takes not in ("COMMAND", "FOLDER")


def _of_spec(spec: str, game: Game | None) -> str:
    spec = inner_spec(spec, mixed=True)
    if (file := file_of(spec)) is not None:
        return _of_file(file.path)
    name = spec.partition(":")[0]
    if name in AGENTS:
        if AGENTS[name].takes == "COMMAND":
            return identity_of_command(spec.partition(":")[2])
        if AGENTS[name].takes == "FOLDER":  # the file names its members by their identities
            return _of_file(Path(spec.partition(":")[2], MIXTURE_FILE))
        listed = name == "trained" and game is not None and name in plugin_of(game).agents
        return __version__ if listed or is_program(spec) else _of_shipped(game, AGENTS[name].weights)
    return _of_source(lambda module: getattr(importlib.util.find_spec(module), "origin", None), name)


def _of_shipped(game: Game | None, folder: Path | None) -> str:
    if game is None:
        return ""
    from cellgames.agents.networks.saved import shipped

    try:
        return _of_file(shipped(game, folder))
    except (ValueError, ImportError):  # `load` says what is wrong
        return ""


def _of_file(path: Path) -> str:
    try:
        return digest(path.read_bytes())
    except OSError:
        return ""


def _of_source(find: Any, what: Any) -> str:
    """Return the identity of the file that `find` returns."""
    try:
        path = find(what)
    except (ImportError, TypeError, ValueError, AttributeError):
        return ""
    return _of_file(Path(path)) if path is not None else ""


def _of_weights(network: Any) -> str:
    hashed = hashlib.blake2b(digest_size=_BYTES)
    for name, value in sorted(network.state_dict().items()):
        hashed.update(f"{name} {value.dtype} {list(value.shape)}\n".encode())
        hashed.update(value.detach().cpu().contiguous().flatten().numpy().tobytes())
    return hashed.hexdigest()

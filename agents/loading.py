"""Agents by name, `load("rollout:64")`, your own by import path, and the identities of agents.

Names stay while weights and programs change. A file of weights is written again by every run of training, `trained`
changes with the package, and anyone's own bot with its source. So that games of what was once called
`agent.safetensors` and of what is called so now are not taken for those of one agent, a game is kept with an identity
beside each name:

    weights, a model     BLAKE2b of the file
    one's own class      BLAKE2b of the source file that holds it
    a league             BLAKE2b of its file, which names the identities of its members
    a program (exec:)    BLAKE2b of its arguments and of all files that its command line names
    anything else        the version of the package

What cannot be found out is "". Importing this imports no torch.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.networks.agent_files import MIXTURE_FILE, MODEL_SUFFIX, WEIGHTS_SUFFIX
from cellgames.envs.registry import as_game, find_modules_here, plugin_of
from cellgames.utils.errors import InputError, check_one_of, clipped, shown
from cellgames.utils.files import PathLike
from cellgames.utils.version import __version__

from .agent_specs import AGENTS, AgentFile, Agents, file_of, inner_spec, named_agents, split_name
from .programs.process import identity_of_command

if TYPE_CHECKING:
    from cellgames.envs.core import Game

    from .base import AnyAgent

_IMPORT_PATH = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)(?::(.*))?", re.DOTALL)


def default_opponents(game: Game) -> list[str]:
    """Return the agents that a game is measured against if nothing else is asked for: a weak one and a better one."""
    if "greedy" in plugin_of(game).agents:
        return ["random", "greedy"]
    return ["random", *([] if game.info.search_obstacles else ["rollout:16"])]


def load(spec: PathLike, game: Game | str | None = None, *, name: str | None = None) -> AnyAgent:
    """Return the agent that `spec` describes; its `name` is the spec, or the one of `NAME=SPEC`.

    Args:
        spec: a name of `AGENTS`, with its argument after a colon (`random`, `greedy`, `rollout:64`); the path of
            trained weights, `my_run/agent.safetensors`, or of the run's folder; the path of a model that
            Stable-Baselines3 saved, `model.zip`, which plays its likeliest action, or `model.zip:sample`, which draws
            it; or the import path of your own, `my_package.bots:MyBot`: a class, made without arguments or with the
            text after a second colon, an agent, or a plain function from one PettingZoo observation to an action.
            Modules of the current directory are found. `NAME=SPEC` gives another name (`agent_specs.split_name`).
        game: the game to play, or its id; an agent that cannot play it is refused here instead of at its first move.
        name: another way to give a name; the whole text is then the spec.

    Raises:
        ValueError: unknown or malformed spec, what cannot be imported, an object that is no agent, or not for
            this game; the message says what is missing.
    """
    spec = os.fspath(spec)
    if name is None:
        name, spec = split_name(spec)
    from .base import BaseAgent, takes_states

    kind, colon, text = spec.partition(":")
    agent: AnyAgent
    if kind in AGENTS:
        agent = AGENTS[kind].make(text if colon else None)
    elif (file := file_of(spec)) is not None:
        agent = _load_file(file)
    elif match := _IMPORT_PATH.fullmatch(spec):
        agent = _load_by_path(spec, *match.groups())
    else:
        more = f", a file of weights ({WEIGHTS_SUFFIX}) or a run's folder with one, a model of Stable-Baselines3 "
        more += f"({MODEL_SUFFIX}), or your own by import path, such as my_bots:MyBot"
        check_one_of("agent", spec, [entry.usage for entry in AGENTS.values()], more=more)
    try:
        agent.name = name
    except AttributeError as error:  # slots, a frozen dataclass, a property
        raise InputError(f"agent {shown(spec)}", "an attribute 'name' that can be set", cause=str(error)) from error
    if isinstance(agent, BaseAgent):
        agent.spec = spec
    if game is not None:
        game = as_game(game)
        takes_states(agent, game)
        if (fits := getattr(agent, "check_game", None)) is not None:
            fits(game)
    return agent


def _load_file(file: AgentFile) -> AnyAgent:
    if file.path.suffix == MODEL_SUFFIX:
        from cellgames.agents.networks.sb3_agent import from_model_file

        return from_model_file(file.path, sample=True if file.after else None)
    from cellgames.agents.networks.saved import WeightsAgent, read_about

    read_about(file.path)  # which refuses other files
    return WeightsAgent(str(file.path), lambda game: file.path)


def _load_by_path(spec: str, module: str, attribute: str, text: str | None) -> AnyAgent:
    """Return the agent at an import path."""
    found = _import(spec, module, attribute)
    if inspect.isclass(found):
        arguments = () if text is None else (text,)
        try:
            inspect.signature(found).bind(*arguments)
        except TypeError as error:
            takes = f"the text {shown(text)}" if arguments else "no arguments"
            raise InputError(f"agent {shown(spec)}", f"a class that takes {takes}", attribute, str(error)) from error
        try:
            found = found(*arguments)
        except (Exception, SystemExit) as error:
            cause = f"making {attribute} failed with {type(error).__name__}: {clipped(str(error))}"
            raise InputError(f"agent {shown(spec)}", cause=cause) from error
    elif text is not None:
        raise InputError(f"agent {shown(spec)}", "a class before the second colon", attribute)
    return _as_agent(spec, found)


def _import(spec: str, module: str, attribute: str) -> Any:
    find_modules_here()
    try:
        loaded = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        reason = f"importing {module} failed with {type(error).__name__}: {error}"
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            reason = f"there is no module {shown(error.name)} in the current directory or among the installed ones"
        raise InputError(f"agent {shown(spec)}", cause=reason) from error
    if not hasattr(loaded, attribute):
        public = [name for name, value in vars(loaded).items() if name[0] != "_" and not inspect.ismodule(value)]
        check_one_of(f"agent {shown(spec)}, name in module {module}", attribute, public)
    return getattr(loaded, attribute)


def _as_agent(spec: str, found: Any) -> AnyAgent:
    """Return `found` itself if it is an agent, wrapped if it is a policy."""
    from .base import PolicyAgent

    acts = any(callable(getattr(found, name, None)) for name in ("act", "act_on_state"))
    starts = callable(getattr(found, "start", None))
    if acts and starts:
        return found  # type: ignore[no-any-return]  # as far as can be seen without a game
    if callable(found) and not acts:
        return PolicyAgent(found, spec)
    missing = " and ".join(text for have, text in ((starts, "start"), (acts, "act (or act_on_state)")) if not have)
    cause = "an agent has start(game, players, env_ids) and act(observation, action_mask, env_ids, generator)"
    raise InputError(f"agent {shown(spec)}", f"the method {missing}", type(found).__name__, cause)


_BYTES = 8


def digest(content: bytes) -> str:
    """Return 16 hexadecimal digits of BLAKE2b."""
    return hashlib.blake2b(content, digest_size=_BYTES).hexdigest()


def identities(agents: Agents, game: Game | None = None) -> dict[str, str]:
    """Return the identity of each agent by its name, in the order of names, in a game if it is given (`identity`).

    Agents are specs and agents by name, or texts that `agents.load` takes, and agents.
    """
    named = sorted(named_agents(agents), key=lambda pair: pair[0])
    return {name: _of_spec(agent, game) if isinstance(agent, str) else identity(agent, game) for name, agent in named}


def identity(agent: PathLike | AnyAgent, game: Game | None = None) -> str:
    """Return a text without spaces that tells an agent from others that have had its name, "" if that is unknown.

    The agent may be what `agents.load` takes, of which a name does not matter; one that has a text `identity` of
    its own says itself. In each game `trained` and `gumbel` have other weights.
    """
    if isinstance(agent, str | os.PathLike):
        return _of_spec(split_name(os.fspath(agent))[1], game)
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
    find_modules_here()  # a bot in a process of its own was not imported here
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

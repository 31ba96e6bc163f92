"""Agents by name, `load("rollout:64")`, and your own by import path. Importing this imports no torch."""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.networks.file_names import WEIGHTS_FILE, WEIGHTS_SUFFIX
from cellgames.envs.registry import plugin_of, plugins
from cellgames.plugins import resolve

if TYPE_CHECKING:
    from cellgames.envs.core import Game

    from .base import AnyAgent

__all__ = ["AGENTS", "AgentSpec", "by_game", "default_opponents", "load", "weights_path"]

_IMPORT_PATH = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)(?::(.*))?", re.DOTALL)


@dataclass(frozen=True)
class AgentSpec:
    """An agent that has a name.

    Attributes:
        usage: the spec with its argument, for help texts.
        summary: one line.
        make: gets the text after the colon, or None without one.
    """

    usage: str
    summary: str
    make: Callable[[str | None], AnyAgent]


def by_game(name: str, *arguments: Any, default: Callable[..., AnyAgent] | None = None) -> AnyAgent:
    """Return the agent that is, in each game, the one that the game's plugin lists under this name.

    Args:
        name: a key of `GamePlugin.agents`.
        arguments: what the agent of a game is made with.
        default: makes the agent for games that list none; None refuses those games.
    """
    from .base import ByGame

    def make(game: Game) -> AnyAgent:
        kind = plugin_of(game).agents.get(name, default)
        if kind is None:
            having = ", ".join(plugin.id for plugin in plugins() if name in plugin.agents)
            raise ValueError(f"agent {name!r}: {game.id} has no such agent; games with one: {having}")
        made: AnyAgent = resolve(kind)(*arguments)
        return made

    return ByGame(name, make)


def default_opponents(game: Game) -> list[str]:
    """Return the agents that a game is measured against if nothing else is asked for."""
    return ["random", *(["greedy"] if "greedy" in plugin_of(game).agents else [])]


def _random(argument: str | None) -> AnyAgent:
    from .random_agent import RandomAgent

    _expect_no_argument("random", argument)
    return by_game("random", default=RandomAgent)


def _rollout(argument: str | None) -> AnyAgent:
    from cellgames.agents.playouts.rollout_agent import RolloutAgent

    return by_game("rollout", _playouts("rollout", argument), default=RolloutAgent)


def _listed(name: str) -> Callable[[str | None], AnyAgent]:
    """Return what makes an agent that only the plugins of some games list."""

    def make(argument: str | None) -> AnyAgent:
        _expect_no_argument(name, argument)
        return by_game(name)

    return make


def _amaf(argument: str | None) -> AnyAgent:
    from cellgames.agents.playouts.amaf import AmafAgent

    return AmafAgent(_playouts("amaf", argument))


def _trained(argument: str | None) -> AnyAgent:
    from cellgames.agents.networks.trained import trained

    _expect_no_argument("trained", argument)
    return trained()


def _mcts(argument: str | None) -> AnyAgent:
    from cellgames.agents.search.search_agent import SearchAgent
    from cellgames.agents.search.uct import UCTSearch

    simulations = _playouts("mcts", argument)
    return SearchAgent(f"mcts:{simulations}", lambda game: UCTSearch(game, simulations))


def _gumbel(argument: str | None) -> AnyAgent:
    from cellgames.agents.networks.trained import search_network
    from cellgames.agents.search.evaluators import NetworkEvaluator
    from cellgames.agents.search.gumbel import GumbelSearch
    from cellgames.agents.search.search_agent import SearchAgent

    number, colon, text = (argument or "").partition(":")
    simulations, path = _playouts("gumbel", number or None), Path(text) if colon else None
    return SearchAgent(
        f"gumbel:{simulations}",
        lambda game: GumbelSearch(game, NetworkEvaluator(search_network(game, path)), simulations),
    )


def _playouts(name: str, argument: str | None) -> int:
    if argument is None or re.fullmatch(r"[1-9][0-9]{0,8}", argument) is None:
        got = "nothing" if argument is None else repr(argument)
        raise ValueError(f"{name}:N needs a number of playouts a move for N, such as {name}:64; got {got}")
    return int(argument)


def _expect_no_argument(name: str, argument: str | None) -> None:
    if argument is not None:
        raise ValueError(f"agent {name!r} takes nothing after its name, got {argument!r}")


AGENTS: dict[str, AgentSpec] = {
    "random": AgentSpec("random", "any legal action with equal chance, or whole turns of chance", _random),
    "greedy": AgentSpec("greedy", "one move ahead, by a measure of the game's own", _listed("greedy")),
    "rollout": AgentSpec("rollout:N", "N random playouts a move, most for the best candidates", _rollout),
    "amaf": AgentSpec("amaf:N", "N random playouts a move, each of which judges all its actions", _amaf),
    "mcts": AgentSpec("mcts:N", "tree search, N simulations a move that end in random playouts (UCT)", _mcts),
    "gumbel": AgentSpec(
        "gumbel:N[:FILE]", "tree search, N simulations a move, by a shipped network or FILE (Gumbel AlphaZero)", _gumbel
    ),
    "trained": AgentSpec("trained", "a network that learned by self-play; its weights come with the package", _trained),
    "perfect": AgentSpec(
        "perfect", "plays without a mistake, where a game is solved: Torus of size 2 and 3", _listed("perfect")
    ),
}
"""The agents that `load` knows by name."""


def load(spec: str, game: Game | None = None) -> AnyAgent:
    """Return the agent that `spec` describes; its `name` is the spec.

    Args:
        spec: a name of `AGENTS`, with its argument after a colon (`random`, `greedy`, `rollout:64`); the path of
            trained weights, `my_run/agent.safetensors`, or of the run's folder; or the import path of your own,
            `my_package.bots:MyBot`: a class, made without arguments or with the text after a second colon
            (`my_package.bots:MyBot:text`), an agent, or a plain function from one PettingZoo observation to an
            action. Modules of the current directory are found.
        game: what it is to play; an agent that cannot is refused here instead of at its first move.

    Raises:
        ValueError: unknown or malformed spec, what cannot be imported, an object that is no agent, or not for
            this game; the message says what is missing.
    """
    from .base import takes_states

    name, colon, text = spec.partition(":")
    agent: AnyAgent
    if (path := weights_path(spec)) is not None:
        from cellgames.agents.networks.trained import from_file

        agent = from_file(path)
    elif name in AGENTS:
        agent = AGENTS[name].make(text if colon else None)
    elif match := _IMPORT_PATH.fullmatch(spec):
        agent = _load_by_path(spec, *match.groups())
    else:
        close = difflib.get_close_matches(name, AGENTS, n=1, cutoff=0.5)
        hint = f"; did you mean {AGENTS[close[0]].usage!r}?" if close else ""
        known = ", ".join(entry.usage for entry in AGENTS.values())
        raise ValueError(
            f"unknown agent {spec!r}; known: {known}, a file of weights ({WEIGHTS_SUFFIX}) or a run's folder with "
            f"one, or your own by import path, such as my_bots:MyBot{hint}"
        )
    try:
        agent.name = spec
    except AttributeError as error:  # slots, a frozen dataclass, a property
        raise ValueError(f"agent {spec!r} must let its attribute 'name' be set: {error}") from error
    if game is not None:
        takes_states(agent, game)
        fits = getattr(agent, "check_game", None)
        if fits is not None:
            fits(game)
    return agent


def weights_path(spec: str) -> Path | None:
    """Return the file of weights that a spec names, itself or by the folder of a run; None for other specs."""
    if spec.partition(":")[0] in AGENTS:
        return None
    if spec.endswith(WEIGHTS_SUFFIX):
        return Path(spec)
    return Path(spec) / WEIGHTS_FILE if os.path.isdir(spec) else None


def _load_by_path(spec: str, module: str, attribute: str, text: str | None) -> AnyAgent:
    """Return the agent at an import path."""
    found = _import(spec, module, attribute)
    if inspect.isclass(found):
        arguments = () if text is None else (text,)
        try:
            inspect.signature(found).bind(*arguments)
        except TypeError as error:
            takes = f"the text {text!r}" if arguments else "no arguments"
            raise ValueError(f"agent {spec!r}: cannot make {attribute} with {takes}: {error}") from error
        found = found(*arguments)
    elif text is not None:
        raise ValueError(f"agent {spec!r}: only a class takes text after a second colon, {attribute} is none")
    return _as_agent(spec, found)


def _import(spec: str, module: str, attribute: str) -> Any:
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    try:
        importlib.invalidate_caches()
        loaded = importlib.import_module(module)
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}.")
        if missing:
            reason = f"there is no module {error.name!r} in the current directory or among the installed ones"  # type: ignore[attr-defined]  # a ModuleNotFoundError
        else:
            reason = f"importing {module} failed with {type(error).__name__}: {error}"
        raise ValueError(f"agent {spec!r}: {reason}") from error
    if not hasattr(loaded, attribute):
        public = [name for name in vars(loaded) if not name.startswith("_")]
        close = difflib.get_close_matches(attribute, public, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"agent {spec!r}: module {module} has no {attribute!r}{hint}")
    return getattr(loaded, attribute)


def _as_agent(spec: str, found: Any) -> AnyAgent:
    """Return `found` itself if it is an agent, wrapped if it is a policy."""
    from .policy import PolicyAgent

    acts = any(callable(getattr(found, name, None)) for name in ("act", "act_on_state"))
    starts = callable(getattr(found, "start", None))
    if acts and starts:
        return found  # type: ignore[no-any-return]  # as far as can be seen without a game
    if callable(found) and not acts:
        return PolicyAgent(found, spec)
    missing = " and ".join(text for have, text in ((starts, "start"), (acts, "act (or act_on_state)")) if not have)
    raise ValueError(
        f"agent {spec!r}: {type(found).__name__} lacks the method {missing}; an agent has "
        "start(game, players, env_ids) and act(observation, action_mask, env_ids, generator), see "
        "cellgames.agents.Agent"
    )

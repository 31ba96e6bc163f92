"""Agents by name, `load("rollout:64")`, and your own by import path. Importing this imports no torch."""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.networks.file_names import MODEL_SUFFIX, SAMPLE, WEIGHTS_FILE, WEIGHTS_SUFFIX
from cellgames.agents.networks.shipped_weights import SEARCH_WEIGHTS, WEIGHTS, ids_with_weights
from cellgames.envs.registry import plugin_of, plugins
from cellgames.plugins import Target, resolve
from cellgames.utils.foreign_text import shown

if TYPE_CHECKING:
    from cellgames.envs.core import Game

    from .base import AnyAgent

__all__ = ["AGENTS", "AgentFile", "AgentSpec", "by_game", "default_opponents", "file_of", "load"]

_IMPORT_PATH = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)(?::(.*))?", re.DOTALL)


@dataclass(frozen=True)
class AgentSpec:
    """A name that `load` knows.

    Attributes:
        usage: the spec with its arguments, for help texts: `:N` stands for a number, `[:FILE]` for a path.
        summary: one line.
        default: import path, in this package, of what makes the agent from its arguments; "" if only plugins have one.
        by_game: True if a game's plugin may list its own agent under this name.
        weights: the folder of the shipped weights that it plays by, None for an agent without any.
    """

    usage: str
    summary: str
    default: str = ""
    by_game: bool = False
    weights: Path | None = None

    @property
    def name(self) -> str:
        """Return the name without arguments."""
        return self.usage.partition(":")[0]

    @property
    def ids_with_weights(self) -> tuple[str, ...] | None:
        """Return the ids of the games for which its weights come with the package, None if it plays by no weights.

        Raises:
            ImportError: the extra `trained`, which reads weights, is missing.
        """
        return None if self.weights is None else ids_with_weights(self.weights)

    def make(self, text: str | None) -> AnyAgent:
        """Return a new agent.

        Args:
            text: what stands after the name and a colon; None without a colon.

        Raises:
            ValueError: `text` is not what `usage` says.
        """
        arguments = self._arguments(text)
        default = f"cellgames.agents.{self.default}" if self.default else ""
        made: AnyAgent
        made = by_game(self.name, *arguments, default=default) if self.by_game else resolve(default)(*arguments)
        return made

    def _arguments(self, text: str | None) -> list[int | Path]:
        if ":N" not in self.usage:
            if text is not None:
                raise ValueError(f"agent {self.name!r} takes nothing after its name, got {shown(text)}")
            return []
        number, colon, path = (text or "").partition(":") if "FILE" in self.usage else (text or "", "", "")
        if re.fullmatch(r"[1-9][0-9]{0,8}", number) is None:
            got = "nothing" if text is None else shown(number)
            raise ValueError(
                f"{self.name}:N needs a number of playouts a move for N, such as {self.name}:64; got {got}"
            )
        return [int(number), *([Path(path)] if colon else [])]


def by_game(name: str, *arguments: Any, default: Target = "") -> AnyAgent:
    """Return the agent that is, in each game, the one that the game's plugin lists under this name.

    Args:
        name: a key of `GamePlugin.agents`.
        arguments: what the agent of a game is made with.
        default: target of what makes the agent for games that list none; "" refuses those games.
    """
    from .base import ByGame

    def make(game: Game) -> AnyAgent:
        target = plugin_of(game).agents.get(name, default)
        if target == "":
            having = ", ".join(plugin.id for plugin in plugins() if name in plugin.agents)
            raise ValueError(f"agent {shown(name)}: {game.id} has no such agent; games with one: {having}")
        made: AnyAgent = resolve(target)(*arguments)
        return made

    return ByGame(name, make)


def default_opponents(game: Game) -> list[str]:
    """Return the agents that a game is measured against if nothing else is asked for."""
    return ["random", *(["greedy"] if "greedy" in plugin_of(game).agents else [])]


AGENTS: dict[str, AgentSpec] = {
    spec.name: spec
    for spec in (
        AgentSpec(
            "random",
            "any legal action with equal chance; random whole turns in some games",
            "random_agent:RandomAgent",
            True,
        ),
        AgentSpec("greedy", "looks one move ahead, with a score made for the game", by_game=True),
        AgentSpec(
            "rollout:N",
            "N random playouts a move, most for the best candidates",
            "playouts.rollout_agent:RolloutAgent",
            True,
        ),
        AgentSpec(
            "amaf:N", "N random playouts a move, each of which values all its actions", "playouts.amaf:AmafAgent"
        ),
        AgentSpec(
            "mcts:N", "tree search, N simulations a move that end in random playouts (UCT)", "search.search_agent:mcts"
        ),
        AgentSpec(
            "gumbel:N[:FILE]",
            "tree search, N simulations a move, by a shipped network or FILE (Gumbel AlphaZero)",
            "search.search_agent:gumbel_alphazero",
            weights=SEARCH_WEIGHTS,
        ),
        AgentSpec(
            "trained",
            "a network that learned by self-play, in games whose weights come with the package",
            "networks.trained:trained",
            weights=WEIGHTS,
        ),
        AgentSpec("perfect", "plays without a mistake, where a game is solved: Torus of size 2 and 3", by_game=True),
    )
}
"""The agents that `load` knows by name."""


def load(spec: str, game: Game | None = None) -> AnyAgent:
    """Return the agent that `spec` describes; its `name` is the spec.

    Args:
        spec: a name of `AGENTS`, with its argument after a colon (`random`, `greedy`, `rollout:64`); the path of
            trained weights, `my_run/agent.safetensors`, or of the run's folder; the path of a model that
            Stable-Baselines3 saved, `model.zip`, which plays its likeliest action, or `model.zip:sample`, which draws
            it; or the import path of your own, `my_package.bots:MyBot`: a class, made without arguments or with the
            text after a second colon (`my_package.bots:MyBot:text`), an agent, or a plain function from one PettingZoo
            observation to an action. Modules of the current directory are found.
        game: what it is to play; an agent that cannot is refused here instead of at its first move.

    Raises:
        ValueError: unknown or malformed spec, what cannot be imported, an object that is no agent, or not for
            this game; the message says what is missing.
    """
    from .base import takes_states

    name, colon, text = spec.partition(":")
    agent: AnyAgent
    if name in AGENTS:
        agent = AGENTS[name].make(text if colon else None)
    elif (file := file_of(spec)) is not None:
        agent = _load_file(file)
    elif match := _IMPORT_PATH.fullmatch(spec):
        agent = _load_by_path(spec, *match.groups())
    else:
        close = difflib.get_close_matches(name, AGENTS, n=1, cutoff=0.5)
        hint = f"; did you mean {AGENTS[close[0]].usage!r}?" if close else ""
        known = ", ".join(entry.usage for entry in AGENTS.values())
        raise ValueError(
            f"unknown agent {shown(spec)}; known: {known}, a file of weights ({WEIGHTS_SUFFIX}) or a run's folder with "
            f"one, a model of Stable-Baselines3 ({MODEL_SUFFIX}), or your own by import path, such as "
            f"my_bots:MyBot{hint}"
        )
    try:
        agent.name = spec
    except AttributeError as error:  # slots, a frozen dataclass, a property
        raise ValueError(f"agent {shown(spec)} must let its attribute 'name' be set: {error}") from error
    if game is not None:
        takes_states(agent, game)
        fits = getattr(agent, "check_game", None)
        if fits is not None:
            fits(game)
    return agent


@dataclass(frozen=True)
class AgentFile:
    """A file that a spec names; the spec is `before`, the path and `after`.

    Attributes:
        path: of the file; for the folder of a run, of its agent.
        before: the text before the path, `gumbel:N:` or nothing.
        after: the text after the path, `:sample` or nothing.
    """

    path: Path
    before: str = ""
    after: str = ""

    @property
    def is_model(self) -> bool:
        """Return True for a model of Stable-Baselines3, False for weights."""
        return self.path.suffix == MODEL_SUFFIX


def file_of(spec: str) -> AgentFile | None:
    """Return the file that a spec names, None for specs without one."""
    name, _, argument = spec.partition(":")
    if name in AGENTS:
        number, colon, text = argument.partition(":")
        if not colon or "FILE" not in AGENTS[name].usage:
            return None
        return AgentFile(_agent_in(text), f"{name}:{number}:")
    if os.path.isdir(spec) or spec.endswith(WEIGHTS_SUFFIX):
        return AgentFile(_agent_in(spec))
    path = spec.removesuffix(SAMPLE)
    return AgentFile(Path(path), after=spec[len(path) :]) if path.endswith(MODEL_SUFFIX) else None


def _agent_in(path: str) -> Path:
    """Return the agent's file in the folder of a run, or the path of another file as it is."""
    return Path(path) / WEIGHTS_FILE if os.path.isdir(path) else Path(path)


def _load_file(file: AgentFile) -> AnyAgent:
    if file.is_model:
        from cellgames.agents.networks.sb3_agent import from_model_file

        return from_model_file(file.path, sample=bool(file.after))
    from cellgames.agents.networks.trained import from_file

    return from_file(file.path)


def _load_by_path(spec: str, module: str, attribute: str, text: str | None) -> AnyAgent:
    """Return the agent at an import path."""
    found = _import(spec, module, attribute)
    if inspect.isclass(found):
        arguments = () if text is None else (text,)
        try:
            inspect.signature(found).bind(*arguments)
        except TypeError as error:
            takes = f"the text {shown(text)}" if arguments else "no arguments"
            raise ValueError(f"agent {shown(spec)}: cannot make {attribute} with {takes}: {error}") from error
        found = found(*arguments)
    elif text is not None:
        raise ValueError(f"agent {shown(spec)}: only a class takes text after a second colon, {attribute} is none")
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
            reason = f"there is no module {shown(error.name)} in the current directory or among the installed ones"  # type: ignore[attr-defined]  # a ModuleNotFoundError
        else:
            reason = f"importing {module} failed with {type(error).__name__}: {error}"
        raise ValueError(f"agent {shown(spec)}: {reason}") from error
    if not hasattr(loaded, attribute):
        public = [name for name in vars(loaded) if not name.startswith("_")]
        close = difflib.get_close_matches(attribute, public, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"agent {shown(spec)}: module {module} has no {shown(attribute)}{hint}")
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
        f"agent {shown(spec)}: {type(found).__name__} lacks the method {missing}; an agent has "
        "start(game, players, env_ids) and act(observation, action_mask, env_ids, generator), see "
        "cellgames.agents.Agent"
    )

"""Specs of agents: the names that the package knows, and the files that specs name. Importing this imports no torch."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.agents.networks.agent_files import (
    CHAMPION_FILE,
    MODEL_SUFFIX,
    SAMPLE,
    SEARCH_WEIGHTS,
    WEIGHTS,
    WEIGHTS_FILE,
    WEIGHTS_SUFFIX,
    ids_with_weights,
)
from cellgames.envs.registry import plugin_of, plugins
from cellgames.plugins import Target, additions, resolve
from cellgames.utils.errors import InputError, shown

if TYPE_CHECKING:
    from cellgames.envs.core import Game

    from .base import AnyAgent


@dataclass(frozen=True)
class AgentSpec:
    """A name that `load` knows.

    Attributes:
        usage: the spec with its arguments, for help texts: `:N` stands for a number, `[:FILE]` for a path.
        summary: one line.
        default: import path, in this package, of what makes the agent from its arguments; "" if only plugins have one.
        by_game: True if a game's plugin may list its own agent under this name.
        at_once: the same as `default` for games in which all players act at once; "" if it is the same agent.
        weights: the folder of the shipped weights that it plays by, None for an agent without any.
    """

    usage: str
    summary: str
    default: str = ""
    by_game: bool = False
    at_once: str = ""
    weights: Path | None = None

    @property
    def name(self) -> str:
        """Return the name without arguments."""
        return re.split(r"[:\[]", self.usage, maxsplit=1)[0]

    @property
    def takes(self) -> str:
        """Return the word of `usage` for the text after the name: `AGENT`, `COMMAND`, `MODEL`, `FOLDER` or others."""
        return self.usage.rpartition(":")[2]

    @property
    def ids_with_weights(self) -> tuple[str, ...] | None:
        """Return the ids of the games that its weights play, None if it has none; needs the extra `trained`."""
        return None if self.weights is None else ids_with_weights(self.weights)

    def make(self, text: str | None) -> AnyAgent:
        """Return a new agent of the text after the name and a colon, or None; a `ValueError` for another text."""
        arguments = self._arguments(text)
        if self.by_game:
            return by_game(self.name, *arguments, default=self.default, at_once=self.at_once)
        made: AnyAgent = resolve(self.default)(*arguments)
        return made

    def _arguments(self, text: str | None) -> list[int | Path | str]:
        if self.takes in ("AGENT", "COMMAND", "MODEL"):
            return [text or ""]
        if self.takes == "FOLDER":
            if not text:
                raise InputError(self.usage, "the path of a folder after the colon", "nothing")
            return [Path(text)]
        if ":N" not in self.usage:
            if "FILE" in self.usage and text:
                return [Path(text)]
            if text is not None:
                raise InputError(f"agent {self.name!r}", "nothing after its name", shown(text))
            return []
        number, colon, path = (text or "").partition(":") if "FILE" in self.usage else (text or "", "", "")
        if re.fullmatch(r"[1-9][0-9]{0,8}", number) is None:
            got = "nothing" if text is None else shown(number)
            raise InputError(f"{self.name}:N", f"a number of playouts a move for N, such as {self.name}:64", got)
        return [int(number), *([Path(path)] if colon else [])]


def by_game(name: str, *arguments: Any, default: Target = "", at_once: Target = "") -> AnyAgent:
    """Return the agent that is, in each game, the one that the game's plugin lists under this name.

    `arguments` are those of the game's agent, and `default` makes it for games that list none; "" refuses those games.
    `at_once`, unless it is "", takes the place of `default` in games in which all players act at once.
    """
    from .base import ByGame

    def make(game: Game) -> AnyAgent:
        general = at_once if at_once != "" and game.info.simultaneous else default
        target = plugin_of(game).agents.get(name, general)
        if target == "":
            having = ", ".join(plugin.id for plugin in plugins() if name in plugin.agents)
            raise InputError(f"agent {shown(name)}", f"a game with one ({having})", game.id)
        made: AnyAgent = resolve(target)(*arguments)
        return made

    return ByGame(name, make)


_HERE = "cellgames.agents"

AGENTS: dict[str, AgentSpec] = {
    spec.name: spec
    for spec in (
        AgentSpec(
            "random",
            "any legal action with equal chance; random whole turns in some games",
            f"{_HERE}.playouts.random_agent:RandomAgent",
            True,
        ),
        AgentSpec("greedy", "looks one move ahead, with a score made for the game", by_game=True),
        AgentSpec(
            "rollout:N",
            "N random playouts a move, most for the best candidates",
            f"{_HERE}.playouts.playout_agents:RolloutAgent",
            True,
        ),
        AgentSpec(
            "mcts:N",
            "tree search, N simulations a move with random playouts (UCT; regret matching where all act at once)",
            f"{_HERE}.search.search_agent:mcts",
            True,
            f"{_HERE}.simultaneous.joint_agent:mcts",
        ),
        AgentSpec(
            "gumbel:N[:FILE]",
            "tree search, N simulations a move, by a network (Gumbel AlphaZero)",
            f"{_HERE}.search.search_agent:gumbel_alphazero",
            True,
            weights=SEARCH_WEIGHTS,
        ),
        AgentSpec(
            "trained",
            "the trained agent of the package: a network that learned by self-play, or evolved designs",
            f"{_HERE}.networks.saved:trained",
            weights=WEIGHTS,
        ),
        AgentSpec(
            "exec:COMMAND",
            "a program in any language, such as exec:./mybot, which speaks the protocol of docs/bots.md",
            f"{_HERE}.programs.program_agent:ProgramAgent",
        ),
        AgentSpec(
            "gtp:COMMAND",
            "a GTP engine, such as gtp:./engine, in games of two players in turns",
            f"{_HERE}.programs.gtp:GtpAgent",
        ),
        AgentSpec(
            "llm:MODEL",
            "a language model of the server that OPENAI_BASE_URL names, see docs/language_models.md",
            f"{_HERE}.language_models.language_model_agent:LanguageModelAgent",
        ),
        AgentSpec(
            "isolated:AGENT",
            "another agent, such as isolated:my_bots:MyBot, in a process of its own",
            f"{_HERE}.programs.isolation:Isolated",
        ),
        AgentSpec(
            "sandboxed:AGENT",
            "the same, without network, and with files that it can only read; needs bubblewrap",
            f"{_HERE}.programs.isolation:Sandboxed",
        ),
        AgentSpec(
            "mixed:SHARE:AGENT",
            "another agent that plays a share of its moves at random, such as mixed:0.3:greedy",
            f"{_HERE}.mixed:mixed",
        ),
        *(AgentSpec(*arguments) for arguments in additions().agents),
        AgentSpec(
            "champion[:FILE]", "designs that evolution has found, in the Toroidal Cup and Cloth of Gold", by_game=True
        ),
        AgentSpec(
            "perfect",
            "plays without a mistake, where a game is solved: Torus to size 5, Hex to 6, Y to 8",
            by_game=True,
        ),
    )
}
"""The agents that `load` knows by name."""


def inner_spec(spec: str, *, mixed: bool = False) -> str:
    """Return the spec of the agent that plays, without `isolated:` and the like; with `mixed` no `mixed:SHARE:`."""
    name = spec.partition(":")[0]
    if name not in AGENTS or AGENTS[name].takes != "AGENT":
        return spec
    colons = AGENTS[name].usage.count(":")
    if spec.count(":") < colons or (colons > 1 and not mixed):
        return spec
    return inner_spec(spec.split(":", colons)[-1], mixed=mixed)


@dataclass(frozen=True)
class AgentFile:
    """A file that a spec names; the spec is `before`, the path and `after`.

    Attributes:
        path: path of the file; for the folder of a run, that of its agent.
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
        if "FILE" not in (usage := AGENTS[name].usage):
            return None
        if ":N" not in usage:
            given = Path(argument)
            return AgentFile(given / CHAMPION_FILE if given.is_dir() else given, f"{name}:") if argument else None
        number, colon, text = argument.partition(":")
        return AgentFile(_agent_in(text), f"{name}:{number}:") if colon else None
    if os.path.isdir(spec) or spec.endswith(WEIGHTS_SUFFIX):
        return AgentFile(_agent_in(spec))
    path = spec.removesuffix(SAMPLE)
    return AgentFile(Path(path), after=spec[len(path) :]) if path.endswith(MODEL_SUFFIX) else None


def _agent_in(path: str) -> Path:
    """Return the agent's file in the folder of a run, or the path of another file as it is."""
    return Path(path) / WEIGHTS_FILE if os.path.isdir(path) else Path(path)

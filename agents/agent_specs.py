"""Specs of agents: the names that the package knows, files that specs name, and names that users give to agents.

Users name agents by `NAME=SPEC`, or by a mapping from names to agents. A text is `NAME=SPEC` if it has a `=`, none of
the characters `:`, `/` and backslash stand before the first one, and no file or folder has the whole text as its path.
Every other text is a spec, and its name is the text, without `isolated:` and the like. So `rollout:64`,
`results/seed=0/agent.safetensors`, `my_bots:Bot:a=1` and `./seed=0` are specs, `me=my_bots:Bot:a=1` has the name `me`.
Importing this imports no torch.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlencode

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
from cellgames.plugins import additions, resolve
from cellgames.utils.errors import InputError, listed, shown
from cellgames.utils.files import PathLike

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
        from .base import ByGame

        arguments = self._arguments(text)

        def make(game: Game) -> AnyAgent:
            general = self.at_once or self.default if game.info.simultaneous else self.default
            if not (target := plugin_of(game).agents.get(self.name, general)):
                having = ", ".join(plugin.id for plugin in plugins() if self.name in plugin.agents)
                raise InputError(f"agent {shown(self.name)}", f"a game with one ({having})", game.id)
            return resolve(target)(*arguments)  # type: ignore[no-any-return]

        return ByGame(self.name, make) if self.by_game else resolve(self.default)(*arguments)

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


_HERE = "cellgames.agents"

AGENTS: dict[str, AgentSpec] = {
    spec.name: spec
    for spec in (
        AgentSpec(
            "random",
            "any legal action with equal chance; random whole turns in some games",
            f"{_HERE}.playouts:RandomAgent",
            True,
        ),
        AgentSpec("greedy", "looks one move ahead, with a score made for the game", by_game=True),
        AgentSpec(
            "rollout:N",
            "N random playouts a move, most for the best candidates",
            f"{_HERE}.playouts:RolloutAgent",
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
        AgentSpec("champion[:FILE]", "designs that evolution found, in the Cup and Cloth of Gold", by_game=True),
        AgentSpec(
            "perfect", "never errs on solved boards: Torus to size 4 (5 in part), Hex to 6, Y to 8", by_game=True
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


MOST_NAME = 60
"""Characters of a name."""

HUMAN = "human"
"""The name that records have for a person."""

Agents: TypeAlias = "Sequence[PathLike | AnyAgent] | Mapping[str, PathLike | AnyAgent]"
"""Specs, `NAME=SPEC`, paths and agents, or a mapping from names to specs, paths and agents."""

_NAME = re.compile(r"[^\W_][\w.+-]*")


def split_name(text: str) -> tuple[str, str]:
    """Return the name and the spec of a text `NAME=SPEC`; the name of another text is the text (`inner_spec`).

    Raises:
        ValueError: a name that is empty, too long, reserved, or has other characters than letters, digits and `_.+-`.
    """
    if (named := _named(text)) is None or os.path.exists(text.removesuffix(SAMPLE)):
        return inner_spec(text), text
    _check_name(named[0], text)
    return named


def matched(text: str) -> list[str]:
    """Return a text for each file that a pattern finds: `new-a=runs/a/model.zip` and so on of `new=runs/*/model.zip`.

    A text without a pattern stays as it is. The part that the pattern leaves open is the end of a name.

    Raises:
        ValueError: a pattern that finds nothing.
    """
    name, pattern = _named(text) or ("", text)
    files = sorted(map(Path, glob(pattern))) if has_magic(pattern) else []
    if "*" in pattern and ":" not in pattern and not files:
        raise InputError("agent", "a pattern that finds files", pattern)
    if not name or not files:
        return [str(file) for file in files] or [text]
    open_parts = [[a for a, b in zip(file.parts, Path(pattern).parts, strict=True) if a != b] for file in files]
    found = [re.sub(r"[^\w.+-]", "-", "-".join(parts)).removesuffix(files[0].suffix) for parts in open_parts]
    return [f"{name}-{part}={file}" for part, file in zip(found, files, strict=True)]


def _named(text: str) -> tuple[str, str] | None:
    """Return both parts of a text of the form `NAME=SPEC`, None for another one."""
    name, equals, spec = text.partition("=")
    return None if not equals or any(letter in name for letter in ":/\\") else (name, spec)


def wrapped(text: str, wrapper: str) -> str:
    """Return a text for `load` with `isolated:` or the like before the spec, "" for none.

    Agents of the package stay as they are, and programs, which have processes of their own, are not isolated again.
    """
    name, spec = split_name(text)
    played = inner_spec(spec, mixed=True) if spec.startswith("mixed:") else spec
    kind, colon, _ = played.partition(":")
    program = kind in AGENTS and AGENTS[kind].takes == "COMMAND" and wrapper == "sandboxed"
    if not wrapper or not (program or (colon and kind not in AGENTS and file_of(played) is None)):
        return text
    return f"{wrapper}:{spec}" if name == inner_spec(spec) else f"{name}={wrapper}:{spec}"


def with_options(text: str, **options: str | int) -> str:
    """Return a text for `load` with more options if it names a language model; others stay as they are."""
    name, spec = split_name(text)
    if not (options and spec.startswith("llm:")):
        return text
    more = f"{spec}{'&' if '?' in spec else '?'}{urlencode(options)}"
    return more if name == spec else f"{name}={more}"


def own_name(agent: AnyAgent) -> str:
    """Return the name of an agent; a `ValueError` if it has none that can be read."""
    if not isinstance(name := getattr(agent, "name", None), str):
        raise InputError("name", "a text", shown(name), "PolicyAgent makes agents of functions", type(agent).__name__)
    return name


def named_agents(agents: Agents) -> list[tuple[str, str | AnyAgent]]:
    """Return names with specs and agents, in the given order; a path is its text."""
    if isinstance(agents, Mapping):
        return [(name, os.fspath(one) if isinstance(one, os.PathLike) else one) for name, one in agents.items()]
    texts = (str, os.PathLike)
    return [split_name(os.fspath(one)) if isinstance(one, texts) else (own_name(one), one) for one in agents]


def by_name(agents: Agents) -> dict[str, str | AnyAgent]:
    """Return specs and agents by the names that they have in records, in the given order.

    A `ValueError` names one that `split_name` refuses or that cannot be printed, or what two agents or two names share.
    """
    pairs = named_agents(agents)
    for name, agent in pairs if isinstance(agents, Mapping) else ():
        if name != (inner_spec(agent) if isinstance(agent, str) else own_name(agent)):
            _check_name(name, name)
    names = [name for name, _ in pairs]
    if hidden := [name for name in names if not name.isprintable()]:
        raise InputError("agents", "names that can be printed", listed(hidden))
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError("agents", "different names", f"more than one {', '.join(twice)}", "NAME=SPEC gives a name")
    objects = {id(agent): name for name, agent in reversed(pairs) if not isinstance(agent, str)}
    for name, agent in pairs:
        if not isinstance(agent, str) and objects[id(agent)] != name:
            got = f"one for {objects[id(agent)]} and {name}"
            raise InputError("agents", "an object for each, since it remembers its games", got)
    return dict(pairs)


def _check_name(name: str, text: str) -> None:
    if _NAME.fullmatch(name) is None or len(name) > MOST_NAME:
        letters = f"1 to {MOST_NAME} letters, digits, _, ., + and -, a letter or a digit first"
        raise InputError("name", letters, shown(text), "a path with = in it needs ./ in front")
    if name in AGENTS or name == HUMAN or name.endswith((WEIGHTS_SUFFIX, MODEL_SUFFIX)):
        meaning = "people" if name == HUMAN else "an agent of the package" if name in AGENTS else "a file"
        raise InputError("name", "another name", shown(text), f"{name!r} stands for {meaning}")

"""Names that users give to agents: `NAME=SPEC`, or a mapping from names to agents. Importing this imports no torch.

A text is `NAME=SPEC` if it has a `=`, none of the characters `:`, `/` and backslash stand before the first one, and no
file or folder has the whole text as its path. Every other text is a spec, and its name is the text, without `isolated:`
and the like. So `rollout:64`, `results/seed=0/agent.safetensors`, `my_bots:Bot:a=1` and `./seed=0` are specs,
`me=my_bots:Bot:a=1` has the name `me`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlencode

from cellgames.agents.networks.agent_files import MODEL_SUFFIX, SAMPLE, WEIGHTS_SUFFIX
from cellgames.utils.errors import InputError
from cellgames.utils.foreign_text import listed, shown

from .agent_specs import AGENTS, file_of, inner_spec

if TYPE_CHECKING:
    from .base import AnyAgent

MOST_NAME = 60
"""Characters of a name."""

HUMAN = "human"
"""The name that records have for a person."""

Agents: TypeAlias = "Sequence[str | AnyAgent] | Mapping[str, str | AnyAgent]"
"""Specs, `NAME=SPEC` and agents, or a mapping from names to specs and agents."""

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

    A text that finds none stays as it is. The part that the pattern leaves open is the end of a name.
    """
    name, pattern = _named(text) or ("", text)
    files = sorted(map(Path, glob(pattern))) if has_magic(pattern) else []
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
        raise InputError("name", f"a text as the name of {type(agent).__name__}", shown(name))
    return name


def by_name(agents: Agents) -> dict[str, str | AnyAgent]:
    """Return specs and agents by the names that they have in records, in the given order.

    A `ValueError` names one that `split_name` refuses or that cannot be printed, or what two agents or two names share.
    """
    if isinstance(agents, Mapping):
        pairs = list(agents.items())
        for name, agent in pairs:
            if name != (inner_spec(agent) if isinstance(agent, str) else own_name(agent)):
                _check_name(name, name)
    else:
        pairs = [split_name(agent) if isinstance(agent, str) else (own_name(agent), agent) for agent in agents]
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


def names_of(texts: Iterable[str]) -> list[str]:
    """Return the names of specs, as `split_name` does."""
    return [split_name(text)[0] for text in texts]


def _check_name(name: str, text: str) -> None:
    if _NAME.fullmatch(name) is None or len(name) > MOST_NAME:
        letters = f"1 to {MOST_NAME} letters, digits, _, ., + and -, a letter or a digit first"
        raise InputError("name", letters, shown(text), "a path with = in it needs ./ in front")
    if name in AGENTS or name == HUMAN or name.endswith((WEIGHTS_SUFFIX, MODEL_SUFFIX)):
        meaning = "people" if name == HUMAN else "an agent of the package" if name in AGENTS else "a file"
        raise InputError("name", "another name", shown(text), f"{name!r} stands for {meaning}")

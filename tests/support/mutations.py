"""Mutated files and JSON: bytes changed, cut, copied and moved, and values replaced by hostile ones."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st

_TOKENS = [
    *(b"", b"\0", b"\xff", b"\xff\xfe", b"\n", b'"', b"{", b"}", b"[" * 2000, b"]", b",", b"null", b"NaN", b"-1"),
    *(b"1e999", b"9" * 5000, b"\\ud800", b"true", b"\xf0\x9f\x8e\xb2", b"../../x", b"\x1b[2J", b"%s%n", b"' OR 1=1;--"),
]


class Edit(NamedTuple):
    """One change of some bytes: what is done, at which part of the length, by a number or with a token."""

    kind: str
    at: float
    number: int
    token: bytes


_EDITS: dict[str, Callable[[bytes, bytes, Edit], bytes]] = {
    "flip": lambda before, after, edit: before + (bytes([edit.number]) + after[1:] if after else b""),
    "cut": lambda before, after, edit: before,
    "drop": lambda before, after, edit: before + after[1 + edit.number :],
    "copy": lambda before, after, edit: before + after[: 1 + edit.number] + after,
    "put": lambda before, after, edit: before + edit.token + after,
    "over": lambda before, after, edit: before + edit.token + after[len(edit.token) :],
}


def edits(most: int = 4) -> st.SearchStrategy[tuple[Edit, ...]]:
    """Return strategies for one to `most` edits."""
    parts = st.sampled_from(list(_EDITS)), st.floats(0, 1), st.integers(0, 255), st.sampled_from(_TOKENS)
    return st.lists(st.builds(Edit, *parts), min_size=1, max_size=most).map(tuple)


def applied(content: bytes, made: tuple[Edit, ...]) -> bytes:
    """Return the bytes with the edits made, one after the other."""
    for edit in made:
        place = min(len(content), int(edit.at * (len(content) + 1)))
        content = _EDITS[edit.kind](content[:place], content[place:], edit)
    return content


def hostile_text() -> st.SearchStrategy[str]:
    """Return texts of all kinds of characters, also long ones."""
    some = ["", " ", "\n", "\0", "\x1b[2J", "a" * 5000, "\u202egnp", "\ud800", "-", "--help", "../x", "🎲" * 50]
    return st.one_of(st.text(max_size=20), st.sampled_from(some))


def hostile_json() -> st.SearchStrategy[Any]:
    """Return values of JSON that nobody expects."""
    edges = [2**63, 2**63 - 1, -(2**63), 10**30, 10**400, 1e308, -0.0, 0.5, float("inf"), float("nan")]
    numbers = (st.integers(-3, 40), st.integers(), st.sampled_from(edges), st.floats(allow_nan=False))
    return st.recursive(
        st.one_of(st.none(), st.booleans(), st.one_of(*numbers), hostile_text()),
        lambda inside: st.one_of(st.lists(inside, max_size=4), st.dictionaries(hostile_text(), inside, max_size=3)),
        max_leaves=6,
    )


class Change(NamedTuple):
    """One change of a JSON value: of which part, by numbers that choose among the children, and what is done to it."""

    path: tuple[int, ...]
    kind: str  # "put", "drop", "name" or "twice"
    value: Any


def changes(most: int = 3) -> st.SearchStrategy[tuple[Change, ...]]:
    """Return strategies for one to `most` changes."""
    path = st.lists(st.integers(0, 30), min_size=1, max_size=4).map(tuple)
    one = st.builds(Change, path, st.sampled_from(["put", "put", "put", "drop", "name", "twice"]), hostile_json())
    return st.lists(one, min_size=1, max_size=most).map(tuple)


def changed(data: Any, made: tuple[Change, ...]) -> Any:
    """Return a copy of JSON with the changes made, one after the other."""
    data = copy.deepcopy(data)
    for change in made:
        holder, key = _found(data, change.path)
        if holder is None:
            data = change.value
        elif change.kind == "drop":
            del holder[key]
        elif change.kind == "twice" and isinstance(holder, list):
            holder.insert(key, holder[key])
        elif change.kind == "name" and isinstance(holder, dict):
            holder[str(change.value)[:50]] = holder.pop(key)
        else:
            holder[key] = change.value
    return data


def mutated(text: bytes, made: tuple[Any, ...]) -> bytes:
    """Return the text of a JSON value with edits or changes made."""
    return applied(text, made) if isinstance(made[0], Edit) else json.dumps(changed(json.loads(text), made)).encode()


def large(data: Any, key: str, most: float, below: float = math.inf) -> bool:
    """Return True if an object of JSON asks for a board or a network that may not fit into the memory."""
    sizes = data.get(key) if isinstance(data, dict) else None
    return isinstance(sizes, dict) and any(isinstance(x, int | float) and most < x < below for x in sizes.values())


def _found(data: Any, path: tuple[int, ...]) -> tuple[Any, Any]:
    """Return the object or list that holds a part, and its key; None for the whole."""
    holder, key = None, None
    for number in path:
        if not isinstance(data, dict | list) or not data:
            break
        holder, key = data, [*data][number % len(data)] if isinstance(data, dict) else number % len(data)
        data = holder[key]
    return holder, key

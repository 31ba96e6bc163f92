"""Mutated files and JSON: bytes changed, cut, copied and moved, and values replaced by hostile ones."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

_TOKENS = [
    *(b"", b"\0", b"\xff", b"\xff\xfe", b"\n", b'"', b"{", b"}", b"[" * 2000, b"]", b",", b"null", b"NaN", b"-1"),
    *(b"1e999", b"9" * 5000, b"\\ud800", b"true", b"\xf0\x9f\x8e\xb2", b"../../x", b"\x1b[2J", b"%s%n", b"' OR 1=1;--"),
]


@dataclass(frozen=True)
class Edit:
    """One change of some bytes.

    Attributes:
        kind: "flip" changes a byte, "cut" the end off, "drop" leaves bytes out, "copy" puts bytes in twice, "put" adds
            a token, "over" writes it over what is there.
        at: where, in thousandths of the length.
        number: the byte's new value, or how many bytes.
        token: what is put.
    """

    kind: str
    at: float
    number: int
    token: bytes


def edits(most: int = 4) -> st.SearchStrategy[tuple[Edit, ...]]:
    """Return strategies for one to `most` edits."""
    one = st.builds(
        Edit,
        kind=st.sampled_from(["flip", "cut", "drop", "copy", "put", "over"]),
        at=st.floats(0, 1),
        number=st.integers(0, 255),
        token=st.sampled_from(_TOKENS),
    )
    return st.lists(one, min_size=1, max_size=most).map(tuple)


def applied(content: bytes, made: tuple[Edit, ...]) -> bytes:
    """Return the bytes with the edits made, one after the other."""
    for edit in made:
        place = min(len(content), int(edit.at * (len(content) + 1)))
        before, after = content[:place], content[place:]
        if edit.kind == "flip":
            content = before + (bytes([edit.number]) + after[1:] if after else b"")
        elif edit.kind == "cut":
            content = before
        elif edit.kind == "drop":
            content = before + after[1 + edit.number :]
        elif edit.kind == "copy":
            content = before + after[: 1 + edit.number] + after
        elif edit.kind == "put":
            content = before + edit.token + after
        else:
            content = before + edit.token + after[len(edit.token) :]
    return content


def hostile_text() -> st.SearchStrategy[str]:
    """Return texts of all kinds of characters, also long ones."""
    return st.one_of(
        st.text(max_size=20),
        st.sampled_from(
            ["", " ", "\n", "\0", "\x1b[2J", "a" * 5000, "\u202egnp", "\ud800", "-", "--help", "../x", "🎲" * 50]
        ),
    )


def hostile_json() -> st.SearchStrategy[Any]:
    """Return values of JSON that nobody expects."""
    numbers = st.one_of(
        st.integers(-3, 40),
        st.integers(),
        st.sampled_from([2**63, 2**63 - 1, -(2**63), 10**30, 10**400, 1e308, -0.0, 0.5, float("inf"), float("nan")]),
        st.floats(allow_nan=False),
    )
    plain = st.one_of(st.none(), st.booleans(), numbers, hostile_text())
    return st.recursive(
        plain,
        lambda inside: st.one_of(st.lists(inside, max_size=4), st.dictionaries(hostile_text(), inside, max_size=3)),
        max_leaves=6,
    )


@dataclass(frozen=True)
class Change:
    """One change of a JSON value.

    Attributes:
        path: which part: numbers that choose among the children, level by level.
        kind: "put" replaces it by `value`, "drop" leaves it out, "name" gives it another name, "twice" repeats it.
        value: what is put.
    """

    path: tuple[int, ...]
    kind: str
    value: Any


def changes(most: int = 3) -> st.SearchStrategy[tuple[Change, ...]]:
    """Return strategies for one to `most` changes."""
    one = st.builds(
        Change,
        path=st.lists(st.integers(0, 30), min_size=1, max_size=4).map(tuple),
        kind=st.sampled_from(["put", "put", "put", "drop", "name", "twice"]),
        value=hostile_json(),
    )
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


def _found(data: Any, path: tuple[int, ...]) -> tuple[Any, Any]:
    """Return the object or list that holds a part, and its key; None for the whole."""
    holder, key = None, None
    for number in path:
        if not isinstance(data, dict | list) or not data:
            break
        holder, key = data, (list(data)[number % len(data)] if isinstance(data, dict) else number % len(data))
        data = holder[key]
    return holder, key


def line_of(data: Any) -> str:
    """Return JSON on a line; NaN and infinities as Python writes them, lone surrogates as escapes."""
    return json.dumps(data)

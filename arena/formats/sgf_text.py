"""The text of SGF files: nodes with properties, whatever the game."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cellgames.utils.errors import InputError, shown

_SPACE = re.compile(r"\s*")
_PROPERTY = re.compile(r"([A-Za-z]+)((?:\s*\[(?:\\.|[^\]\\])*\])+)", re.DOTALL)
_VALUE = re.compile(r"\[((?:\\.|[^\]\\])*)\]", re.DOTALL)
_BREAKS = ("\n", "\r", "\r\n", "\n\r")


@dataclass(eq=False)
class Node:
    """A node of a file.

    Attributes:
        properties: The last value of each property by name.
        children: The nodes after it.
    """

    properties: dict[str, str] = field(default_factory=dict)
    children: list[Node] = field(default_factory=list)


def escaped(text: str) -> str:
    """Return a text as the value of a property."""
    return text.replace("\\", "\\\\").replace("]", "\\]")


def nodes_of_games(text: str) -> list[Node]:
    """Return the first node of each game of a file."""
    games: list[Node] = []
    stack: list[tuple[Node | None, Node | None]] = []  # of open brackets: the node before it, the last one in it
    text = text.removeprefix("\ufeff")
    place = _SPACE.match(text).end()  # type: ignore[union-attr]
    while place < len(text):
        mark = text[place]
        place += 1
        if mark == "(":
            before = stack[-1][1] or stack[-1][0] if stack else None
            if stack and before is None:
                break
            stack.append((before, None))
        elif mark == ")" and stack:
            before, last = stack.pop()
            if before is None and last is None:
                break
        elif mark == ";" and stack:
            before, last = stack[-1]
            node, parent = Node(), last or before
            (games if parent is None else parent.children).append(node)
            stack[-1] = before, node
        elif stack and (found := _PROPERTY.match(text, place - 1)):
            if (node_now := stack[-1][1]) is not None:
                node_now.properties[re.sub("[a-z]", "", found[1])] = _value(_VALUE.findall(found[2])[-1])
            place = found.end()
        else:
            raise InputError("", "an SGF file", f"{shown(text[place - 1 : place + 30])} at character {place}")
        place = _SPACE.match(text, place).end()  # type: ignore[union-attr]
    if stack or not games or place < len(text):
        raise ValueError(
            "expected an SGF file of whole games, such as (;FF[4]GM[2048]SZ[5];B[a1];W[b1]), got " + shown(text)
        )
    return games


def _value(text: str) -> str:
    """Return the value of a property as it is meant: a line that ends with a backslash goes on."""
    return re.sub(r"\\(\r\n|\n\r|.)", lambda found: "" if found[1] in _BREAKS else found[1], text, flags=re.DOTALL)

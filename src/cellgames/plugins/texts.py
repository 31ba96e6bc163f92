"""Texts of games for people and language models, and what the page asks: TOML files, read when they are first asked.

In these files empty lines part the paragraphs of rules, and other line breaks mean nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Setting:
    """A game parameter that a visitor of the web page may set.

    A yes/no parameter needs only a name and a label.

    Attributes:
        name: the parameter.
        label: its name on the page.
        low: the least whole number.
        high: the largest one.
        step: the distance between two allowed numbers.
        choices: the allowed texts or numbers, where these are few.
    """

    name: str
    label: str
    low: int = 0
    high: int = 0
    step: int = 1
    choices: tuple[str | float, ...] = ()


@dataclass(frozen=True)
class Page:
    """The data with which the web page lets visitors play a game.

    Attributes:
        rules: the rules in brief, a paragraph each.
        settings: the parameters that a visitor may set; the page adds the yes/no parameters that have no setting.
        people: the names of players for people, by seat; a single one with `{}` is for all, numbered from 1. Without
            any, the page shows the players of `GameInfo`.
        goals: the goal of the game in a sentence, by seat; a single one is for all.
        lesson: the parts and the guided game of `web.lessons.Lesson`, which teaches the game; empty without one.
    """

    rules: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    people: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    lesson: Mapping[str, Any] = field(default_factory=dict)

    def person(self, seat: int) -> str:
        """Return the name of a player for people."""
        return self.people[0].format(seat + 1) if len(self.people) == 1 else self.people[seat]

    def goal(self, seat: int) -> str:
        """Return the goal of a player."""
        return self.goals[0] if len(self.goals) == 1 else self.goals[seat]


@dataclass(frozen=True)
class TextColours:
    """Colours of a game's text on a terminal; the signs alone say everything.

    Attributes:
        row: a regular expression that matches the whole of a line of the board, whose first group is the cells.
        signs: styles, such as "bold red", by regular expressions of parts of the cells; the first that matches holds.
    """

    row: str
    signs: Mapping[str, str]


@dataclass(frozen=True)
class Prompt:
    """The text by which a language model learns a game; the parameters of the game are told beside it.

    Attributes:
        rules: the rules, a paragraph each.
        position: an explanation of what the game's `text_for` shows.
        moves: an explanation of the names of actions, with examples.
    """

    rules: tuple[str, ...]
    position: str
    moves: str


def read_texts(files: tuple[Path, ...]) -> dict[str, Any]:
    """Return the texts of files; the text of a later file follows that of an earlier one under the same name."""
    import tomllib  # here, as lists of games need no texts

    found: dict[str, Any] = {}
    for file in files:
        found = _joined(found, tomllib.loads(file.read_text(encoding="utf-8")))
    colours = found.pop("colours", None)  # whose spaces have a meaning
    return {**_clean(found), "colours": colours}


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, dict):
        return first | {key: _joined(first[key], value) if key in first else value for key, value in second.items()}
    if isinstance(first, str):
        return f"{first}\n\n{second}"
    return first + second if isinstance(first, list) else second


def _clean(value: Any, name: str = "") -> Any:
    """Return a value of a file with lists as tuples, and texts without line breaks; `rules` become paragraphs."""
    if isinstance(value, dict):
        return {key: _clean(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return tuple(_clean(inner) for inner in value)
    if not isinstance(value, str):
        return value
    paragraphs = tuple(" ".join(part.split()) for part in value.strip().split("\n\n"))
    return paragraphs if name == "rules" else " ".join(paragraphs)

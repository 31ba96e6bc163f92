"""Errors: fields, copies, checks, and foreign text, which is shown in a short printable line."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Command
from refusals import refused

from cellgames import InputError
from cellgames.utils.errors import (
    MOST_LINE,
    check_level,
    check_one_of,
    check_share,
    clipped,
    listed,
    located,
    shown,
)


class RecordError(InputError):
    """An error of one kind of file."""


def test_the_message_has_the_fields_that_are_not_empty() -> None:
    whole = InputError("size", "2 to 16", 99, "too large?", "torus-v0")
    assert isinstance(whole, ValueError)
    assert str(whole) == "torus-v0: size: expected 2 to 16, got 99; too large?"
    assert str(InputError("", "a record", "none")) == "expected a record, got none"
    assert str(InputError(Path("a.json"), cause="is it damaged?")) == "a.json: is it damaged?"
    assert InputError("name", "letters", ["\n"]).got == "['\\n']"


@pytest.mark.parametrize("kind", [InputError, RecordError])
def test_an_error_can_be_copied_and_sent(kind: type[InputError]) -> None:
    error = kind("size", "2 to 16", "'x'", "why", "torus-v0")
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(again) is kind
        assert vars(again) == vars(error)


def test_a_place_goes_before_an_error() -> None:
    error = located(RecordError("size", "2 to 16", 1, where="line 3"), "a.json")
    assert type(error) is RecordError
    assert str(error) == "a.json: line 3: size: expected 2 to 16, got 1"
    assert str(located(ValueError("damaged"), "a.json")) == "a.json: damaged"


def test_shares_levels_and_names_are_checked() -> None:
    check_share(a=0, b=1)
    check_level(0.95)
    check_one_of("kind", "pool", ("self", "pool"))
    with refused("b", "1.5"):
        check_share(a=0.5, b=1.5)
    with refused("level", "1"):
        check_level(1)
    with refused("kind", "['x']"):
        check_one_of("kind", ["x"], ("self", "pool"))


class Loud:
    """A value whose text is long and clears the terminal."""

    def __repr__(self) -> str:
        return "\x1b[2J" * 10_000


class Broken:
    """A value without a text."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")


class Huge(list[int]):
    """A list that fails the test if anything looks through all of it."""

    def __len__(self) -> int:
        return 10**9

    def __iter__(self) -> Iterator[int]:
        yield from range(10_000)
        raise AssertionError("looked at more than 10,000 entries")


HOSTILE: dict[str, Any] = {
    "long": "x" * 100_000,
    "words": "all work and no play " * 10_000,
    "control": "\x1b]0;title\x07\r\n\u202e" * 1_000,
    "surrogates": "\udcff" * 1_000,
    "bytes": b"\xff\x00" * 10_000,
    "whole": -(10**100_000),
    "large": 10**30,
    "list": list(range(100_000)),
    "texts": ["y" * 10_000] * 1_000,
    "nest": {"a" * 1_000: {"b": [["c" * 10_000] * 100] * 100}},
    "loud": Loud(),
    "broken": Broken(),
    "huge": Huge(),
    "nothing": float("nan"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_value_is_shown_short(name: str) -> None:
    for most in (20, 80, 300):
        text = shown(HOSTILE[name], most)
        assert text
        assert len(text) <= most
        assert text.isprintable()
        assert len(clipped(f"got {text}", most)) <= most


def test_ordinary_values_are_shown_as_python_writes_them() -> None:
    values = (5, -1.5, True, None, "b1+", [1, 2, 3], (1,), {"size": 5}, {"a", "b"} - {"b"}, ["win", "loss"])
    assert [shown(value) for value in values] == [repr(value) for value in values]
    assert shown(b'{"game"') == shown('{"game"')
    assert shown("x" * 100) == repr("x" * 75 + "...")
    assert clipped("one\n  two\tthree") == "one two three"
    assert listed(["a", "b"]) == "a, b"
    assert listed([str(number) for number in range(30)], 2) == "0, 1, ..."


@pytest.mark.parametrize(
    "words",
    [
        "play {}",
        "play torus-small-v0 --param {}",
        "play torus-small-v0 --size {}",
        "evaluate {} --game torus-small-v0 --no-store",
        "evaluate random --game torus-small-v0 --no-store --games {}",
        "train torus-small-v0 --algo {}",
        "train torus-small-v0 --opponents {}",
        "train torus-small-v0 --device {}",
        "analyse torus-small-v0 --moves {}",
        "leaderboard --store {}",
        "replay {}",
        "season --game {}",
        "{}",
    ],
)
@pytest.mark.parametrize("name", ["long", "control"])
def test_hostile_words_on_the_command_line_give_one_line(
    words: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    (line,) = command.refused([word.format(HOSTILE[name]) for word in words.split()]).splitlines()
    assert line.isprintable()
    assert len(line) <= MOST_LINE + 100  # the name of the command, and where its help is
    assert not [*tmp_path.iterdir()]


def test_no_command_writes_control_characters_to_the_terminal(tmp_path: Path, command: Command) -> None:
    """Names of folders, of agents and of teams, and what bots print, come from anybody."""
    run, store, teams = tmp_path / "run\x1b]0;title\x07\x9b2J\u202e", tmp_path / "store.sqlite", tmp_path / "teams.csv"
    games = ["round-robin", "torus-small-v0", "--size", "2", "--games", "2", "--no-gif", "--no-store", "--quiet"]
    teams.write_text("name,agent\n\x1b[2J,random\n")
    said = [
        *command.both([*games, "--agents", "random", "arena_bots:Loud", "--in-process", "--out", run]),
        *command.both(["leaderboard", "--add", run, "--store", store]),
        *command.both(["leaderboard", "--add", run, "--store", store, "--json"]),
        *command.both(["replay", run, "--list"]),
    ]
    (run / "games.jsonl").write_text('{"game":"\\u001b[2J"}\n')
    said.append(command.refused(["replay", run]))
    (run / "run.json").unlink()
    said.append(command.refused(["replay", run]))
    said.append(command.refused(["season", "torus-small-v0", "--teams", teams, "--out", tmp_path / "season"]))
    assert {letter for text in said for letter in text if not letter.isprintable()} <= {"\n"}
    assert "\\u001b]0;title" in said[0]

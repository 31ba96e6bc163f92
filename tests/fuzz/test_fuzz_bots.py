"""Hostile messages between the arena and programs: read, or refused in one line."""

from __future__ import annotations

import contextlib
import json
from functools import cache
from typing import Any

import torch
from fuzzing import Inputs, fuzz
from hypothesis import strategies as st
from mutations import Edit, applied, edits, hostile_json, hostile_text

import cellgames
from cellgames.agents import load
from cellgames.agents.programs import protocol
from cellgames.agents.programs.process import Limits
from cellgames.agents.programs.protocol import ProtocolError
from cellgames.agents.programs.serving import serve
from cellgames.agents.views import View, Views
from cellgames.envs.core import seeds

IDS = ("torus-small-v0", "grid-adaptation-small-v0")
ANSWERS = (
    {"type": "ready", "protocol": 1, "name": "a bot", "observation": "list", "arrays": True},
    {"type": "action", "id": 4, "action": 3},
    {"type": "action", "id": 4, "action": [1, 2, 3, 4, 0, 0, 4]},
    {"type": "action", "id": 4, "action": "c4+"},
    {"type": "choices", "id": 4, "actions": [3, "c4+"]},
    {"type": "error", "message": "no idea"},
)

QUESTION_FIELDS = ("type", "protocol", "game", "parameters", "player", "position", "legal", "seed", "id", "observation")


@cache
def view(id: str) -> View:
    """A seat's view of a new game."""
    game = cellgames.make(id)
    state = game.init(seeds(0, 1))
    mask = game.legal_actions(state)
    return Views(game, state, torch.tensor([0]), mask[:, 0] if game.info.simultaneous else mask)[0]


def read(line: bytes) -> None:
    """All that the arena may do with a line of a program."""
    try:
        message = protocol.parsed(line)
    except ProtocolError as error:
        refused(error)
        return
    for id in IDS:
        for reader in (
            lambda: protocol.read_ready(message),
            lambda: protocol.read_action(message, view(id).game, 4),  # noqa: B023  # called at once
            lambda: protocol.read_choices(message, view(id).game, 4, 2),  # noqa: B023
        ):
            try:
                reader()
            except ProtocolError as error:
                refused(error)


def refused(error: ProtocolError) -> None:
    text = str(error)
    assert "\n" not in text
    assert len(text) < 1000


@fuzz(Inputs(short=75, share=4), answer=st.sampled_from(ANSWERS), made=edits(4))
def test_bytes_of_answers(answer: dict[str, Any], made: tuple[Edit, ...]) -> None:
    read(applied(protocol.encoded(answer), made).partition(b"\n")[0])


@fuzz(
    Inputs(short=75, share=4),
    answer=st.sampled_from(ANSWERS),
    name=st.sampled_from(["type", "id", "action", "protocol", "name", "observation", "arrays", "actions"]),
    value=hostile_json() | hostile_text(),
)
def test_values_of_answers(answer: dict[str, Any], name: str, value: Any) -> None:
    with contextlib.suppress(ValueError, UnicodeEncodeError):  # no JSON, so nobody sends it
        read(json.dumps({**answer, name: value}, allow_nan=True).encode())
    with contextlib.suppress(ValueError, UnicodeEncodeError):
        read(json.dumps({"type": "choices", "id": 4, "actions": [3, value]}).encode())


@cache
def session(id: str) -> tuple[bytes, ...]:
    """The lines of an arena."""
    one = view(id)
    ready = protocol.Ready(observation="base64")
    questions = [protocol.act(one, id=number, game=7, seed=5, ready=ready) for number in (1, 2)]
    messages: list[dict[str, Any]] = [protocol.hello(one.game, Limits()), {"type": "start", "game": 7, "player": 0}]
    messages += [*questions, {"type": "result", "game": 7, "player": 0, "outcome": 1}]
    return tuple(map(protocol.encoded, messages))


def answers(lines: list[bytes]) -> list[dict[str, Any]]:
    """The answers of an agent, each one line of the protocol."""
    sent: list[bytes] = []
    serve(lambda game: load("random", game), lines, sent.append)
    assert all(line.count(b"\n") == 1 for line in sent)
    return [protocol.parsed(line) for line in sent]


def test_a_session_without_changes_is_answered() -> None:
    for id in IDS:
        assert [answer["type"] for answer in answers(list(session(id)))] == ["ready", "action", "action"]


@fuzz(Inputs(short=30, share=1), id=st.sampled_from(IDS), which=st.integers(1, 4), made=edits(3))
def test_bytes_of_questions(id: str, which: int, made: tuple[Edit, ...]) -> None:
    """After any line the next question is answered."""
    lines = list(session(id))
    hostile = applied(lines[which], made).replace(b"\n", b" ") + b"\n"
    if b'"quit"' in hostile or b'"hello"' in hostile:
        return
    found = answers([lines[0], lines[1], hostile, lines[1], lines[2]])
    assert found[-1]["type"] == "action"


@fuzz(
    Inputs(short=30, share=1),
    id=st.sampled_from(IDS),
    which=st.integers(0, 4),
    name=st.sampled_from(QUESTION_FIELDS),
    value=hostile_json() | hostile_text(),
)
def test_values_of_questions(id: str, which: int, name: str, value: Any) -> None:
    lines = list(session(id))
    message = {**json.loads(lines[which]), name: value}
    try:
        hostile = json.dumps(message).encode() + b"\n"
    except (ValueError, RecursionError):
        return
    if message["type"] == "quit":
        return
    found = answers([*lines[:2], hostile, *lines[:3]])
    assert found[-1]["type"] == "action"

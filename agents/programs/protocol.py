"""Messages between the arena and a program that plays: one JSON object a line, in UTF-8.

docs/bots.md describes the protocol for people who write such programs; `SCHEMAS` are its messages. The arena speaks
first. It sends `hello`, `start`, `act`, `acts`, `arrays`, `result` and `quit`; a program answers `hello` by `ready`,
`act` by `action`, `acts` by `actions`, and `arrays` by `choices`. It may answer anything by `error`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, NoReturn

import torch
from torch import Tensor

from cellgames.agents.views import View, Views
from cellgames.envs.core import Game, State, chance
from cellgames.utils.foreign_text import shown

from .process import Limits

__all__ = [
    "SCHEMAS",
    "VERSION",
    "ProtocolError",
    "Ready",
    "SaidError",
    "act",
    "acts",
    "arrays",
    "decoded_arrays",
    "decoded_observation",
    "encoded",
    "hello",
    "parsed",
    "read_action",
    "read_actions",
    "read_choices",
    "read_ready",
]

VERSION = 1
"""The version of the protocol."""

_WHOLE, _TEXT = {"type": "integer", "minimum": 0}, {"type": "string"}
_SECONDS, _FLAG = {"type": "number"}, {"type": "boolean"}


def _object(required: Mapping[str, Any], optional: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    found = {"type": "object", "properties": {**required, **optional}}
    return {**found, "required": [*required]} if required else found


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_ACTION: dict[str, Any] = {"oneOf": [_WHOLE, _TEXT, _list(_WHOLE)]}
_GAME: dict[str, Any] = {"game": _WHOLE, "player": _WHOLE}
_QUESTION = {"id": _WHOLE, **_GAME, "turn": _WHOLE, "position": _TEXT, "legal": _list(_list(_WHOLE)), "seed": _WHOLE}
_MORE: dict[str, Any] = {
    "names": _list(_TEXT),
    "clock": _object({}, {"left": _SECONDS, "increment": _SECONDS, "move": _SECONDS}),
    "observation": {"oneOf": [{"type": "array"}, _TEXT]},
}
_HELLO: dict[str, Any] = {
    **dict.fromkeys(("protocol", "max_turns"), _WHOLE),
    **dict.fromkeys(("game", "title"), _TEXT),
    **dict.fromkeys(("simultaneous", "perfect_information"), _FLAG),
    "parameters": {"type": "object"},
    "players": _list(_TEXT),
    "limits": _object({}, {"move": _SECONDS, "line": _WHOLE, "memory": _WHOLE, "processes": _WHOLE}),
    "action_nvec": _list(_WHOLE),
    "observation": _object({"shape": _list(_WHOLE), "dtype": _TEXT}),
}
_READY: dict[str, Any] = {
    **{"name": _TEXT, "author": _TEXT, "observation": {"enum": ["none", "list", "base64"]}},
    **dict.fromkeys(("names", "batch", "arrays", "states"), _FLAG),
}
_ARRAYS: dict[str, Any] = {
    "id": _WHOLE,
    "games": _list(_WHOLE),
    "players": _list(_WHOLE),
    "seed": _WHOLE,
    "mask": _TEXT,
}
_ANSWER: dict[str, Any] = {"id": _WHOLE, "action": _ACTION}

_FIELDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # required and optional
    "hello": (_HELLO, {}),
    "ready": ({"protocol": _WHOLE}, _READY),
    "start": (_GAME, {}),
    "act": (_QUESTION, _MORE),
    "acts": ({"questions": _list(_object(_QUESTION, _MORE))}, {}),
    "arrays": (_ARRAYS, {"observation": _TEXT, "state": _TEXT}),
    "choices": ({"id": _WHOLE, "actions": _list(_ACTION)}, {}),
    "action": (_ANSWER, {}),
    "actions": ({"actions": _list(_object(_ANSWER))}, {}),
    "result": ({**_GAME, "outcome": {"enum": [-1, 0, 1]}}, {}),
    "error": ({"message": _TEXT}, {}),
    "quit": ({}, {}),
}
_DRAFT = "https://json-schema.org/draft/2020-12/schema"

SCHEMAS: dict[str, dict[str, Any]] = {
    kind: {"$schema": _DRAFT, "title": kind, **_object({"type": {"const": kind}, **required}, optional)}
    for kind, (required, optional) in _FIELDS.items()
}
"""JSON Schemas of the messages by their type."""


class ProtocolError(ValueError):
    """A message that is none; the text says what was expected and what came."""


class SaidError(ProtocolError):
    """An answer by `error`, after which the program goes on."""


@dataclass(frozen=True)
class Ready:
    """A program's first answer.

    Attributes:
        name: its own name, "" for none.
        author: who wrote it, "" for nobody.
        observation: how it wants observations: "none", "list" for nested lists, "base64" for the numbers in C order.
        names: True if it wants the names of legal actions, in games whose actions have one component.
        batch: True if it takes several questions at once (`acts`).
        arrays: True if it takes them as arrays of observations and masks (`arrays`).
        states: True if it takes them as states of this package instead, in games with perfect information.
    """

    name: str = ""
    author: str = ""
    observation: str = "none"
    names: bool = False
    batch: bool = False
    arrays: bool = False
    states: bool = False


# ---------------------------------------------------------------- lines


def encoded(message: Mapping[str, Any]) -> bytes:
    """Return a message as a line."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def parsed(line: bytes) -> dict[str, Any]:
    """Return the message of a line.

    Raises:
        ProtocolError: no UTF-8, no JSON, no object with a `type` that the protocol has.
    """
    try:
        message = json.loads(line.decode(), parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise ProtocolError(f"expected a line in UTF-8, got {shown(line)}") from None
    except (ValueError, RecursionError):
        raise ProtocolError(f"expected a JSON object on one line, got {shown(line)}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str) or message["type"] not in SCHEMAS:
        kinds = ", ".join(SCHEMAS)
        raise ProtocolError(f"expected a JSON object whose type is one of {kinds}; got {shown(line)}")
    return message


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


# ---------------------------------------------------------------- from the arena


def hello(game: Game, limits: Limits) -> dict[str, Any]:
    """Return the first message."""
    info = game.info
    return {
        "type": "hello",
        "protocol": VERSION,
        "game": game.id,
        "title": info.title,
        "parameters": dict(game.parameters),
        "players": list(info.players),
        "simultaneous": info.simultaneous,
        "perfect_information": info.perfect_information,
        "max_turns": info.max_turns,
        "limits": {name: getattr(limits, name) for name in ("move", "line", "memory", "processes")},
        "action_nvec": list(info.action_nvec),
        "observation": {"shape": list(info.observation.shape), "dtype": _dtype(game)},
    }


def _dtype(game: Game) -> str:
    return str(game.info.observation.dtype).removeprefix("torch.")


def act(
    view: View, *, id: int, game: int, seed: int, ready: Ready, clock: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Return a question about one game.

    Args:
        view: the game.
        id: of the question; the answer repeats it.
        game: the number of the game.
        seed: for random numbers of this answer, below 2^53.
        ready: what the program wants.
        clock: `left`, `increment` and `move`, in seconds.
    """
    message = {
        "type": "act",
        "id": id,
        "game": game,
        "player": view.player,
        "turn": view.turn,
        "position": view.position,
        "legal": view.legal,
        "seed": seed,
    }
    if ready.names and len(view.legal) == 1:
        message["names"] = [view.game.action_to_string(action) for action in view.legal[0]]
    if clock is not None:
        message["clock"] = dict(clock)
    if ready.observation == "list":
        message["observation"] = view.observation.tolist()
    elif ready.observation == "base64":
        message["observation"] = _bytes_of(view.observation)
    return message


def acts(questions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return several questions as one message."""
    return {"type": "acts", "questions": [{k: v for k, v in each.items() if k != "type"} for each in questions]}


def arrays(views: Views, *, id: int, games: Sequence[int], seed: int, states: bool = False) -> dict[str, Any]:
    """Return a question about several games as arrays, without texts.

    Args:
        views: the games.
        id: as for `act`.
        games: their numbers.
        seed: as for `act`, for all of them; it also hides the dice to come from agents that get states.
        states: True for states instead of observations.
    """
    if states:
        hidden = views.state.replace(seed=chance.seeds(seed, len(views)))
        seen = {"state": _bytes_of(*hidden.tensors())}
    else:
        seen = {"observation": _bytes_of(views.observations)}
    return {
        "type": "arrays",
        "id": id,
        "games": list(games),
        "players": views.players.tolist(),
        "seed": seed,
        "mask": _bytes_of(views.mask),
        **seen,
    }


def _bytes_of(*numbers: Tensor) -> str:
    """Return the bytes of numbers in C order, one tensor after the other, as base64."""
    return base64.b64encode(b"".join(part.numpy(force=True).tobytes() for part in numbers)).decode()


def decoded_arrays(message: Mapping[str, Any], game: Game, games: int, *, states: bool = False) -> tuple[Any, Tensor]:
    """Return the observations [L, ...], or the states, and the masks bool [L, A] of a question about several games.

    Raises:
        ProtocolError: other bytes than those of so many games.
    """
    space, width = game.info.observation, game.info.num_actions
    try:
        mask = torch.frombuffer(bytearray(base64.b64decode(message["mask"], validate=True)), dtype=torch.uint8)
        given = bytearray(base64.b64decode(message["state" if states else "observation"], validate=True))
        if states:
            seen: Any = _state_of(given, game, games)
        else:
            seen = torch.frombuffer(given, dtype=space.dtype).reshape(games, *space.shape)
        return seen, mask.reshape(games, width).bool()
    except (KeyError, TypeError, ValueError, RuntimeError):
        raise ProtocolError(
            f"expected the bytes of {games} observations {list(space.shape)} and of as many masks of {width} bytes"
        ) from None


@cache
def _example(game: Game) -> State:
    state: State = game.init(chance.seeds(0, 1))
    return state


def _state_of(given: bytearray, game: Game, games: int) -> State:
    """Return the state of games from the bytes of its fields."""
    like, fields, place = _example(game), list[Tensor](), 0
    for field in like.tensors():
        new = field.new_empty((games, *field.shape[1:]))
        if new.numel():
            new.copy_(torch.frombuffer(given, dtype=new.dtype, count=new.numel(), offset=place).view_as(new))
        fields.append(new)
        place += new.nbytes
    return type(like)(*fields)


def decoded_observation(message: Mapping[str, Any], game: Game) -> Tensor:
    """Return the observation of a question, without a batch.

    Raises:
        ProtocolError: none, or one of another size.
    """
    space, given = game.info.observation, message.get("observation")
    try:
        if isinstance(given, str):
            flat = torch.frombuffer(bytearray(base64.b64decode(given, validate=True)), dtype=space.dtype)
        else:
            flat = torch.tensor(given, dtype=space.dtype, device="cpu")
        return flat.reshape(space.shape)
    except (TypeError, ValueError, RuntimeError):
        raise ProtocolError(f"expected an observation of shape {list(space.shape)}, got {shown(given)}") from None


# ---------------------------------------------------------------- from the program


def read_ready(message: Mapping[str, Any]) -> Ready:
    """Return what a program says of itself in its first message.

    Raises:
        ProtocolError: another message, another version, or a value that the schema does not allow.
    """
    _expect(message, "ready")
    if message.get("protocol") != VERSION or isinstance(message["protocol"], bool):
        raise ProtocolError(f"expected version {VERSION} of the protocol, got {shown(message.get('protocol'))}")
    ready = Ready(**{name: message[name] for name in Ready.__dataclass_fields__ if name in message})
    for name, default in vars(Ready()).items():
        value = getattr(ready, name)
        if type(value) is not type(default):
            raise ProtocolError(f"ready: expected {name} to be {_kind(default)}, got {shown(value)}")
    allowed = SCHEMAS["ready"]["properties"]["observation"]["enum"]
    if ready.observation not in allowed:
        raise ProtocolError(f"ready: expected observation to be one of {allowed}, got {shown(ready.observation)}")
    return ready


def read_action(message: Mapping[str, Any], view: View, id: int) -> list[int]:
    """Return the action of an answer, a choice for each component; legality is not checked.

    Raises:
        ProtocolError: another message, another question's answer, or no action.
    """
    _expect(message, "action")
    if message.get("id") != id or isinstance(message["id"], bool):
        raise ProtocolError(f"expected the answer to question {id}, got that to {shown(message.get('id'))}")
    return _action(message.get("action"), view.game)


def read_actions(message: Mapping[str, Any], views: Sequence[View], ids: Sequence[int]) -> list[list[int]]:
    """Return the actions of an answer to several questions, in the order of the questions.

    Raises:
        ProtocolError: another message, other questions' answers, or one that is no action.
    """
    _expect(message, "actions")
    answers = message.get("actions")
    if not isinstance(answers, list) or not all(isinstance(each, dict) for each in answers):
        raise ProtocolError(f"expected a list of actions, got {shown(answers)}")
    given = {each["id"]: each.get("action") for each in answers if type(each.get("id")) is int}
    if missing := [id for id in ids if id not in given]:
        raise ProtocolError(f"expected the answers to {len(ids)} questions, got none to question {missing[0]}")
    return [_action(given[id], view.game) for id, view in zip(ids, views, strict=True)]


def read_choices(message: Mapping[str, Any], game: Game, id: int, games: int) -> list[list[int]]:
    """Return the actions of an answer to `arrays`, in the order of its games.

    Raises:
        ProtocolError: another message, another question's answer, or one that is no action.
    """
    _expect(message, "choices")
    if type(message.get("id")) is not int or message["id"] != id:
        raise ProtocolError(f"expected the answer to question {id}, got that to {shown(message.get('id'))}")
    answers = message.get("actions")
    if not isinstance(answers, list) or len(answers) != games:
        raise ProtocolError(f"expected a list of {games} actions, got {shown(answers)}")
    return [_action(answer, game) for answer in answers]


def _action(given: object, game: Game) -> list[int]:
    nvec = game.info.action_nvec
    if isinstance(given, str):
        try:
            return game.info.unravel_action(game.string_to_action(given))
        except ValueError as error:
            raise ProtocolError(f"expected the name of an action: {error}") from None
    numbers: list[Any] = given if isinstance(given, list) else [given]
    if len(numbers) != len(nvec) or any(type(number) is not int or abs(number) >= 1 << 53 for number in numbers):
        wanted = "a whole number" if len(nvec) == 1 else f"a list of {len(nvec)} whole numbers"
        raise ProtocolError(f"expected an action, {wanted} or a name; got {shown(given)}")
    return numbers


def _expect(message: Mapping[str, Any], kind: str) -> None:
    if message["type"] == "error":
        raise SaidError(f"the program says: {shown(message.get('message'), 200)}")
    if message["type"] != kind:
        raise ProtocolError(f"expected a message of type {kind}, got {shown(message['type'])}")


def _kind(default: object) -> str:
    return "true or false" if isinstance(default, bool) else "a text"

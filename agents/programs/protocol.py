"""Messages between the arena and a program that plays: one JSON object a line, in UTF-8.

docs/bots.md describes the protocol for people who write such programs; `SCHEMAS` are its messages. The arena speaks
first. It sends `hello`, `start`, `act`, `arrays`, `result` and `quit`; a program answers `hello` by `ready`, `act` by
`action`, and `arrays` by `choices`. It may answer anything by `error`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from cellgames.agents.views import View, Views
from cellgames.envs.core import Game, State, chance
from cellgames.utils.errors import shown

from .process import EngineError, Limits

VERSION = 1
"""The version of the protocol."""

_WHOLE, _TEXT = {"type": "integer", "minimum": 0, "maximum": (1 << 53) - 1}, {"type": "string"}
_SECONDS, _FLAG = {"type": "number"}, {"type": "boolean"}


def _object(required: Mapping[str, Any], optional: Mapping[str, Any]) -> dict[str, Any]:
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
    "protocol": {"enum": [VERSION]},
    "max_turns": _WHOLE,
    **dict.fromkeys(("game", "title"), _TEXT),
    **dict.fromkeys(("simultaneous", "perfect_information"), _FLAG),
    "parameters": {"type": "object"},
    "players": _list(_TEXT),
    "limits": _object({}, {"move": _SECONDS, "line": _WHOLE, "memory": _WHOLE, "processes": _WHOLE}),
    "action_nvec": _list(_WHOLE),
    "observation": _object({"shape": _list(_WHOLE), "dtype": _TEXT}, {}),
}
_READY: dict[str, Any] = {
    **{"name": _TEXT, "author": _TEXT, "observation": {"enum": ["none", "list", "base64"]}},
    **dict.fromkeys(("names", "arrays", "states"), _FLAG),
}
_ARRAYS: dict[str, Any] = {
    "id": _WHOLE,
    "games": _list(_WHOLE),
    "players": _list(_WHOLE),
    "seed": _WHOLE,
    "mask": _TEXT,
}

_FIELDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # required and optional
    "hello": (_HELLO, {}),
    "ready": ({"protocol": {"enum": [VERSION]}}, _READY),
    "start": (_GAME, {}),
    "act": (_QUESTION, _MORE),
    "arrays": (_ARRAYS, {"observation": _TEXT, "state": _TEXT}),
    "choices": ({"id": _WHOLE, "actions": _list(_ACTION)}, {}),
    "action": ({"id": _WHOLE, "action": _ACTION}, {}),
    "result": ({**_GAME, "outcome": {"enum": [-1, 0, 1]}}, {}),
    "error": ({"message": _TEXT}, {}),
    "quit": ({}, {}),
}
_TYPES: dict[str, tuple[type, ...]] = {
    **{"integer": (int,), "number": (int, float), "string": (str,)},
    **{"boolean": (bool,), "array": (list,), "object": (dict,)},
}
_DRAFT = "https://json-schema.org/draft/2020-12/schema"

SCHEMAS: dict[str, dict[str, Any]] = {
    kind: {"$schema": _DRAFT, "title": kind, **_object({"type": {"enum": [kind]}, **required}, optional)}
    for kind, (required, optional) in _FIELDS.items()
}
"""JSON Schemas of the messages by their type."""


class ProtocolError(EngineError):
    """A malformed message."""


class SaidError(ProtocolError):
    """An answer by `error`, after which the program goes on."""


@dataclass(frozen=True)
class Ready:
    """A program's first answer.

    Attributes:
        name: its own name, "" for none.
        author: name of its author, "" without one.
        observation: form of observations: "none", "list" for nested lists, "base64" for the numbers in C order.
        names: True if it wants the names of legal actions, in games whose actions have one component.
        arrays: True if it takes several questions at once, as arrays of observations and masks (`arrays`).
        states: True if it takes them as states of this package instead, in games with perfect information.
    """

    name: str = ""
    author: str = ""
    observation: str = "none"
    names: bool = False
    arrays: bool = False
    states: bool = False


# ---------------------------------------------------------------- lines


def encoded(message: Mapping[str, Any]) -> bytes:
    """Return a message as a line."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def parsed(line: bytes) -> dict[str, Any]:
    """Return the message of a line; a `ProtocolError` if it is no UTF-8, no JSON, or no object of a known `type`."""
    try:
        message = json.loads(line.decode(), parse_constant=int)  # which refuses NaN and Infinity
    except UnicodeDecodeError:
        raise ProtocolError(f"expected a line in UTF-8, got {shown(line)}") from None
    except (ValueError, RecursionError):
        raise ProtocolError(f"expected a JSON object on one line, got {shown(line)}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str) or message["type"] not in SCHEMAS:
        kinds = ", ".join(SCHEMAS)
        raise ProtocolError(f"expected a JSON object whose type is one of {kinds}; got {shown(line)}")
    return message


def checked(message: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Return a message that fits the schema of a type; a `ProtocolError` for another message, or another value."""
    if message["type"] == "error" != kind:
        raise SaidError(f"the program says: {shown(message.get('message'), 200)}")
    if wrong := _misfit(message, SCHEMAS[kind], kind):
        raise ProtocolError(wrong)
    return message


def _wanted(schema: Mapping[str, Any]) -> str:
    return f"{schema['type']}{f' of at least {least}' if (least := schema.get('minimum')) is not None else ''}"


def _misfit(value: Any, schema: Mapping[str, Any], where: str) -> str:
    """Return why a value does not fit a schema, "" if it does; of JSON Schema it knows what `SCHEMAS` have."""
    if ways := schema.get("oneOf"):
        fits, wanted = not all(_misfit(value, way, where) for way in ways), " or ".join(map(_wanted, ways))
    elif allowed := schema.get("enum"):
        fits, wanted = any(one == value and type(one) is type(value) for one in allowed), f"one of {allowed}"
    else:
        wanted = _wanted(schema)
        fits = type(value) in _TYPES[schema["type"]]
        fits = fits and ("minimum" not in schema or schema["minimum"] <= value <= schema["maximum"])
    if not fits:
        return f"expected {where} to be {wanted}, got {shown(value)}"
    parts: Iterable[tuple[Any, Mapping[str, Any], str]] = ()
    if "items" in schema:
        parts = ((each, schema["items"], where) for each in value)
    elif "properties" in schema:
        if missing := [name for name in schema.get("required", ()) if name not in value]:
            return f"expected {where} to have {missing[0]}, got {shown(value)}"
        named = schema["properties"].items()
        parts = ((value[name], inner, f"{where}.{name}") for name, inner in named if name in value)
    return next(filter(None, (_misfit(*part) for part in parts)), "")


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
        "observation": {
            "shape": list(info.observation.shape),
            "dtype": str(info.observation.dtype).removeprefix("torch."),
        },
    }


def act(
    view: View, *, id: int, game: int, seed: int, ready: Ready, clock: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Return a question about one game, whose answer repeats its number `id`; `game` is the number of the game.

    The seed, below 2^53, is for random numbers of the answer, and `ready` says which fields the program wants.
    """
    message = {"type": "act", "id": id, "game": game, "player": view.player, "turn": view.turn}
    message |= {"position": view.position, "legal": view.legal, "seed": seed}
    if ready.names and len(view.legal) == 1:
        message["names"] = [view.game.action_to_string(action) for action in view.legal[0]]
    if clock is not None:
        message["clock"] = dict(clock)
    if ready.observation == "list":
        message["observation"] = view.observation.tolist()
    elif ready.observation == "base64":
        message["observation"] = _bytes_of(view.observation)
    return message


def arrays(views: Views, *, id: int, games: Sequence[int], seed: int, states: bool = False) -> dict[str, Any]:
    """Return a question about several games, by their numbers, as arrays of observations or of states, without texts.

    The seed also hides the dice to come from agents that get states; `id` is as for `act`.
    """
    if states:
        hidden = views.state.replace(seed=chance.seeds(seed, len(views)))
        seen = {"state": _bytes_of(*hidden.tensors())}
    else:
        seen = {"observation": _bytes_of(views.observations)}
    message = {"type": "arrays", "id": id, "games": list(games), "players": views.players.tolist(), "seed": seed}
    return {**message, "mask": _bytes_of(views.mask), **seen}


def _bytes_of(*numbers: Tensor) -> str:
    """Return the bytes of numbers in C order, one tensor after the other, as base64."""
    return base64.b64encode(b"".join(part.numpy(force=True).tobytes() for part in numbers)).decode()


def decoded_arrays(message: Mapping[str, Any], game: Game, games: int, *, states: bool = False) -> tuple[Any, Tensor]:
    """Return observations [L, ...] or states, and masks bool [L, A]; a `ProtocolError` for bytes of other games."""
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
    """Return the observation of a question, without a batch; a `ProtocolError` for one of another size, or none."""
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
    """Return the description that a program gives of itself in its first message; see `checked` for errors."""
    given = checked(message, "ready")
    return Ready(**{name: given[name] for name in Ready.__dataclass_fields__ if name in given})


def read_action(message: Mapping[str, Any], game: Game, id: int) -> list[int]:
    """Return the action of an answer, a choice for each component; legality is not checked.

    Raises:
        ProtocolError: see `checked`; another question's answer, or no action of the game.
    """
    return _action(_answer(message, "action", id)["action"], game)


def read_choices(message: Mapping[str, Any], game: Game, id: int, games: int) -> list[list[int]]:
    """Return the actions of an answer to `arrays`, in the order of its games; it raises the errors of `read_action`."""
    answers = _answer(message, "choices", id)["actions"]
    if len(answers) != games:
        raise ProtocolError(f"expected {games} actions, got {shown(answers)}")
    return [_action(answer, game) for answer in answers]


def _answer(message: Mapping[str, Any], kind: str, id: int) -> Mapping[str, Any]:
    if (given := checked(message, kind)["id"]) != id:
        raise ProtocolError(f"expected the answer to question {id}, got that to {given}")
    return message


def _action(given: Any, game: Game) -> list[int]:
    if isinstance(given, str):
        try:
            return game.info.unravel_action(game.string_to_action(given))
        except ValueError as error:
            raise ProtocolError(f"expected the name of an action: {error}") from None
    numbers: list[int] = given if isinstance(given, list) else [given]
    if len(numbers) != len(game.info.action_nvec):
        raise ProtocolError(f"expected an action of {len(game.info.action_nvec)} whole numbers, got {shown(given)}")
    return numbers

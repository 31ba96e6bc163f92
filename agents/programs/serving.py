"""Any agent as a program that speaks the protocol: what `cellgames bot` runs."""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
import torch
from torch import Tensor

from cellgames.agents.base import AnyAgent, takes_states
from cellgames.agents.views import takes_views, views_of
from cellgames.envs import registry
from cellgames.envs.core import Game, State
from cellgames.utils.foreign_text import clipped, shown

from . import protocol
from .protocol import ProtocolError

__all__ = ["serve"]


def serve(load: Callable[[Game], AnyAgent], lines: Iterable[bytes], send: Callable[[bytes], None]) -> None:
    """Answer messages until `quit` or the end of the lines.

    Args:
        load: returns the agent for the game that the first message names.
        lines: from the arena.
        send: gets each answer.
    """
    server: _Server | None = None
    for line in lines:
        if not line.strip():
            continue
        try:
            message = protocol.parsed(line)
            if message["type"] == "quit":
                return
            if message["type"] == "hello":
                server = _Server(load, message)
                answer: Mapping[str, Any] | None = server.ready
            elif server is None:
                raise ProtocolError(f"expected hello as the first message, got {message['type']}")
            else:
                answer = server.answer(message)
        except Exception as error:  # of the sender or of the agent: the next message may do
            traceback.print_exc()
            answer = {"type": "error", "message": clipped(f"{type(error).__name__}: {error}")}
        if answer is not None:
            send(protocol.encoded(answer))


class _Server:
    """An agent in one game.

    Args:
        load: see `serve`.
        hello: the first message.
    """

    def __init__(self, load: Callable[[Game], AnyAgent], hello: Mapping[str, Any]) -> None:
        if hello.get("protocol") != protocol.VERSION:
            raise ProtocolError(
                f"expected version {protocol.VERSION} of the protocol, got {shown(hello.get('protocol'))}"
            )
        if not (isinstance(id := hello.get("game"), str) and isinstance(given := hello.get("parameters"), dict)):
            raise ProtocolError(f"expected the id and the parameters of a game, got {shown(hello)}")
        self.game = registry.make(id, **given)
        _seeded(0)
        self.agent: Any = load(self.game)
        self.on_states = takes_states(self.agent, self.game)
        self._on_views = takes_views(self.agent)
        if self._on_views and not self.game.info.perfect_information:
            raise ProtocolError(
                f"{self.agent.name} reads positions, of which {self.game.id} hides a part; let it play in the arena's "
                "process (--in-process)"
            )
        self._env_ids: dict[int, int] = {}
        self._seats: dict[int, int] = {}

    @property
    def ready(self) -> dict[str, Any]:
        """The answer to `hello`."""
        wanted = "none" if self.on_states or self._on_views else "base64"
        return {
            "type": "ready",
            "protocol": protocol.VERSION,
            "name": self.agent.name,
            "observation": wanted,
            "batch": True,
            "arrays": wanted == "base64",
        }

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a message, None if it needs none."""
        kind = message["type"]
        if kind == "arrays":
            return self._choices(message)
        for each in message.get("questions", [message]) if kind == "acts" else [message]:
            self._check(each, kind)
        if kind == "start":
            self._start(message["game"], message["player"])
        elif kind == "result":
            self._env_ids.pop(message["game"], None)
        elif kind == "act":
            return {"type": "action", "id": message["id"], "action": self._act([message])[0]}
        elif kind == "acts":
            questions = sorted(message["questions"], key=self._env_id)
            actions = self._act(questions)
            answers = [{"id": q["id"], "action": a} for q, a in zip(questions, actions, strict=True)]
            return {"type": "actions", "actions": answers}
        else:
            raise ProtocolError(f"expected start, act, acts, arrays, result or quit; got {kind}")
        return None

    def _check(self, message: Any, kind: str) -> None:
        """Raise a `ProtocolError` unless the fields that are used have values of the right kind."""
        if not isinstance(message, dict):
            raise ProtocolError(f"expected a question, got {shown(message)}")
        bounds = {"game": 1 << 53, "player": self.game.info.num_players}
        if kind in ("act", "acts"):
            bounds |= {"id": 1 << 53, "seed": 1 << 53}
            legal, nvec = message.get("legal"), self.game.info.action_nvec
            if not isinstance(legal, list) or len(legal) != len(nvec):
                raise ProtocolError(
                    f"expected a list of legal choices for each of {len(nvec)} components, got {shown(legal)}"
                )
            for choices, count in zip(legal, nvec, strict=True):
                if not (isinstance(choices, list) and choices and all(_whole(choice, count) for choice in choices)):
                    raise ProtocolError(f"expected choices from 0 to {count - 1}, got {shown(choices)}")
            if not isinstance(message.get("position"), str):
                raise ProtocolError(f"expected a position, got {shown(message.get('position'))}")
        for name, bound in bounds.items():
            if not _whole(message.get(name), bound):
                raise ProtocolError(
                    f"expected {name} to be a whole number below {bound}, got {shown(message.get(name))}"
                )

    def _start(self, game: int, player: int) -> None:
        if game not in self._env_ids:
            taken = set(self._env_ids.values())
            self._env_ids[game] = next(number for number in range(len(taken) + 1) if number not in taken)
        self._seats[game] = player
        self.agent.start(
            self.game, torch.tensor([player], device="cpu"), torch.tensor([self._env_ids[game]], device="cpu")
        )

    def _env_id(self, question: Mapping[str, Any]) -> int:
        if question["game"] not in self._env_ids:
            self._start(question["game"], question["player"])
        return self._env_ids[question["game"]]

    def _act(self, questions: Sequence[Mapping[str, Any]]) -> list[Any]:
        if not questions:
            return []
        env_ids = torch.tensor([self._env_id(question) for question in questions], device="cpu")
        chance = _seeded(questions[0]["seed"])
        if self.on_states:
            actions = self.agent.act_on_state(self._states(questions), env_ids, chance)
        elif self._on_views:
            players = torch.tensor([question["player"] for question in questions], device="cpu")
            views = views_of(self.game, self._states(questions), players, self._masks(questions))
            actions = self.agent.act_on_views(views, env_ids, chance)
        else:
            seen = torch.stack([protocol.decoded_observation(question, self.game) for question in questions])
            actions = self.agent.act(seen, self._masks(questions), env_ids, chance)
        found: list[Any] = actions.tolist()
        return found

    def _choices(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a question about several games as arrays."""
        games, players, most = message.get("games"), message.get("players"), self.game.info.num_players
        if self.on_states or self._on_views:
            raise ProtocolError(f"{self.agent.name} reads positions, and arrays have none")
        if not (_wholes(games, 1 << 53) and _wholes(players, most) and len(games) == len(players)):
            raise ProtocolError(f"expected the numbers of games and their players, got {shown(message)}")
        if not (_whole(message.get("id"), 1 << 53) and _whole(message.get("seed"), 1 << 53)):
            raise ProtocolError("expected id and seed to be whole numbers below 2^53")
        seen, mask = protocol.decoded_arrays(message, self.game, len(games))
        for game, player in zip(games, players, strict=True):
            if game not in self._env_ids:
                self._start(game, player)
        env_ids = torch.tensor([self._env_ids[game] for game in games], device="cpu")
        order = env_ids.argsort(stable=True)  # as agents are asked
        chance = _seeded(message["seed"])
        actions = self.agent.act(seen[order], mask[order], env_ids[order], chance)
        chosen = torch.as_tensor(actions).clone()
        chosen[order] = actions
        return {"type": "choices", "id": message["id"], "actions": chosen.tolist()}

    def _states(self, questions: Sequence[Mapping[str, Any]]) -> State:
        states = [self.game.string_to_state(question["position"], question["seed"]) for question in questions]
        together: State = type(states[0]).cat(states)
        return together

    def _masks(self, questions: Sequence[Mapping[str, Any]]) -> Tensor:
        masks = torch.zeros((len(questions), self.game.info.num_actions), dtype=torch.bool, device="cpu")
        for row, question in enumerate(questions):
            first = 0
            for choices, count in zip(question["legal"], self.game.info.action_nvec, strict=True):
                masks[row, [first + choice for choice in choices]] = True
                first += count
        return masks


def _seeded(seed: int) -> torch.Generator:
    """Return a generator; the global ones, from which agents may draw, get the same seed."""
    random.seed(seed)
    np.random.seed(seed % (1 << 32))  # noqa: NPY002  # the generator that agents draw from
    torch.manual_seed(seed)
    return torch.Generator().manual_seed(seed)


def _wholes(values: object, bound: int) -> TypeGuard[list[int]]:
    return isinstance(values, list) and bool(values) and all(_whole(value, bound) for value in values)


def _whole(value: object, bound: int) -> bool:
    return type(value) is int and 0 <= value < bound

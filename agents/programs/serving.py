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
from cellgames.agents.views import Views, takes_views
from cellgames.envs import registry
from cellgames.envs.core import Game
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
        reads = self.on_states or self._on_views
        wanted = {"observation": "none", "states": True} if reads else {"observation": "base64", "arrays": True}
        return {"type": "ready", "protocol": protocol.VERSION, "name": self.agent.name, **wanted}

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a message, None if it needs none."""
        kind = message["type"]
        if kind == "arrays":
            return self._choices(message)
        self._check(message, kind)
        if kind == "start":
            self._start(message["game"], message["player"])
        elif kind == "result":
            self._env_ids.pop(message["game"], None)
        elif kind == "act":
            return {"type": "action", "id": message["id"], "action": self._act(message)}
        else:
            raise ProtocolError(f"expected start, act, arrays, result or quit; got {kind}")
        return None

    def _check(self, message: Mapping[str, Any], kind: str) -> None:
        """Raise a `ProtocolError` unless the fields that are used have values of the right kind."""
        bounds = {"game": 1 << 53, "player": self.game.info.num_players}
        if kind == "act":
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

    def _places(self, games: Sequence[int], players: Sequence[int]) -> Tensor:
        """Return the environments of games; those that the arena has not told of begin."""
        for game, player in zip(games, players, strict=True):
            if game not in self._env_ids:
                self._start(game, player)
        return torch.tensor([self._env_ids[game] for game in games], device="cpu")

    def _act(self, question: Mapping[str, Any]) -> Any:
        """Return the answer to a question about one game."""
        mask, first = torch.zeros((1, self.game.info.num_actions), dtype=torch.bool, device="cpu"), 0
        for choices, count in zip(question["legal"], self.game.info.action_nvec, strict=True):
            mask[0, [first + choice for choice in choices]] = True
            first += count
        env_ids, players = self._places([question["game"]], [question["player"]]), [question["player"]]
        if self.on_states or self._on_views:
            seen: Any = self.game.string_to_state(question["position"], question["seed"])
        else:
            seen = protocol.decoded_observation(question, self.game)[None]
        return self._chosen(seen, mask, players, env_ids, question["seed"])[0]

    def _choices(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a question about several games as arrays."""
        games, players, most = message.get("games"), message.get("players"), self.game.info.num_players
        if not (_wholes(games, 1 << 53) and _wholes(players, most) and len(games) == len(players)):
            raise ProtocolError(f"expected the numbers of games and their players, got {shown(message)}")
        if not (_whole(message.get("id"), 1 << 53) and _whole(message.get("seed"), 1 << 53)):
            raise ProtocolError("expected id and seed to be whole numbers below 2^53")
        states = self.on_states or self._on_views
        seen, mask = protocol.decoded_arrays(message, self.game, len(games), states=states)
        actions = self._chosen(seen, mask, players, self._places(games, players), message["seed"])
        return {"type": "choices", "id": message["id"], "actions": actions}

    def _chosen(self, seen: Any, mask: Tensor, players: Sequence[int], env_ids: Tensor, seed: int) -> list[Any]:
        """Return the agent's actions from observations or states, in their order."""
        order = env_ids.argsort(stable=True)  # as agents are asked
        seen, mask, env_ids, chance = seen[order], mask[order], env_ids[order], _seeded(seed)
        if self.on_states:
            actions = self.agent.act_on_state(seen, env_ids, chance)
        elif self._on_views:
            seats = torch.tensor(players, device="cpu")[order]
            actions = self.agent.act_on_views(Views(self.game, seen, seats, mask), env_ids, chance)
        else:
            actions = self.agent.act(seen, mask, env_ids, chance)
        chosen = torch.as_tensor(actions).clone()
        chosen[order] = actions
        found: list[Any] = chosen.tolist()
        return found


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

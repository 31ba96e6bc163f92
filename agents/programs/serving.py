"""Any agent as a program that speaks the protocol: what `cellgames bot` runs."""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cellgames.agents.base import AnyAgent, takes_states, takes_views
from cellgames.agents.views import Views
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.utils.errors import clipped, shown

from . import protocol
from .protocol import ProtocolError


def serve(load: Callable[[Game], AnyAgent], lines: Iterable[bytes], send: Callable[[bytes], None]) -> None:
    """Answer messages until `quit` or the end of the lines; `send` gets each answer.

    `load` returns the agent for the game that the first message names.
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
    """An agent in one game, which the first message names."""

    def __init__(self, load: Callable[[Game], AnyAgent], hello: Mapping[str, Any]) -> None:
        protocol.checked(hello, "hello")
        self.game = registry.make(hello["game"], **hello["parameters"])
        _seeded(0)
        self.agent: Any = load(self.game)
        self._on_states, self._on_views = takes_states(self.agent, self.game), takes_views(self.agent)
        self._reads = self._on_states or self._on_views
        if self._on_views and not self.game.info.perfect_information:
            raise ProtocolError(
                f"{self.agent.name} reads positions, of which {self.game.id} hides a part; let it play in the arena's "
                "process (--in-process)"
            )
        self._env_ids: dict[int, int] = {}
        wanted = {"observation": "none", "states": True} if self._reads else {"observation": "base64", "arrays": True}
        self.ready = {"type": "ready", "protocol": protocol.VERSION, "name": self.agent.name, **wanted}

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a message, None if it needs none."""
        kind = message["type"]
        if kind not in ("start", "act", "arrays", "result"):
            raise ProtocolError(f"expected start, act, arrays, result or quit; got {kind}")
        protocol.checked(message, kind)
        seats = message["players"] if kind == "arrays" else [message["player"]]
        if any(seat >= self.game.info.num_players for seat in seats):
            raise ProtocolError(f"expected players below {self.game.info.num_players}, got {shown(seats)}")
        if kind == "start":
            self._start(message["game"], message["player"])
        elif kind == "result":
            self._env_ids.pop(message["game"], None)
        elif kind == "act":
            return {"type": "action", "id": message["id"], "action": self._act(message)}
        else:
            return {"type": "choices", "id": message["id"], "actions": self._choices(message)}
        return None

    def _start(self, game: int, player: int) -> None:
        if game not in self._env_ids:
            taken = set(self._env_ids.values())
            self._env_ids[game] = next(number for number in range(len(taken) + 1) if number not in taken)
        env_ids = torch.tensor([self._env_ids[game]], device="cpu")
        self.agent.start(self.game, torch.tensor([player], device="cpu"), env_ids)

    def _places(self, games: Sequence[int], players: Sequence[int]) -> Tensor:
        """Return the environments of games; those that the arena has not told of begin."""
        for game, player in zip(games, players, strict=True):
            if game not in self._env_ids:
                self._start(game, player)
        return torch.tensor([self._env_ids[game] for game in games], device="cpu")

    def _act(self, question: Mapping[str, Any]) -> Any:
        """Return the action in one game."""
        mask, first = torch.zeros((1, self.game.info.num_actions), dtype=torch.bool, device="cpu"), 0
        legal, nvec = question["legal"], self.game.info.action_nvec
        if len(legal) != len(nvec) or any(max(each, default=n) >= n for each, n in zip(legal, nvec, strict=True)):
            raise ProtocolError(f"expected legal choices of components with {nvec} choices, got {shown(legal)}")
        for choices, count in zip(legal, nvec, strict=True):
            mask[0, [first + choice for choice in choices]] = True
            first += count
        env_ids, players = self._places([question["game"]], [question["player"]]), [question["player"]]
        if self._reads:
            seen: Any = self.game.string_to_state(question["position"], question["seed"])
        else:
            seen = protocol.decoded_observation(question, self.game)[None]
        return self._chosen(seen, mask, players, env_ids, question["seed"])[0]

    def _choices(self, message: Mapping[str, Any]) -> list[Any]:
        """Return the actions in several games, of which the question tells as arrays."""
        games, players = message["games"], message["players"]
        if not 0 < len(games) == len(players):
            raise ProtocolError(f"expected games and as many players, got {shown(games)} and {shown(players)}")
        seen, mask = protocol.decoded_arrays(message, self.game, len(games), states=self._reads)
        return self._chosen(seen, mask, players, self._places(games, players), message["seed"])

    def _chosen(self, seen: Any, mask: Tensor, players: Sequence[int], env_ids: Tensor, seed: int) -> list[Any]:
        """Return the agent's actions from observations or states, in their order."""
        order = env_ids.argsort(stable=True)  # as agents are asked
        seen, mask, env_ids, chance = seen[order], mask[order], env_ids[order], _seeded(seed)
        if self._on_states:
            actions = self.agent.act_on_state(seen, env_ids, chance)
        elif self._on_views:
            seats = torch.tensor(players, device="cpu")[order]
            actions = self.agent.act_on_views(Views(self.game, seen, seats, mask), env_ids, chance)
        else:
            actions = self.agent.act(seen, mask, env_ids, chance)
        chosen = torch.as_tensor(actions).clone()
        chosen[order] = actions
        return chosen.tolist()


def _seeded(seed: int) -> torch.Generator:
    """Return a generator; the global ones, from which agents may draw, get the same seed."""
    random.seed(seed)
    np.random.seed(seed % (1 << 32))  # noqa: NPY002  # the generator that agents draw from
    torch.manual_seed(seed)
    return torch.Generator().manual_seed(seed)

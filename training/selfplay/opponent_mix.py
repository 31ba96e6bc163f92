"""Opponents of the learner, drawn for every game: itself, snapshots, and fixed agents."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from cellgames.agents.base import AnyAgent, is_memoryless
from cellgames.agents.forfeits import naming
from cellgames.agents.loading import load
from cellgames.agents.selection import select
from cellgames.envs.core import Game, State
from cellgames.utils.errors import InputError, shown

from .opponent_pool import Member, Pool

SELF, POOL = "self", "pool"
ACTIVE = 4
"""Number of snapshots that play at a time; more would get too few games each for batches."""


def parse_mix(text: str) -> dict[str, float]:
    """Parse a text such as `self=0.8,pool=0.2` into shares of the games by name, which add up to 1.

    A share follows the last "=", because an agent may have a name: `rival=greedy=0.2`. A single one needs none.

    Raises:
        ValueError: the text is malformed.
    """
    mix: dict[str, float] = {}
    for part in text.split(","):
        name, equals, share = part.strip().rpartition("=")
        name, share = (name, share) if equals else (share, "1")
        try:
            number = float(share)
        except ValueError:
            number = -1.0
        taken = name not in (SELF, POOL) and name.partition("=")[0] in (SELF, POOL)  # a name that has a meaning here
        if not name or taken or not 0 < number < float("inf"):
            raise InputError("opponents", "names and shares, such as self=0.8,pool=0.2", shown(text))
        if name in mix:
            raise InputError("opponents", "each name once", f"{shown(name)} twice in {shown(text)}")
        mix[name] = number
    total = sum(mix.values())
    return {name: share / total for name, share in mix.items()}


class Opponents:
    """Opponents by number: -1 is the current learner, other numbers are places in `agents`.

    Args:
        game: the rules.
        mix: shares of the games by name: `self`, `pool`, or an agent's spec.
        pool: where snapshots come from.
        device: device of their networks.
    """

    def __init__(self, game: Game, mix: Mapping[str, float], pool: Pool, device: torch.device) -> None:
        self.mix, self.pool, self.device = dict(mix), pool, device
        self.agents: list[AnyAgent] = [load(name, game) for name in mix if name not in (SELF, POOL)]
        self._game, self._fixed = game, len(self.agents)
        self._members: list[Member | None] = [None] * self._fixed
        self._active: list[int] = []

    def renew(self, generator: torch.Generator) -> None:
        """Draw the snapshots that new games meet from now on; consumes the generator."""
        if POOL not in self.mix:
            return
        self._active = [self._place(member) for member in self.pool.sample(ACTIVE, generator)]

    def draw(self, games: int, generator: torch.Generator) -> list[int]:
        """Return the number of an opponent for each new game; consumes the generator."""
        shares = torch.tensor(list(self.mix.values()), dtype=torch.float64, device="cpu")
        lots = torch.rand(2, games, generator=generator, device=generator.device, dtype=torch.float64).cpu()
        kinds = torch.searchsorted(shares.cumsum(0), lots[0]).clamp(max=len(shares) - 1).tolist()
        names, fixed = list(self.mix), iter(range(self._fixed))
        number = {name: -1 if name == SELF else -2 if name == POOL else next(fixed) for name in names}
        return [
            self._active[int(lot * len(self._active))] if number[names[kind]] == -2 else number[names[kind]]
            for kind, lot in zip(kinds, lots[1].tolist(), strict=True)
        ]

    def start(self, number: int, seats: Tensor, env_ids: Tensor) -> None:
        """Start an opponent in games; raise an `AgentError` if it fails."""
        with naming(agent := self.agents[number]):
            agent.start(self._game, seats, env_ids)

    def pick(self, number: int, state: State, env_ids: Tensor, seats: Tensor, generator: torch.Generator) -> Tensor:
        """Return the actions of an opponent, as `select` does; raise an `AgentError` if it fails."""
        with naming(agent := self.agents[number]):
            return select(agent, self._game, state, env_ids, generator, seats)

    def record(self, number: int, score: float, games: int) -> None:
        """Record the learner's score in games that ended."""
        member = self._members[number]
        if member is not None:
            self.pool.record(member, score, games)

    def snapshots(self) -> dict[int, str]:
        """Return the files of the snapshots by their numbers."""
        return {number: member.file for number, member in enumerate(self._members) if member is not None}

    def forget(self) -> None:
        """Forget all snapshots, because no game goes on."""
        del self.agents[self._fixed :], self._members[self._fixed :]
        self._active = []

    @property
    def memoryless(self) -> bool:
        """True if no opponent has a memory of games in progress, which could not be saved with them."""
        return all(is_memoryless(agent, self._game) for agent in self.agents)

    def state_dict(self) -> dict[str, Any]:
        """Return the snapshots that play games in progress, with the weights of those that the pool has dropped."""
        members = [member for member in self._members[self._fixed :] if member is not None]
        kept = {member.file for member in self.pool.members}
        weights = {
            member.file: agent.network.state_dict()  # type: ignore[union-attr]  # snapshots are networks
            for member, agent in zip(members, self.agents[self._fixed :], strict=True)
            if member.file not in kept
        }
        return {"members": list(map(dataclasses.asdict, members)), "weights": weights, "active": self._active}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the result of `state_dict`; the pool must be that of the same checkpoint."""
        self.forget()
        kept = {member.file: member for member in self.pool.members}
        self.pool.restore_dropped(state["weights"], self.device)
        for found in state["members"]:
            self._place(kept.get(found["file"], Member(**found)))
        if not all(type(number) is int and self._fixed <= number < len(self.agents) for number in state["active"]):
            raise InputError("state", "numbers of snapshots", shown(state["active"]))
        self._active = list(state["active"])

    def _place(self, member: Member) -> int:
        """Return the number of a snapshot, which it keeps while games with it may go on."""
        for number, other in enumerate(self._members):
            if other is not None and other.file == member.file:
                return number
        self.agents.append(self.pool.agent(member, self.device))
        self._members.append(member)
        return len(self.agents) - 1

"""Opponents of the learner, drawn for every game: itself, snapshots on disk (the pool), and fixed agents."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import torch
from torch import Tensor

from cellgames.agents.base import AnyAgent, is_memoryless
from cellgames.agents.loading import load
from cellgames.agents.networks.networks import Network, make_network
from cellgames.agents.networks.saved import load_network, save_network
from cellgames.agents.selection import naming, select
from cellgames.envs.core import Game, State
from cellgames.runs.run_folder import START_OVER, RunError
from cellgames.training.arguments import Sampling
from cellgames.utils.errors import InputError, check_one_of, listed, shown

_FILE = re.compile(r"\d{12,}\.safetensors")  # of a member, named by its steps


@dataclass
class Member:
    """A snapshot of the learner in the pool.

    Attributes:
        file: name of its weights in the pool's folder.
        steps: actions that it had learned from.
        games: number of the learner's recent games against it (older ones fade).
        score: the learner's score in them, a win 1, a draw 1/2.
    """

    file: str
    steps: int
    games: float = 0.0
    score: float = 0.0

    @property
    def win_rate(self) -> float:
        """The learner's smoothed win rate, from 0 to 1; 1/2 before the first game."""
        return (self.score + 1) / (self.games + 2)


class Pool:
    """A pool of snapshots, the oldest first.

    Args:
        folder: folder of their weights; made when the first is added.
        sampling: `uniform`; `latest`; or `prioritized`, by (1 - the learner's win rate)^2, so that snapshots that are
            hard to beat play most (Vinyals et al., "Grandmaster level in StarCraft II", 2019, f_hard).
        limit: maximum number of snapshots. Above it, the pool drops one so that the others are spread most evenly over
            time. The file stays until `prune`, because an earlier checkpoint may need it.
    """

    memory = 200.0
    """Number of games after which earlier ones count half, because the learner improves."""

    def __init__(self, folder: Path, sampling: Sampling = "prioritized", limit: int = 20) -> None:
        check_one_of("sampling", sampling, get_args(Sampling))
        if limit < 1:
            raise InputError("limit", "a pool of at least 1 snapshot", limit)
        self.folder, self.sampling, self.limit = folder, sampling, limit
        self.members: list[Member] = []
        self._loaded: dict[str, AnyAgent] = {}

    def __len__(self) -> int:
        return len(self.members)

    def add(self, network: Network, steps: int) -> None:
        """Add a copy of the network."""
        member = Member(f"{steps:012d}.safetensors", steps)
        self.folder.mkdir(parents=True, exist_ok=True)
        save_network(self.folder / member.file, network, made={"steps": steps})
        self.members.append(member)
        while len(self.members) > self.limit:
            self._drop()

    def weights(self) -> Tensor:
        """Return the probability of each member to be sampled, float64 [members]."""
        if self.sampling == "uniform":
            chance = [1.0 for _ in self.members]
        elif self.sampling == "latest":
            chance = [0.0 for _ in self.members[1:]] + [1.0]
        else:
            chance = [(1 - member.win_rate) ** 2 for member in self.members]
        found = torch.tensor(chance, dtype=torch.float64, device="cpu")
        return found / found.sum()

    def sample(self, count: int, generator: torch.Generator) -> list[Member]:
        """Draw members by `weights`, with replacement; consumes the generator.

        Raises:
            ValueError: the pool is empty.
        """
        if not self.members:
            raise InputError("pool", "opponents", "none", "add one first")
        lots = torch.rand(count, generator=generator, device=generator.device, dtype=torch.float64).cpu()
        places = torch.searchsorted(self.weights().cumsum(0), lots).clamp(max=len(self.members) - 1)
        return [self.members[place] for place in places.tolist()]

    def agent(self, member: Member, device: torch.device | str) -> AnyAgent:
        """Return the member as an agent that samples its actions, as it did when it learned."""
        if member.file not in self._loaded:
            self.receive({member.file: load_network(self.folder / member.file).network.to(device)})
        return self._loaded[member.file]

    def receive(self, networks: Mapping[str, Network]) -> None:
        """Add the networks of snapshots by the names of their files, without these files."""
        for file, network in networks.items():
            self._loaded[file] = network.agent(f"self@{int(Path(file).stem)}", sample=True)

    def playing_state(self, playing: Sequence[tuple[Member, Any]]) -> dict[str, Any]:
        """Return snapshots that play games in progress, with the weights of those that the pool has dropped."""
        kept = {member.file for member in self.members}
        weights = {member.file: agent.network.state_dict() for member, agent in playing if member.file not in kept}
        return {"members": [dataclasses.asdict(member) for member, _ in playing], "weights": weights}

    def restored(self, state: Mapping[str, Any], device: torch.device | str) -> list[Member]:
        """Return the snapshots of `playing_state`, and load those that the pool has dropped."""
        if state["weights"]:
            example = self.agent(self.members[0], device).network  # type: ignore[union-attr]  # snapshots are networks
            self.receive({file: like(example, found) for file, found in state["weights"].items()})
        kept = {member.file: member for member in self.members}
        return [kept.get(found["file"], Member(**found)) for found in state["members"]]

    def record(self, member: Member, score: float, games: int) -> None:
        """Record the learner's score in games against a member."""
        fade = math.exp2(-games / self.memory)
        member.games = member.games * fade + games
        member.score = member.score * fade + score

    def state_dict(self) -> list[dict[str, Any]]:
        """Return the members; their weights are on disk."""
        return [dataclasses.asdict(member) for member in self.members]

    def load_state_dict(self, state: Sequence[Mapping[str, Any]]) -> None:
        """Restore the members, and prune the folder.

        Raises:
            ValueError: it is no state of a pool.
            RunError: weights are missing.
        """
        members = [Member(**member) for member in state]
        if strange := [member.file for member in members if not _FILE.fullmatch(member.file)]:
            raise InputError("snapshots", "names of snapshots", shown(strange[0]))  # which could be any file's
        if missing := [member.file for member in members if not (self.folder / member.file).is_file()]:
            raise RunError(self.folder, f"the weights of snapshots {listed(missing)}", "none", START_OVER)
        self.members = members
        self.prune()

    def prune(self) -> None:
        """Delete the files of former members.

        Call it when a checkpoint with the members is on disk.
        """
        known = {member.file for member in self.members}
        for path in self.folder.glob("*.safetensors"):
            if _FILE.fullmatch(path.name) and path.name not in known:
                path.unlink()

    def _drop(self) -> None:
        """Drop a member, but neither the first nor the last of several."""
        steps = [member.steps for member in self.members]
        gaps = [after - before for before, after in zip(steps, steps[2:], strict=False)]
        place = 1 + gaps.index(min(gaps)) if gaps else 0
        member = self.members.pop(place)
        self._loaded.pop(member.file, None)


def like(network: Network, weights: Mapping[str, Tensor]) -> Network:
    """Return a network of the same kind and size on the same device with other weights, in evaluation mode."""
    with torch.random.fork_rng(devices=[]):  # what it starts with is thrown away
        other = make_network(network.game, network.size, network.kind)
    other.load_state_dict(weights)
    return other.to(next(network.parameters()).device).eval()


SELF, POOL = "self", "pool"
ACTIVE = 4
"""Number of snapshots that play at a time; more would get too few games each for batches."""


def parse_mix(text: str) -> dict[str, float]:
    """Parse a text such as `self=0.8,pool=0.2` into shares of the games by name, which add up to 1.

    A share follows the last "=", because an agent may have a name: `rival=greedy=0.2`. A single one needs none.
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

    The mix has shares of the games by name: `self`, `pool`, or an agent's spec. Snapshots are on the device.
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
        playing = [(one, agent) for one, agent in zip(self._members, self.agents, strict=True) if one is not None]
        return {**self.pool.playing_state(playing), "active": self._active}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the result of `state_dict`; the pool must be that of the same checkpoint."""
        self.forget()
        for member in self.pool.restored(state, self.device):
            self._place(member)
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

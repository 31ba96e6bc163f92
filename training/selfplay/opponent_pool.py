"""The opponent pool: snapshots of the learner on disk, and which of them is met next."""

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

from cellgames.agents.base import AnyAgent
from cellgames.agents.networks.networks import Network, make_network
from cellgames.agents.networks.saved import load_network, save_network
from cellgames.training.arguments import Sampling
from cellgames.training.distributed import Group

__all__ = ["Member", "Pool", "like"]


_FILE = re.compile(r"\d{12,}\.safetensors")  # of a member, named by its steps


@dataclass
class Member:
    """A snapshot of the learner in the pool.

    Attributes:
        file: its weights, within the pool's folder.
        steps: agent steps that it had learned from.
        games: that the learner has played against it, lately (older ones fade).
        score: of the learner in them, a win 1, a draw 1/2.
    """

    file: str
    steps: int
    games: float = 0.0
    score: float = 0.0

    @property
    def beaten(self) -> float:
        """The learner's chance to win, from 0 to 1; 1/2 before the first game."""
        return (self.score + 1) / (self.games + 2)


class Pool:
    """Snapshots, the oldest first.

    Args:
        folder: of their weights; made when the first is added.
        sampling: `uniform`; `latest`; or `prioritized`, by (1 - the learner's chance to win)^2, so that those are met
            most that are hard to beat (Vinyals et al., "Grandmaster level in StarCraft II", 2019, f_hard).
        limit: how many are kept. Of more, one goes whose going leaves the others most evenly spread over time. Its
            file stays until `prune`, since an earlier checkpoint may need it.
    """

    memory = 200.0
    """Games after which earlier ones count half or so; a learner that improves should not be rated by its past."""

    def __init__(self, folder: Path, sampling: Sampling = "prioritized", limit: int = 20) -> None:
        if sampling not in get_args(Sampling):
            raise ValueError(f"expected a sampling out of {', '.join(get_args(Sampling))}, got {sampling!r}")
        if limit < 1:
            raise ValueError(f"expected a pool of at least 1 snapshot, got {limit}")
        self.folder, self.sampling, self.limit = folder, sampling, limit
        self.members: list[Member] = []
        self._loaded: dict[str, AnyAgent] = {}
        self._in_memory = False
        self._held: list[tuple[str, float, int]] | None = None

    def __len__(self) -> int:
        return len(self.members)

    def add(self, network: Network, steps: int) -> None:
        """Keep a copy of the network as it is now."""
        member = Member(f"{steps:012d}.safetensors", steps)
        if self._in_memory:
            self.receive({member.file: like(network, network.state_dict())})
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            save_network(self.folder / member.file, network, made={"steps": steps})
        self.members.append(member)
        while len(self.members) > self.limit:
            self._drop()

    def weights(self) -> Tensor:
        """float64 [members], chances to be met."""
        if self.sampling == "uniform":
            chance = [1.0 for _ in self.members]
        elif self.sampling == "latest":
            chance = [0.0 for _ in self.members[1:]] + [1.0]
        else:
            chance = [(1 - member.beaten) ** 2 for member in self.members]
        found = torch.tensor(chance, dtype=torch.float64)
        return found / found.sum()

    def sample(self, count: int, generator: torch.Generator) -> list[Member]:
        """Draw members by `weights`, with repetition; the generator is consumed.

        Raises:
            ValueError: the pool is empty.
        """
        if not self.members:
            raise ValueError("the opponent pool is empty; add one first")
        lots = torch.rand(count, generator=generator, device=generator.device, dtype=torch.float64).cpu()
        places = torch.searchsorted(self.weights().cumsum(0), lots).clamp(max=len(self.members) - 1)
        return [self.members[place] for place in places.tolist()]

    def agent(self, member: Member, device: torch.device | str) -> AnyAgent:
        """The member as an agent that plays by chance, as it did when it learned."""
        if member.file not in self._loaded:
            self.receive({member.file: load_network(self.folder / member.file).network.to(device)})
        return self._loaded[member.file]

    def keep_in_memory(self) -> None:
        """Need no folder from now on; of a pool that is empty."""
        self._in_memory = True

    def receive(self, networks: Mapping[str, Network]) -> None:
        """Have snapshots without their files: networks for them alone by their files' names."""
        for file, network in networks.items():
            self._loaded[file] = network.agent(f"self@{int(Path(file).stem)}", sample=True)

    def record(self, member: Member, score: float, games: int) -> None:
        """Tell of games of the learner against a member; `score` is the learner's."""
        if self._held is not None:
            self._held.append((member.file, score, games))
            return
        fade = math.exp2(-games / self.memory)
        member.games = member.games * fade + games
        member.score = member.score * fade + score

    def hold(self) -> None:
        """Keep results back from now on, until `settle`: of pools of several processes none may be ahead of others."""
        self._held = []

    def settle(self, group: Group) -> None:
        """Record what all processes of a group kept back, in the same order in each."""
        held, self._held = self._held, None
        members = {member.file: member for member in self.members}
        for results in group.exchange(held):
            for file, score, games in results:
                if file in members:  # else it has gone in the meantime
                    self.record(members[file], score, games)
        self._held = []

    def state_dict(self) -> list[dict[str, Any]]:
        """What a checkpoint keeps: the members; their weights are on disk."""
        return [dataclasses.asdict(member) for member in self.members]

    def load_state_dict(self, state: Sequence[Mapping[str, Any]]) -> None:
        """The members of a checkpoint; the folder is pruned.

        Raises:
            ValueError: weights are missing.
        """
        self.members = [Member(**member) for member in state]
        if missing := [member.file for member in self.members if not self._has(member.file)]:
            raise ValueError(f"{self.folder}: expected the weights of snapshots {', '.join(missing)}, found none")
        self.prune()

    def prune(self) -> None:
        """Delete the files of those who are no members; to be called when a checkpoint tells of the members."""
        known = {member.file for member in self.members}
        if self._in_memory:
            self._loaded = {file: agent for file, agent in self._loaded.items() if file in known}
            return
        for path in self.folder.glob("*.safetensors"):
            if _FILE.fullmatch(path.name) and path.name not in known:
                path.unlink()

    def _has(self, file: str) -> bool:
        return file in self._loaded if self._in_memory else (self.folder / file).is_file()

    def _drop(self) -> None:
        """Forget one, but neither the first nor the last of several."""
        steps = [member.steps for member in self.members]
        gaps = [after - before for before, after in zip(steps, steps[2:], strict=False)]
        place = 1 + gaps.index(min(gaps)) if gaps else 0
        member = self.members.pop(place)
        self._loaded.pop(member.file, None)


def like(network: Network, weights: Mapping[str, Tensor]) -> Network:
    """Another network of its kind and size on the same device, with these weights, ready to play."""
    with torch.random.fork_rng(devices=[]):  # what it starts with is thrown away
        other = make_network(network.game, network.size, network.kind)
    other.load_state_dict(weights)
    return other.to(next(network.parameters()).device).eval()

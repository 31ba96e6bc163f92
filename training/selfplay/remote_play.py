"""The side of self-play that runs in an actor's process, and the messages between actor and learner."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import torch
from typing_extensions import override

from cellgames.agents.networks.networks import Network, Size, make_network
from cellgames.cluster.connection import Build, Place, load_ray, refuse_other_build, unpacked
from cellgames.envs.core import Game
from cellgames.training.arguments import Sampling

from .opponent_pool import Member, Pool
from .rollouts import Ended, Play, Rollout

__all__ = ["Actor", "Make", "Order", "Part", "Setup", "Weights", "joined", "network_weights"]

R = TypeVar("R", bound=Rollout)
Weights: TypeAlias = dict[str, np.ndarray[Any, Any]]
"""Weights of a network by the names of its `state_dict`; Ray sends arrays without a copy."""
Make: TypeAlias = Callable[[Game, Any, Network, Pool, int, torch.device], Play[R]]
"""A function of a module that makes a `Play` of game, arguments of the run, network, pool, num_envs and device."""


def network_weights(network: Network) -> Weights:
    """Return a copy of the network's weights."""
    return {name: value.detach().cpu().contiguous().numpy().copy() for name, value in network.state_dict().items()}


@dataclass(frozen=True)
class Setup(Generic[R]):
    """The parts of an actor; can be pickled.

    Attributes:
        make: makes the games in progress.
        game: the rules.
        arguments: of the run, for `make`.
        size: of the networks.
        kind: of the networks.
        sampling: of the opponent pool.
        num_envs: number of games of this actor.
    """

    make: Make[R]
    game: Game
    arguments: Any
    size: Size
    kind: str
    sampling: Sampling
    num_envs: int


@dataclass(frozen=True)
class Order:
    """A request for a rollout.

    Attributes:
        steps: number of steps in every environment.
        seed: of new games; None continues the games in progress.
        members: state of the learner's pool, by `Pool.state_dict`.
        snapshots: weights of the members that this actor does not have yet, by file, as references to Ray's objects.
    """

    steps: int
    seed: int | None
    members: Sequence[Mapping[str, Any]]
    snapshots: Mapping[str, Any]


@dataclass(frozen=True)
class Part(Generic[R]):
    """The rollout of an actor.

    Attributes:
        kind: class of the rollout.
        arrays: its fields except `ended`.
        ended: the games that ended; its numbers of opponents are those of this actor.
        files: files of the snapshots among the opponents, by number.
        results: results for the pool in order: file, score and games.
    """

    kind: type[R]
    arrays: Weights
    ended: Ended
    files: Mapping[int, str]
    results: Sequence[tuple[str, float, int]]


def joined(parts: Sequence[Part[R]], number_of: Callable[[str], int], device: torch.device) -> R:
    """Return one rollout with the rows of all parts, in the order of the parts.

    Args:
        parts: one or more, of as many steps.
        number_of: gives the learner's number of a snapshot by its file.
        device: of the rollout.
    """
    results: dict[int, tuple[float, int]] = {}
    returns: dict[int, float] = {}
    for part in parts:
        for number, (won, games) in part.ended.results.items():
            # The learner itself and fixed agents have the same number everywhere.
            here = number_of(part.files[number]) if number in part.files else number
            had, before = results.get(here, (0.0, 0))
            results[here] = had + won, before + games
            returns[here] = returns.get(here, 0.0) + part.ended.returns[number]
    games, turns = (sum(getattr(part.ended, name) for part in parts) for name in ("games", "turns"))
    fields = {
        name: torch.from_numpy(np.concatenate([part.arrays[name] for part in parts], 1)).to(device)
        for name in parts[0].arrays
    }
    return parts[0].kind(**fields, ended=Ended(games, turns, results, returns))


class Actor(Generic[R]):
    """An actor of Ray: it plays in a process of its own, with one thread on the CPU.

    Args:
        versions: of the learner's process, which this process must have too.
        place: where the learner works.
        setup: a packed `Setup`. The first `play` raises its errors, so that the learner gets them.
    """

    def __init__(self, versions: Build, place: Place, setup: bytes) -> None:
        self._launch = versions, place, setup
        self._play: Play[R] | None = None

    def play(self, order: Order, weights: Weights) -> Part[R]:
        """Play a rollout with a network of these weights."""
        play = self._play if self._play is not None else self._begin()
        _load(self._network, weights)
        fresh = dict(zip(order.snapshots, load_ray().get(list(order.snapshots.values())), strict=True))
        self._pool.update(order.members, {file: self._snapshot(part) for file, part in fresh.items()})
        if order.seed is not None:
            play.restart(order.seed)
        rollout = play.collect(order.steps)
        names = [field.name for field in dataclasses.fields(rollout) if field.name != "ended"]
        return Part(
            type(rollout),
            {name: getattr(rollout, name).numpy() for name in names},
            rollout.ended,
            play.opponents.snapshots(),
            self._pool.taken(),
        )

    def alive(self) -> bool:
        """Answer, also while `play` runs if called in another of Ray's concurrency groups."""
        return True

    def _begin(self) -> Play[R]:
        versions, place, packed_setup = self._launch
        refuse_other_build(versions)
        place.enter()
        torch.set_num_threads(1)
        self._setup = setup = unpacked(packed_setup)
        self._network = make_network(setup.game, setup.size, setup.kind)
        self._pool = _PoolCopy(setup.sampling)
        device = torch.device("cpu")
        self._play = setup.make(setup.game, setup.arguments, self._network, self._pool, setup.num_envs, device)
        return self._play

    def _snapshot(self, weights: Weights) -> Network:
        network = make_network(self._setup.game, self._setup.size, self._setup.kind)
        _load(network, weights)
        return network.eval()


class _PoolCopy(Pool):
    """A copy of the learner's pool in an actor: without files, updated before each rollout."""

    def __init__(self, sampling: Sampling) -> None:
        super().__init__(Path(), sampling)
        self.keep_in_memory()
        self._results: list[tuple[str, float, int]] = []

    def update(self, members: Sequence[Mapping[str, Any]], networks: Mapping[str, Network]) -> None:
        """Take over the members; `networks` are those of new ones."""
        self.receive(networks)
        self.load_state_dict(members)

    @override
    def record(self, member: Member, score: float, games: int) -> None:
        self._results.append((member.file, score, games))

    def taken(self) -> list[tuple[str, float, int]]:
        """Return the results that were recorded since the last call."""
        taken, self._results = self._results, []
        return taken


def _load(network: Network, weights: Weights) -> None:
    """Copy weights, which may lie in read-only memory, into the network."""
    network.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights.items()})

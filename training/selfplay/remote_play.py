"""Self-play in another process: what an actor is made of, what it is sent, and what it gives back."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import torch

from cellgames.agents.networks.networks import Network, Size, make_network
from cellgames.cluster.connection import Build, Place, load_ray, refuse_other_build, unpacked
from cellgames.envs.core import Game
from cellgames.training.arguments import Sampling

from .opponent_pool import Member, Pool
from .rollouts import Ended, Play, Rollout

__all__ = ["Actor", "Make", "Order", "Part", "Setup", "Weights", "joined", "network_weights"]

R = TypeVar("R", bound=Rollout)
Weights: TypeAlias = dict[str, np.ndarray[Any, Any]]
"""Of a network, by the names of its `state_dict`; travel without a copy."""
Make: TypeAlias = Callable[[Game, Any, Network, Pool, int, torch.device], Play[R]]
"""Makes a `Play` of the game, the run's arguments, network, pool, num_envs and device. A function of a module."""


def network_weights(network: Network) -> Weights:
    """Copies of them as they are now."""
    return {name: value.detach().cpu().contiguous().numpy().copy() for name, value in network.state_dict().items()}


@dataclass(frozen=True)
class Setup(Generic[R]):
    """What an actor is made of; can be pickled.

    Attributes:
        make: makes what plays.
        game: the rules.
        arguments: of the run, for `make`.
        size: of the networks.
        sampling: of snapshots.
        num_envs: of this actor.
    """

    make: Make[R]
    game: Game
    arguments: Any
    size: Size
    sampling: Sampling
    num_envs: int


@dataclass(frozen=True)
class Order:
    """What to play.

    Attributes:
        steps: in every environment.
        seed: begin new games with it; None goes on with those there are.
        members: of the learner's pool with its results so far, as `Pool.state_dict` gives them.
        selves: weights of the members that this actor does not have yet, by file, as references to Ray's objects.
    """

    steps: int
    seed: int | None
    members: Sequence[Mapping[str, Any]]
    selves: Mapping[str, Any]


@dataclass(frozen=True)
class Part(Generic[R]):
    """What was played.

    Attributes:
        kind: of rollout.
        arrays: its fields but for `ended`.
        ended: whose numbers of opponents are this actor's own.
        files: of the snapshots among them, by number.
        results: what the pool recorded, in order: file, score and games.
    """

    kind: type[R]
    arrays: Weights
    ended: Ended
    files: Mapping[int, str]
    results: Sequence[tuple[str, float, int]]


def joined(parts: Sequence[Part[R]], number_of: Callable[[str], int], device: torch.device) -> R:
    """All that was played, rows side by side in the order of the parts.

    Args:
        parts: one or more, of as many steps.
        number_of: the number here of a snapshot, by its file.
        device: of the rollout.
    """
    results: dict[int, tuple[float, int]] = {}
    returns: dict[int, float] = {}
    for part in parts:
        for number, (won, games) in part.ended.results.items():
            # Itself, and who stays what he is, have the same number everywhere.
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
    """Plays in a process of its own, by one thread on the CPU; Ray makes it.

    Args:
        versions: that it must have, too.
        place: where the learner is at work.
        setup: packed, see `Setup`. What is wrong with it is raised by the first `play`, for the learner to hear.
    """

    def __init__(self, versions: Build, place: Place, setup: bytes) -> None:
        self._launch = versions, place, setup
        self._play: Play[R] | None = None

    def play(self, order: Order, weights: Weights) -> Part[R]:
        """Play with a network of these weights."""
        play = self._play if self._play is not None else self._begin()
        _load(self._network, weights)
        fresh = dict(zip(order.selves, load_ray().get(list(order.selves.values())), strict=True))
        self._pool.be(order.members, {file: self._snapshot(part) for file, part in fresh.items()})
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
        """Answers, also while `play` is at work if it is called in another of Ray's concurrency groups."""
        return True

    def _begin(self) -> Play[R]:
        versions, place, packed_setup = self._launch
        refuse_other_build(versions)
        place.enter()
        torch.set_num_threads(1)
        self._setup = setup = unpacked(packed_setup)
        self._network = make_network(setup.game, setup.size)
        self._pool = _PoolCopy(setup.sampling)
        device = torch.device("cpu")
        self._play = setup.make(setup.game, setup.arguments, self._network, self._pool, setup.num_envs, device)
        return self._play

    def _snapshot(self, weights: Weights) -> Network:
        network = make_network(self._setup.game, self._setup.size)
        _load(network, weights)
        return network.eval()


class _PoolCopy(Pool):
    """The learner's pool in an actor: without files; members and results are set before each rollout."""

    def __init__(self, sampling: Sampling) -> None:
        super().__init__(Path(), sampling)
        self.keep_in_memory()
        self._results: list[tuple[str, float, int]] = []

    def be(self, members: Sequence[Mapping[str, Any]], networks: Mapping[str, Network]) -> None:
        """Have these members; networks are of those that are new."""
        self.receive(networks)
        self.load_state_dict(members)

    def record(self, member: Member, score: float, games: int) -> None:
        """For the learner's pool, which tells this one."""
        self._results.append((member.file, score, games))

    def taken(self) -> list[tuple[str, float, int]]:
        """What was recorded since the last time."""
        taken, self._results = self._results, []
        return taken


def _load(network: Network, weights: Weights) -> None:
    """Copy weights, which may lie in memory that is only for reading, into the network."""
    network.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights.items()})

"""Self-play by actors: processes of a Ray cluster that play with the newest weights, while the learner learns.

As in Espeholt et al., "IMPALA: Scalable distributed deep-RL with importance weighted actor-learner architectures",
2018, actors play whole rollouts and the learner takes one of each; but here always the same one, so that a run can be
repeated. Rollout `i` after a restart is played with the weights that `i - lag` iterations made, by games whose seeds
follow from the restart's seed and the actor's number. PPO needs no change for a lag: its probability ratio is to the
policy that the actor had (`Rollout.log_prob`), and actions beyond the clip range have no gradient.

Ray starts an actor that dies again, and hands it the orders that it has not answered. Its games then begin anew, and
the run cannot be repeated exactly.
"""

from __future__ import annotations

import dataclasses
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.forfeits import AgentError
from cellgames.agents.networks.networks import Network, make_network
from cellgames.agents.networks.saved import load_network
from cellgames.cluster.connection import ClusterError, Place, connected, load_ray, packed, unpacked
from cellgames.envs.core import Game
from cellgames.training.arguments import ActorArguments, Sampling

from .learner import Purpose, derive
from .opponents import POOL, Member, Pool
from .rollouts import Ended, Play, Rollout

R = TypeVar("R", bound=Rollout)
Make: TypeAlias = Callable[[Game, Any, Network, Pool, int, torch.device], Play[R]]
"""A function of a module that makes a `Play` of game, arguments of the run, network, pool, num_envs and device."""

_RETRIES = 3  # deaths of an actor at one rollout before the run ends
GO_ON = "the same command continues the run at its last checkpoint"


def make_play(
    make: Make[R],
    game: Game,
    arguments: ActorArguments,
    network: Network,
    pool: Pool,
    device: torch.device,
    warn: Callable[[str], None],
) -> Play[R]:
    """Return the games of a learner: in this process, or in the actors that the arguments ask for.

    `make` makes the games of one process; network, pool and device are the learner's, and `warn` gets a line when an
    actor has died. An `ImportError` says that actors are asked for, and Ray is not installed.
    """
    here = make(game, arguments, network, pool, arguments.num_envs, device)
    return here if not arguments.actors else ActorPlay(here, make, game, arguments, network, pool, warn)


# ---------------------------------------------------------------- messages


@dataclass(frozen=True)
class Order:
    """A request for a rollout.

    Attributes:
        steps: number of steps in every environment.
        restart: number of the restart whose games it continues; a new number begins new games.
        seed: seed of the games that begin with this restart.
        members: state of the learner's pool, by `Pool.state_dict`.
        snapshots: weights of the members by file, as references to Ray's objects.
    """

    steps: int
    restart: int
    seed: int
    members: Sequence[Mapping[str, Any]]
    snapshots: Mapping[str, Any]


@dataclass(frozen=True)
class _Part(Generic[R]):
    """The rollout of an actor."""

    rollout: R  # its numbers of opponents are those of this actor
    files: Mapping[int, str]  # files of the snapshots among the opponents, by number
    results: Sequence[tuple[str, float, int]]  # results for the pool in order: file, score and games
    process: int  # number of the actor's process


def _weights(network: Network) -> dict[str, Tensor]:
    """Return a copy of the network's weights on the CPU."""
    return {name: value.detach().cpu().clone() for name, value in network.state_dict().items()}


# ---------------------------------------------------------------- the learner's side


class ActorPlay(Generic[R]):
    """Games in progress in actors; the counterpart of `SelfPlay`. `make_play` explains the arguments.

    `start` joins or starts the cluster; `close` ends the actors, and the cluster if it was started here.
    """

    def __init__(
        self,
        here: Play[R],
        make: Make[R],
        game: Game,
        arguments: ActorArguments,
        network: Network,
        pool: Pool,
        warn: Callable[[str], None],
    ) -> None:
        self.device, self.mixed_precision, self.opponents = here.device, here.mixed_precision, here.opponents
        self.network, self.pool, self.lag, self._warn = network, pool, arguments.lag, warn
        self._until = arguments.checkpoint_every  # games start over then; what is played ahead would be lost
        # bfloat16 is for GPUs; the probability ratio is right with whatever precision the actor had.
        plain: dict[str, Any] = {"mixed_precision": False} if hasattr(arguments, "mixed_precision") else {}
        num_envs = arguments.num_envs // arguments.actors
        share = dataclasses.replace(arguments, num_envs=num_envs, actors=0, lag=0, ray=type(arguments).ray, **plain)
        self._ray = load_ray()
        self._setup = packed((make, game, share, network.size, network.kind, arguments.sampling))
        self._address, self._count = arguments.ray, arguments.actors
        self._open = ExitStack()
        self._actors: list[Any] = []
        self._snapshots: dict[str, Any] = {}  # references to the weights of snapshots, by file
        self._numbers: dict[str, int] = {}  # of snapshots, as `Ended` has them here
        self._processes: list[int] = []  # of the actors, when they played last
        self._pending: deque[list[Any]] = deque()  # references to rollouts that were asked for, of all actors each
        self._restart = self._number = self._asked = 0

    def start(self) -> None:
        """Join or start the cluster, and make the actors; a `ClusterError` without one, or with too few cores."""
        self._open.enter_context(connected(self._address, self._count))
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        if cores < self._count:
            raise ClusterError(
                f"{self._count} actors, but the cluster has {cores} core{'s' * (cores != 1)}; ask for "
                f"actors={max(cores, 1)} or start more machines"
            )
        kind = self._ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=_RETRIES)(Actor)
        self._actors = [kind.remote(Place.here(), self._setup) for _ in range(self._count)]

    def restart(self, seed: int) -> None:
        """Start new games in all actors; drops rollouts that they were asked for before."""
        # The first actor plays the games that this process would play.
        further = [derive(derive(seed, Purpose.GAMES, place), Purpose.GAMES, 0) for place in range(1, self._count)]
        self._seeds, self._restart = [seed, *further], self._restart + 1
        self._number = self._asked = 0
        self._pending.clear()

    def collect(self, steps: int) -> R:
        """Ask for rollouts, and return those that are due, of all actors.

        A `ClusterError` says what failed in an actor, that it has other versions, or that it died repeatedly.
        """
        last = max(self._number, min(self._number + self.lag, self._until - 1))
        self._number += 1
        errors = self._ray.exceptions
        try:
            if self._asked <= last:
                newest = self._ray.put(_weights(self.network))  # once for all actors
                while self._asked <= last:
                    self._pending.append(self._ask(steps, newest))
            parts: list[_Part[R]] = self._ray.get(self._pending.popleft())
        except errors.RayTaskError as error:
            if isinstance(error.cause, ClusterError | AgentError):
                raise error.cause from None
            kind = "" if isinstance(error.cause, ValueError) else f"{type(error.cause).__name__}: "
            raise ClusterError(f"an actor failed: {kind}{error.cause}") from error
        except errors.RayError as error:  # an actor died repeatedly, or the cluster failed
            said = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise ClusterError(
                f"the Ray cluster failed: {said}; do its machines have this package, free memory and a free core for "
                f"each actor? {GO_ON}"
            ) from error
        processes = [part.process for part in parts]
        if self._number > 1 and processes != self._processes:
            self._warn("an actor died and began new games; the run cannot be repeated exactly")
        self._processes = processes
        return self._joined(parts)

    def games_state(self) -> None:
        """Return None: the games in progress are in other processes, and are not saved."""

    def load_games(self, state: Mapping[str, Any]) -> NoReturn:
        """Raise a `ValueError`: see `games_state`."""
        raise ValueError("actors cannot play on in games that were saved")

    def close(self) -> None:
        """End the actors, and the cluster if it was started here."""
        if self._ray.is_initialized():
            for actor in self._actors:
                self._ray.kill(actor)
        self._open.close()

    def _ask(self, steps: int, newest: Any) -> list[Any]:
        """Ask all actors for their next rollout with the weights `newest`, and return the references to them."""
        self._asked += 1
        members = self.pool.members if POOL in self.opponents.mix else []
        # Actors on other machines have no files.
        self._snapshots = {
            member.file: self._snapshots.get(member.file)
            or self._ray.put(_weights(load_network(self.pool.folder / member.file).network))
            for member in members
        }
        pool = self.pool.state_dict() if members else []
        orders = [Order(steps, self._restart, seed, pool, self._snapshots) for seed in self._seeds]
        return [actor.play.remote(order, newest) for actor, order in zip(self._actors, orders, strict=True)]

    def _joined(self, parts: Sequence[_Part[R]]) -> R:
        """Return one rollout with the rows of all parts, in their order, and record the results in the pool."""
        members = {member.file: member for member in self.pool.members}
        results: dict[int, tuple[float, int]] = {}
        returns: dict[int, float] = {}
        for part in parts:
            for file, score, games in part.results:
                if file in members:  # else it was dropped in the meantime
                    self.pool.record(members[file], score, games)
            ended = part.rollout.ended
            for number, (won, games) in ended.results.items():
                # The learner itself and fixed agents have the same number everywhere; snapshots follow them.
                here = number
                if (own := part.files.get(number)) is not None:
                    here = self._numbers.setdefault(own, len(self.opponents.agents) + len(self._numbers))
                had, before = results.get(here, (0.0, 0))
                results[here] = had + won, before + games
                returns[here] = returns.get(here, 0.0) + ended.returns[number]
        games, turns = (sum(getattr(part.rollout.ended, name) for part in parts) for name in ("games", "turns"))
        fields = {
            name: torch.cat([getattr(part.rollout, name) for part in parts], 1).to(self.device)
            for name in vars(parts[0].rollout)
            if name != "ended"
        }
        return dataclasses.replace(parts[0].rollout, **fields, ended=Ended(games, turns, results, returns))


# ---------------------------------------------------------------- the actors' side


class Actor(Generic[R]):
    """An actor of Ray: it plays in a process of its own, with one thread on the CPU.

    The first `play` raises the errors of the packed setup, so that the learner gets them.
    """

    def __init__(self, place: Place, setup: bytes) -> None:
        self._launch: tuple[Place, bytes] = place, setup
        self._play: Play[R] | None = None
        self._restart = 0

    def play(self, order: Order, weights: Mapping[str, Tensor]) -> _Part[R]:
        """Play a rollout with a network of these weights."""
        play = self._play if self._play is not None else self._begin()
        self._network.load_state_dict(weights)
        fresh = {file: load_ray().get(order.snapshots[file]) for file in self._pool.missing(order.snapshots)}
        self._pool.update(order.members, {file: self._snapshot(part) for file, part in fresh.items()})
        if order.restart != self._restart:
            play.restart(order.seed)
            self._restart = order.restart
        rollout = play.collect(order.steps)
        return _Part(rollout, play.opponents.snapshots(), self._pool.taken(), os.getpid())

    def _begin(self) -> Play[R]:
        place, setup = self._launch
        place.enter()
        torch.set_num_threads(1)
        make, game, arguments, size, kind, sampling = unpacked(setup)
        self._new: Callable[[], Network] = lambda: make_network(game, size, kind)
        self._network, self._pool = self._new(), _PoolCopy(sampling)
        play: Play[R] = make(game, arguments, self._network, self._pool, arguments.num_envs, torch.device("cpu"))
        self._play = play
        return play

    def _snapshot(self, weights: Mapping[str, Tensor]) -> Network:
        network = self._new()
        network.load_state_dict(weights)
        return network.eval()


class _PoolCopy(Pool):
    """A copy of the learner's pool in an actor: without files, updated before each rollout."""

    def __init__(self, sampling: Sampling) -> None:
        super().__init__(Path(), sampling)
        self._results: list[tuple[str, float, int]] = []

    def missing(self, files: Mapping[str, Any]) -> list[str]:
        """Return the files whose networks this copy lacks."""
        return [file for file in files if file not in self._loaded]

    def update(self, members: Sequence[Mapping[str, Any]], networks: Mapping[str, Network]) -> None:
        """Take over the members; `networks` are those of new ones."""
        self.receive(networks)
        self.members = [Member(**member) for member in members]
        self._loaded = {member.file: self._loaded[member.file] for member in self.members}

    @override
    def record(self, member: Member, score: float, games: int) -> None:
        self._results.append((member.file, score, games))

    def taken(self) -> list[tuple[str, float, int]]:
        """Return the results that were recorded since the last call."""
        taken, self._results = self._results, []
        return taken

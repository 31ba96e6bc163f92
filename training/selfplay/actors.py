"""Self-play by actors: processes of a Ray cluster that play with the newest weights, while the learner learns.

As in Espeholt et al., "IMPALA: Scalable distributed deep-RL with importance weighted actor-learner architectures",
2018, actors play whole rollouts and the learner takes one of each; but here always the same one, so that a run can be
repeated. Rollout `i` after a restart is played with the weights that `i - lag` iterations made, by games whose seeds
follow from the restart's seed and the actor's number. PPO needs no change for a lag: its probability ratio is to the
policy that the actor had (`Rollout.log_prob`), and actions beyond the clip range have no gradient.

The learner waits for an actor as long as it plays, and asks it now and then whether it is alive. An actor that dies, or
whose process does not answer, is replaced. Then the results depend on when that happened, and the run cannot be
repeated exactly.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, NoReturn, TypeVar

import torch

from cellgames.agents.forfeits import AgentError
from cellgames.agents.networks.networks import Network
from cellgames.agents.networks.saved import load_network
from cellgames.cluster.connection import ClusterError, Place, build, connected, load_ray, packed
from cellgames.envs.core import Game
from cellgames.training.arguments import ActorArguments

from .learner import Purpose, derive
from .opponent_mix import POOL
from .opponent_pool import Pool
from .remote_play import Actor, Make, Order, Part, Setup, joined, network_weights
from .rollouts import Play, Rollout

__all__ = ["TIMEOUT", "ActorPlay", "make_play"]

R = TypeVar("R", bound=Rollout)

TIMEOUT = 30.0
"""Seconds within which an actor's process must answer, also while it plays; then it is replaced."""
START_TIMEOUT = 120.0
"""The same for an actor that has not played yet: machines start, packages are imported."""
PINGS = 10
"""Number of pings within a timeout to an actor that the learner waits for."""
PING_GROUP = "ping"
"""Ray's concurrency group for pings, which an actor answers while it plays."""
MAX_DEATHS = 3
"""Deaths in a row, without a rollout between them, after which an actor is given up until games start over."""

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
    """Return the games of a learner: in this process, or in as many actors as the arguments ask for.

    Args:
        make: makes the games of one process.
        game: the rules.
        arguments: of the run.
        network: the learner's.
        pool: the learner's snapshots.
        device: of the learner.
        warn: gets a line when an actor is replaced.

    Raises:
        ImportError: actors are asked for, and Ray is not installed.
    """
    here = make(game, arguments, network, pool, arguments.num_envs, device)
    return here if not arguments.actors else ActorPlay(here, make, game, arguments, network, pool, warn)


@dataclass
class _Member:
    """State of an actor in the learner.

    Attributes:
        place: its number; rollouts are joined in this order.
        handle: Ray's; None if the actor was given up.
        asked: number of the last rollout that it was asked for since the restart.
        pending: Ray's references to rollouts that it was asked for and has not returned, the oldest first.
        known: files of the snapshots that it has.
        started: True if it was asked to begin the games of this restart.
        life: number of actors that died in this place since the restart.
        deaths: number of deaths in a row, without a rollout.
        played: True if it has returned a rollout since it was made.
        heard: time of its last sign of life (`time.monotonic`).
        ping: Ray's reference to the last ping and its time, if it has not answered.
    """

    place: int
    handle: Any
    asked: int = -1
    pending: deque[Any] = field(default_factory=deque)
    known: set[str] = field(default_factory=set)
    started: bool = False
    life: int = 0
    deaths: int = 0
    played: bool = False
    heard: float = -math.inf
    ping: tuple[Any, float] | None = None


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
        self._setup = packed(Setup(make, game, share, network.size, network.kind, arguments.sampling, num_envs))
        self._address, self._count = arguments.ray, arguments.actors
        self._open = ExitStack()
        self._snapshots: dict[str, Any] = {}  # references to the weights of snapshots, by file
        self._numbers: dict[str, int] = {}  # of snapshots, as `Ended` has them here
        self._members: list[_Member] = []
        self._steps = self._number = 0

    def start(self) -> None:
        """Join or start the cluster, and make the actors.

        Raises:
            ClusterError: there is no cluster, it cannot be joined, or it has fewer cores than there are actors.
        """
        self._open.enter_context(connected(self._address, self._count))
        cores = int(self._ray.cluster_resources().get("CPU", 0))
        if cores < self._count:
            raise ClusterError(
                f"{self._count} actors, but the cluster has {cores} core{'s' * (cores != 1)}; ask for "
                f"actors={max(cores, 1)} or start more machines"
            )
        kind = self._ray.remote(num_cpus=1, concurrency_groups={PING_GROUP: 1})(Actor)
        self._new = partial(kind.remote, build(), Place.here(), self._setup)
        self._members = [_Member(place, self._new()) for place in range(self._count)]

    def restart(self, seed: int) -> None:
        """Start new games in all actors; drops rollouts that they were asked for before."""
        self._seed, self._number = seed, 0
        for member in self._members:
            if member.handle is None and self._ray.available_resources().get("CPU", 0) >= 1:
                self._make(member)
                member.deaths = MAX_DEATHS - 1
                member.known.clear()
            member.pending.clear()
            member.asked, member.started, member.life = -1, False, 0

    def collect(self, steps: int) -> R:
        """Ask for rollouts, and return those that are due, of all actors but those that were given up.

        Raises:
            ClusterError: the game, an agent or the network failed in an actor; an actor has other versions; or all
                actors died repeatedly.
        """
        self._steps, self._newest = steps, None
        number, self._number = self._number, self._number + 1
        try:
            for member in self._members:
                self._ask(member, number)
            return self._joined(self._gather())
        except self._ray.exceptions.RayError as error:  # not of an actor, but of the cluster, or of this machine
            raise ClusterError(f"the Ray cluster failed: {_first_line(error)}; {GO_ON}") from error

    def games_state(self) -> None:
        """Return None: the games in progress are in other processes, and are not saved."""

    def load_games(self, state: Mapping[str, Any]) -> NoReturn:
        """Raise a `ValueError`: see `games_state`."""
        raise ValueError("actors cannot play on in games that were saved")

    def close(self) -> None:
        """End the actors, and the cluster if it was started here."""
        for member in self._members:
            self._end(member)
        self._open.close()

    # ---------------------------------------------------------------- asking

    def _ask(self, member: _Member, number: int) -> None:
        """Ask an actor for all rollouts up to the one that is `lag` ahead of `number`."""
        if member.handle is None:
            return
        last = max(number, min(number + self.lag, self._until - 1))
        for wanted in range(max(number, member.asked + 1), last + 1):
            if len(member.pending) <= self.lag:
                self._order(member, wanted)

    def _order(self, member: _Member, number: int) -> None:
        if self._newest is None:
            self._newest = self._ray.put(network_weights(self.network))  # once for all actors
        members = self.pool.members if POOL in self.opponents.mix else []
        files = {past.file for past in members}
        self._snapshots = {file: reference for file, reference in self._snapshots.items() if file in files}
        fresh = {file: self._snapshot(file) for file in sorted(files - member.known)}
        pool = self.pool.state_dict() if members else []
        order = Order(self._steps, None if member.started else self._seed_of(member), pool, fresh)
        member.pending.append(member.handle.play.remote(order, self._newest))
        member.known, member.started, member.asked = files, True, number

    def _snapshot(self, file: str) -> Any:
        """Return a reference to the weights of a snapshot, because actors on other machines have no files."""
        if file not in self._snapshots:
            self._snapshots[file] = self._ray.put(network_weights(load_network(self.pool.folder / file).network))
        return self._snapshots[file]

    def _seed_of(self, member: _Member) -> int:
        """Return the seed of an actor's games; the first actor plays the games that this process would play."""
        if member.place == member.life == 0:
            return self._seed
        return derive(derive(self._seed, Purpose.GAMES, member.place), Purpose.GAMES, member.life)

    # ---------------------------------------------------------------- taking

    def _gather(self) -> list[Part[R]]:
        """Return the next rollout of each actor, in the order of actors."""
        got: dict[int, Part[R]] = {}
        while heads := {m.pending[0]: m for m in self._members if m.pending and m.place not in got}:
            ready = self._ready(heads, min(1.0, TIMEOUT / PINGS))
            for reference in ready:
                self._take(heads[reference], got)
            self._listen([member for reference, member in heads.items() if reference not in ready])
        return [got[place] for place in sorted(got)]

    def _ready(self, references: Iterable[Any], seconds: float) -> list[Any]:
        ready, _ = self._ray.wait(list(references), num_returns=1, timeout=seconds)
        return list(ready)

    def _take(self, member: _Member, got: dict[int, Part[R]]) -> None:
        """Take the oldest rollout of an actor, which is ready, or replace the actor if it died."""
        errors = self._ray.exceptions
        try:
            got[member.place] = self._ray.get(member.pending.popleft())
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, ClusterError | AgentError):
                raise cause from None
            kind = "" if isinstance(cause, ValueError) else f"{type(cause).__name__}: "  # people cause those
            raise ClusterError(f"actor {member.place} failed: {kind}{cause}") from error
        except errors.RayError as error:  # a process, a machine or an object is gone
            self._renew(member, f"died ({_first_line(error)})")
        else:
            member.played, member.deaths = True, 0
            member.heard, member.ping = time.monotonic(), None

    def _listen(self, members: Iterable[_Member]) -> None:
        """Ping actors whose rollouts are missing; replace those that do not answer."""
        for member in members:
            now, timeout = time.monotonic(), max(TIMEOUT, 0.0 if member.played else START_TIMEOUT)
            if member.ping is None:
                if now - member.heard >= TIMEOUT / PINGS:
                    alive = member.handle.alive.options(concurrency_group=PING_GROUP)
                    member.ping = alive.remote(), now
            elif self._ready([member.ping[0]], 0.0):  # if it died, its rollout says so
                member.heard, member.ping = now, None
            elif (silent := now - member.ping[1]) > timeout:
                self._renew(member, f"has not answered for {silent:.0f} s and was ended")

    def _renew(self, member: _Member, why: str) -> None:
        """Replace an actor that is gone; the new one begins new games with the newest weights."""
        self._end(member)
        member.pending.clear()
        member.known.clear()
        member.started, member.life, member.deaths = False, member.life + 1, member.deaths + 1
        if member.deaths < MAX_DEATHS:
            self._warn(f"actor {member.place} {why}; another one takes its place")
            self._make(member)
            number = self._number - 1
            member.asked = number - 1
            self._ask(member, number)
            return
        self._warn(f"actor {member.place} {why}, {MAX_DEATHS} times in a row; it is given up until games start over")
        if all(other.handle is None for other in self._members):
            raise ClusterError(
                f"all actors were given up; the last one {why}. Do its machines have this package and its extras, free "
                f"memory, and a free core for each actor? If so, {GO_ON}"
            )

    def _make(self, member: _Member) -> None:
        member.handle, member.played = self._new(), False
        member.heard, member.ping = time.monotonic(), None

    def _end(self, member: _Member) -> None:
        if member.handle is not None and self._ray.is_initialized():
            self._ray.kill(member.handle)
        member.handle = None

    def _joined(self, parts: list[Part[R]]) -> R:
        """Return the joined rollout, and record the results in the pool."""
        members = {member.file: member for member in self.pool.members}
        for part in parts:
            for file, score, games in part.results:
                if file in members:  # else it was dropped in the meantime
                    self.pool.record(members[file], score, games)
        return joined(parts, self._number_of, self.device)

    def _number_of(self, file: str) -> int:
        """Return the number of a snapshot, which follows those of fixed agents."""
        return self._numbers.setdefault(file, len(self.opponents.agents) + len(self._numbers))


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]

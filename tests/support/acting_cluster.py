"""A stand-in for Ray as `training.selfplay.actors` uses it, in this process; tests set its clock and its failures."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from cellgames.training.selfplay import actors, remote_play


class RayError(Exception):
    """An actor, or what it made, is gone."""


class RayTaskError(RayError):
    """An actor raised."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Reference:
    """To a value, or to what was raised instead."""

    def __init__(self, value: Any, owner: Handle | None = None, answer: bool = False) -> None:
        self.value, self.owner, self.answer = value, owner, answer

    @property
    def ready(self) -> bool:
        """Whether it is there, or the news of a death."""
        owner = self.owner
        return owner is not None and (owner.dead or not (owner.stuck or (owner.busy and not self.answer)))


class Handle:
    """Of an actor: it does what it is told at once, and whether one hears of it depends on what it is.

    `busy` is still playing, and answers; `stuck` does not; `dead` is gone.
    """

    def __init__(self, cluster: Cluster, actor: Any) -> None:
        self.cluster, self.actor = cluster, actor
        self.busy = self.stuck = self.dead = False
        self.orders: list[tuple[Any, Any]] = []
        self.play = SimpleNamespace(remote=self._play)
        self.alive = SimpleNamespace(options=self._beside)

    def _play(self, order: Any, weights: Reference) -> Reference:
        self.orders.append((order, weights.value))
        try:
            return Reference(self.actor.play(order, weights.value), self)
        except Exception as error:
            return Reference(RayTaskError(error), self)

    def _beside(self, concurrency_group: str) -> Any:
        assert concurrency_group == actors.PING_GROUP
        return SimpleNamespace(remote=lambda: Reference(self.actor.alive(), self, answer=True))


class Cluster:
    """Stands for the module `ray`."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self, cores: int) -> None:
        self.cores, self.now, self.open = cores, 0.0, True
        self.handles: list[Handle] = []
        self.stillborn = False

    def put(self, value: Any) -> Reference:
        return Reference(value)

    def get(self, what: Any) -> Any:
        if isinstance(what, list):
            return [self.get(reference) for reference in what]
        if what.owner is not None and what.owner.dead:
            raise RayError("the worker died\nand more lines")
        if isinstance(what.value, Exception):
            raise what.value
        return what.value

    def remote(self, **resources: Any) -> Any:
        assert resources == {"num_cpus": 1, "concurrency_groups": {actors.PING_GROUP: 1}}
        return lambda kind: SimpleNamespace(remote=lambda *told: self._new(kind(*told)))

    def _new(self, actor: Any) -> Handle:
        self.handles.append(Handle(self, actor))
        self.handles[-1].dead = self.stillborn
        return self.handles[-1]

    def wait(self, references: list[Reference], num_returns: int, timeout: float) -> tuple[list[Reference], list[Any]]:
        ready = [reference for reference in references if reference.ready]
        if len(ready) < num_returns:
            self.now += timeout
        return ready[:num_returns], []

    def kill(self, handle: Handle) -> None:
        handle.dead = True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self.cores}

    def available_resources(self) -> dict[str, float]:
        return {"CPU": self.cores}

    def is_initialized(self) -> bool:
        return self.open


def acting(patch: pytest.MonkeyPatch, cores: int = 2) -> Cluster:
    """Actors are of this cluster from now on."""
    cluster = Cluster(cores)

    @contextmanager
    def connected(address: str, cores: int) -> Iterator[Cluster]:
        yield cluster
        cluster.open = False

    patch.setattr(actors, "connected", connected)
    patch.setattr(actors, "load_ray", lambda: cluster)
    patch.setattr(actors, "time", SimpleNamespace(monotonic=lambda: cluster.now))
    patch.setattr(actors, "packed", pickle.dumps)
    patch.setattr(remote_play, "load_ray", lambda: cluster)
    return cluster

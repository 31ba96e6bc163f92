"""Pieces of work and who does them: workers of a Ray cluster, each a process with one core, on one machine or many.

    with RayWorkers() as workers:                        # starts a cluster on this machine when there is work
        round_robin(game, agents, out="run", workers=workers)
                                                         # and has ended it here

If a worker dies, by a signal or for want of memory, Ray starts its piece again in another one. A worker with other
versions is refused (`connection.Place`). Importing this imports neither Ray nor torch.
"""

from __future__ import annotations

import os
import platform
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import lru_cache
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from cellgames.utils.errors import InputError

from .connection import LOCAL, ClusterError, Place, connected, load_ray, packed, unpacked

T = TypeVar("T")
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

_LOOK_S = 1.0  # between looks at how many workers there are
_AHEAD = 2  # pieces that wait beside those in progress, so that no worker waits for this process
_DEATHS = 4  # workers that may die at one piece before it is given up
_MOST_SAID = 500  # characters of an error


class Work(Protocol[T_contra, R_co]):
    """The common part of pieces of work; it is pickled and sent to each worker, so it should be small."""

    def start(self) -> Callable[[T_contra], R_co]:
        """Get ready, such as load agents; called once in each worker. Gives what does a piece."""


class Workers(Protocol):
    """Workers that do pieces of work, in any order and any process. A piece has the same result everywhere."""

    def completed(self, work: Work[T, R], items: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Have pieces done; yield each with its result as soon as that is there, in whatever order.

        When a piece fails, no more are started, those under way are waited for, and then its error is raised. Whoever
        stops before the end, as on Ctrl-C, cancels what is under way, also in the middle of a piece.

        Args:
            work: the work that all pieces share; it travels once.
            items: the pieces; the text of each (`str`) names it in messages.

        Raises:
            ClusterError: a piece failed, the first of them; or workers died of it again and again. A worker that dies
                otherwise is no error: the piece is done by another one.
        """


class RayWorkers:
    """Workers of a Ray cluster; a context manager, and a `Workers` inside.

    The cluster is joined or started inside, by the first `completed` or look at `count`: work refused or done before
    that needs none. On leaving, a cluster that was started here ends.

    Args:
        address: as in `cluster.connected`.
        count: the most pieces that are done at the same time; None is the cores of the cluster, of one that grows, too.

    Raises:
        ValueError: a count below 1.
        ClusterError: by the first `completed` or look at `count`, see `cluster.connected`; so is an `ImportError`.
    """

    def __init__(self, address: str = LOCAL, count: int | None = None) -> None:
        if count is not None and count < 1:
            raise InputError("count", "at least 1 worker", count)
        self.address, self._most = address, count
        self._inside = False
        self._ray: Any = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._inside = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inside, self._ray = False, None
        self._stack.close()

    @property
    def count(self) -> int:
        """Return the cores of the cluster, and no more than were asked for; they change as machines come and go."""
        cores = max(1, int(self._cluster.cluster_resources().get("CPU", 0)))
        return cores if self._most is None else min(cores, self._most)

    @property
    def _cluster(self) -> Any:
        """Return Ray; connect if this is the first use."""
        if not self._inside:
            raise RuntimeError("workers must be used in a with statement: with RayWorkers() as workers: ...")
        if self._ray is None:
            cores = None if self._most is None else min(self._most, os.cpu_count() or 1)
            self._ray = self._stack.enter_context(connected(self.address, cores))
        return self._ray

    def completed(self, work: Work[T, R], items: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Have pieces done; see `Workers`.

        Raises:
            ClusterError: work or a piece cannot be pickled, too.
        """
        if not (left := deque(items)):
            return
        ray = self._cluster
        task = ray.remote(num_cpus=1, max_retries=_DEATHS - 1)(_do_piece)
        shared = ray.put((Place.here(), _pickled("work", work)))
        running, failed = dict[Any, T](), list[ClusterError]()
        try:
            while running or (left and not failed):
                while left and not failed and len(running) < self._room:
                    item = left.popleft()
                    running[task.remote([shared], str(item), _pickled("piece", item))] = item
                # Not for ever: on some systems a wait without an end cannot be stopped, and workers may come.
                for reference in ray.wait([*running], timeout=_LOOK_S)[0]:
                    item = running.pop(reference)
                    try:
                        result = unpacked(ray.get(reference))
                    except Exception as fault:
                        failed.append(_error(ray, str(item), fault))
                    else:
                        yield item, result
        finally:
            for reference in running:
                ray.cancel(reference, force=True)
        if failed:
            raise failed[0]

    @property
    def _room(self) -> int:
        """Number of pieces that the cluster gets at the same time; those that wait may not take the place of others."""
        return self.count + (_AHEAD if self._most is None else 0)


def _error(ray: Any, name: str, fault: Exception) -> ClusterError:
    """Return the error of a piece from what Ray has raised."""
    if isinstance(fault, ray.exceptions.RayTaskError):
        error = fault.cause if isinstance(fault.cause, ClusterError) else ClusterError(f"{name}: {fault.cause}")
    else:  # Ray's own: a worker died, was cancelled, or could not even start
        said = " ".join(str(fault).split())[:_MOST_SAID]
        error = ClusterError(
            f"{name} could not be done: {_DEATHS} workers died at it, or the cluster was lost "
            f"({type(fault).__name__}: {said}); is there enough memory, does an agent end its process, and is the "
            "same cellgames installed on every machine? What is finished is kept, run the command again"
        )
    error.__cause__ = fault
    return error


def _pickled(what: str, thing: Any) -> bytes:
    try:
        return packed(thing)
    except Exception as error:  # whatever its parts raise
        raise ClusterError(
            f"the {what} {thing!s:.80} cannot be sent to workers: {type(error).__name__}: {error}"
        ) from error


def _do_piece(work: list[Any], name: str, item: bytes) -> bytes:
    """Do a piece in a worker and return its result, pickled; `work` is its reference in the cluster."""
    try:
        return packed(_started(work[0])(unpacked(item)))
    except ClusterError:
        raise
    except (Exception, SystemExit) as error:  # a piece may not end its worker
        said = " ".join(str(error).split())
        mistake = said and isinstance(error, ValueError)  # of the user; it goes without its type
        line = said if mistake else f"{type(error).__name__}: {said}".removesuffix(": ")
        raise ClusterError(f"{name} failed on {platform.node()}: {line[:_MOST_SAID]}") from error


@lru_cache(maxsize=4)
def _started(reference: Any) -> Callable[[Any], Any]:
    """Return the function that does the pieces of a work, which starts with its first piece in this worker."""
    place, work = load_ray().get(reference)
    place.enter()
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")  # Ray sets these only where nobody has
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    do: Callable[[Any], Any] = unpacked(work).start()
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)
    return do

"""Workers of a Ray cluster, each a process with one core: this machine's, or those of many machines.

    with RayWorkers() as workers:                        # starts a cluster on this machine when there is work
        round_robin(game, agents, out="run", workers=workers)
                                                         # and has ended it here

If a worker dies, by a signal or for want of memory, Ray starts its piece again in another one. A worker with other
versions is refused (`connection.Build`), since its results might differ.

Importing this imports neither Ray nor torch.
"""

from __future__ import annotations

import os
import pickle
import platform
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from .connection import (
    LOCAL,
    Build,
    ClusterError,
    Place,
    build,
    connected,
    load_ray,
    packed,
    refuse_other_build,
    unpacked,
)
from .workers import Work

__all__ = ["RayWorkers", "workers_at"]

T = TypeVar("T")
R = TypeVar("R")

_DEATHS = 4  # workers that may die at one piece before it is given up
_KEPT = 4  # works that are kept ready, by the process that gives them and by each worker
_MOST_PIECES = 1000  # in the cluster at the same time
_MOST_SAID = 500  # characters of an error
_MOST_WARNINGS = 20  # of a piece

_ready = dict[str, Callable[[Any], Any]]()  # what works of this worker gave, by the number of their object


def _do_piece(versions: Build, place: Place, work: list[Any], name: str, item: bytes) -> tuple[bytes, list[Any]]:
    """Do a piece in a worker; return its result, pickled, and what `warnings.warn_explicit` takes.

    Args:
        versions: those of the process that gives the work.
        place: its folders.
        work: the reference of the pickled work.
        name: the name of the piece in messages.
        item: the piece, pickled.
    """
    try:
        refuse_other_build(versions)
        place.enter()
        os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")  # Ray sets these only where nobody has
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            result = pickle.dumps(_started(work[0])(unpacked(item)), protocol=5)
        kinds = [next(kind for kind in one.category.__mro__ if kind.__module__ == "builtins") for one in warned]
        told = {
            (str(one.message), kind, one.filename, one.lineno): None for one, kind in zip(warned, kinds, strict=True)
        }
        return result, [*told][:_MOST_WARNINGS]
    except ClusterError:
        raise
    except (Exception, SystemExit) as error:  # a piece may not end its worker
        said = " ".join(str(error).split())
        mistake = said and isinstance(error, ValueError)  # of the user; it goes without its type
        line = said if mistake else f"{type(error).__name__}: {said}".removesuffix(": ")
        raise ClusterError(f"{name} failed on {platform.node()}: {line[:_MOST_SAID]}") from error


def _started(reference: Any) -> Callable[[Any], Any]:
    """Return the function that does the pieces of a work; start the work if this is its first piece here."""
    if (number := reference.hex()) not in _ready:
        _ready[number] = unpacked(load_ray().get(reference)).start()
        if (torch := sys.modules.get("torch")) is not None:
            torch.set_num_threads(1)
        if len(_ready) > _KEPT:
            del _ready[next(iter(_ready))]
    return _ready[number]


class _Piece(Future[R], Generic[R]):
    """The future of a piece, which can be cancelled while it runs."""

    def __init__(self, task: Callable[[], Any], stop: Callable[[Any], None]) -> None:
        super().__init__()
        self._task, self._stop, self._reference = task, stop, None

    def submit(self) -> Any:
        """Hand the piece to the cluster, unless it has been cancelled; return Ray's reference or None."""
        if not self.cancelled():
            self._reference = self._task()
            if self.cancelled():  # meanwhile
                self._stop(self._reference)
        return self._reference

    def cancel(self) -> bool:
        """See `Future`; a piece is stopped in the middle, too."""
        if (done := super().cancel()) and self._reference is not None:
            self._stop(self._reference)
        return done


class RayWorkers:
    """Workers of a Ray cluster; a context manager, and a `workers.Workers` inside.

    The cluster is joined or started inside, by the first `submit` or look at `count`: work refused or done before
    that needs none. On leaving, what is not finished is cancelled, and a cluster that was started here ends.

    Args:
        address: as in `cluster.connected`.
        count: the most pieces that are done at the same time; None is the cores of the cluster, of one that grows, too.
        warn: gets a line if the cluster that is joined has no core free; by default a `RuntimeWarning`.

    Raises:
        ValueError: a count below 1.
        ClusterError: by the first `submit` or look at `count`, see `cluster.connected`; so is an `ImportError`.
    """

    def __init__(
        self, address: str = LOCAL, count: int | None = None, *, warn: Callable[[str], None] | None = None
    ) -> None:
        if count is not None and count < 1:
            raise ValueError(f"expected at least 1 worker, got {count}")
        self.address = address
        self._most = count
        self._warn = warn if warn is not None else partial(warnings.warn, category=RuntimeWarning, stacklevel=2)
        self._inside = False
        self._stack = ExitStack()
        self._ray: Any = None
        self._warned = set[Any]()
        self._sent = list[tuple[Any, Place, Any]]()  # works, their folders and references, the newest last
        self._pieces = set[_Piece[Any]]()

    def __enter__(self) -> Self:
        self._inside = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inside, self._ray = False, None
        for piece in [*self._pieces]:
            piece.cancel()
        self._sent.clear()
        self._stack.close()

    @property
    def count(self) -> int:
        """See `workers.Workers`: the cores of the cluster, and no more than were asked for."""
        cores = max(1, int(self._cluster.cluster_resources().get("CPU", 0)))
        return cores if self._most is None else min(cores, self._most)

    @property
    def _cluster(self) -> Any:
        """Return Ray; connect if this is the first use."""
        if not self._inside:
            raise RuntimeError("workers must be used in a with statement: with RayWorkers() as workers: ...")
        if self._ray is None:
            cores = None if self._most is None else min(self._most, os.cpu_count() or 1)
            self._ray = ray = self._stack.enter_context(connected(self.address, cores))
            # A thread waits for each piece that the cluster has.
            self._threads = self._stack.enter_context(ThreadPoolExecutor(self._most or _MOST_PIECES, "ray-workers"))
            self._task = ray.remote(num_cpus=1, max_retries=_DEATHS - 1)(_do_piece)
            if self.address != LOCAL and int(ray.available_resources().get("CPU", 0)) < 1:
                cores = int(ray.cluster_resources().get("CPU", 0))
                self._warn(f"the cluster at {self.address} has 0 of {cores} cores free; waiting")
        return self._ray

    def submit(self, work: Work[T, R], item: T) -> Future[R]:
        """See `workers.Workers`.

        Raises:
            ClusterError: work or piece cannot be pickled.
        """
        ray = self._cluster
        place, reference = self._there(work)
        arguments = (build(), place, [reference], str(item), _pickled("piece", item))
        piece = _Piece[R](partial(self._task.remote, *arguments), partial(ray.cancel, force=True))
        self._pieces.add(piece)
        piece.add_done_callback(self._pieces.discard)
        self._threads.submit(self._wait, ray, piece, str(item))
        return piece

    def _there(self, work: Any) -> tuple[Place, Any]:
        """Return the folders of this process and the reference of a work in the cluster; put it there if it is new."""
        for sent, place, reference in self._sent:
            if sent is work:
                return place, reference
        self._sent.append((work, Place.here(), self._cluster.put(_pickled("work", work))))
        del self._sent[:-_KEPT]
        return self._sent[-1][1:]

    def _wait(self, ray: Any, piece: _Piece[Any], name: str) -> None:
        """Have a piece done, and pass on its result or an error."""
        kinds, result, error = ray.exceptions, None, None
        try:
            if (reference := piece.submit()) is None:
                piece.set_running_or_notify_cancel()
                return
            data, warned = ray.get(reference)
            for one in warned:
                if one not in self._warned:
                    self._warned.add(one)
                    warnings.warn_explicit(*one)
            result = pickle.loads(data)
        except kinds.RayTaskError as fault:
            error = fault.cause if isinstance(fault.cause, ClusterError) else ClusterError(f"{name}: {fault.cause}")
            error.__cause__ = fault
        except Exception as fault:  # Ray's own: a worker died, was cancelled, or could not even start
            error = _why(kinds, name, fault)
            error.__cause__ = fault
        if piece.set_running_or_notify_cancel():
            if error is not None:
                piece.set_exception(error)
            else:
                piece.set_result(result)


def _why(kinds: Any, name: str, fault: Exception) -> ClusterError:
    """Return the error for a piece of which no worker gave an answer; `kinds` are Ray's exceptions."""
    if isinstance(fault, kinds.LocalRayletDiedError | kinds.NodeDiedError | kinds.ObjectLostError):
        return ClusterError("the connection to the cluster was lost; what is finished is kept, run the command again")
    if isinstance(fault, kinds.WorkerCrashedError):
        return ClusterError(
            f"{name}: {_DEATHS} workers died at it, one after the other; was there too little memory, or does an agent "
            "end its process?"
        )
    said = " ".join(str(fault).split())[:_MOST_SAID]
    return ClusterError(
        f"{name} could not be done ({type(fault).__name__}: {said}); is there enough memory, and is the same cellgames "
        "installed on every machine of the cluster?"
    )


def _pickled(what: str, thing: Any) -> bytes:
    try:
        return packed(thing)
    except Exception as error:  # whatever its parts raise
        raise ClusterError(
            f"the {what} {thing!s:.80} cannot be sent to workers: {type(error).__name__}: {error}"
        ) from error


@contextmanager
def workers_at(
    address: str | None, count: int | None = None, *, warn: Callable[[str], None] | None = None
) -> Iterator[RayWorkers | None]:
    """Yield `RayWorkers` of an address, or None without one."""
    if address is None:
        yield None
        return
    with RayWorkers(address, count, warn=warn) as workers:
        yield workers

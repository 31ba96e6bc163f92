"""Workers of a Ray cluster, each a process with one core: this machine's, or those of many machines.

    with RayWorkers() as workers:                        # starts a cluster on this machine when there is work
        round_robin(game, agents, out="run", workers=workers)
                                                         # and has ended it here

If a worker dies, by a signal or for want of memory, another one starts its piece again. A worker with other versions is
refused (`connection.Build`), since its results might differ.

Importing this imports neither Ray nor torch.
"""

from __future__ import annotations

import os
import pickle
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from threading import RLock, Timer
from types import TracebackType
from typing import Any, Generic, NamedTuple, Self, TypeVar

from .connection import LOCAL, ClusterError, Place, build, connected, packed
from .ray_tasks import DEATHS, KEPT, LOST, MOST_SAID, Answer, Caution, do_piece
from .workers import Work

__all__ = ["RayWorkers", "WorkersDiedError", "workers_at"]

T = TypeVar("T")
R = TypeVar("R")

_COUNTED_S = 1.0  # for which a count of cores holds
_PATIENCE_S = 10.0  # with a cluster on which no core was free


class WorkersDiedError(ClusterError):
    """A piece of work at which all its workers died."""


class _Work(NamedTuple):
    """A work, its reference in the cluster's memory, and the folders of this process when it was sent."""

    work: Any
    reference: Any
    place: Place


class _RemoteError(Exception):
    """The traceback of a piece that failed in its worker."""


class _Piece(Future[R], Generic[R]):
    """The future of a piece, which can be cancelled while it runs; `result` repeats the piece's warnings here."""

    def __init__(self, name: str, arguments: tuple[Any, ...], drop: Callable[[_Piece[Any]], None]) -> None:
        super().__init__()
        self.name, self.arguments = name, arguments
        self.warned: list[Caution] = []
        self._drop = drop

    def cancel(self) -> bool:
        """See `Future`; a piece is stopped in the middle, too."""
        done = super().cancel()
        if done:
            self._drop(self)
        return done

    def result(self, timeout: float | None = None) -> R:
        """See `Future`."""
        result = super().result(timeout)
        for one in self.warned:
            warnings.warn_explicit(*one)
        return result


class RayWorkers:
    """Workers of a Ray cluster; a context manager, and a `workers.Workers` inside.

    The cluster is joined or started inside, by the first `submit` or look at `count`: work refused or done before
    that needs none. On leaving, what is not finished is cancelled, and a cluster that was started here ends.

    Args:
        address: as in `cluster.connected`.
        count: the most pieces that are done at the same time; None is the cores of the cluster, of one that grows, too.
        cpus: cores that a piece takes.
        gpus: GPUs that a piece takes; may be a fraction.
        warn: gets a line if the cluster has no core free for long; by default a `RuntimeWarning`.

    Raises:
        ValueError: a count below 1.
        ClusterError: by the first `submit` or look at `count`, see `cluster.connected`; so is an `ImportError`.
    """

    def __init__(
        self,
        address: str = LOCAL,
        count: int | None = None,
        *,
        cpus: int = 1,
        gpus: float = 0,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        if count is not None and count < 1:
            raise ValueError(f"expected at least 1 worker, got {count}")
        self.address = address
        self._most = count
        self._needs = {"CPU": cpus, **({"GPU": gpus} if gpus else {})}
        self._warn = warn if warn is not None else partial(warnings.warn, category=RuntimeWarning, stacklevel=2)
        self._inside = False
        self._stack = ExitStack()
        self._lock = RLock()
        self._ray: Any = None
        self._counted = (0.0, 0)  # when, and how many cores
        self._warned: set[Caution] = set()
        self._sent: list[_Work] = []  # the newest last
        self._waiting: deque[_Piece[Any]] = deque()
        self._running: dict[_Piece[Any], Any] = {}

    def __enter__(self) -> Self:
        self._inside = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside = False
            left = [*self._waiting, *self._running]
            self._waiting.clear()
        for piece in left:
            piece.cancel()
        if self._ray is not None:
            self._timer.cancel()
            self._desk.shutdown(wait=False, cancel_futures=True)
        self._sent.clear()
        self._ray = None
        self._stack.close()

    @property
    def count(self) -> int:
        """See `workers.Workers`: the cores of the cluster, and no more than were asked for."""
        now = time.monotonic()
        at, cores = self._counted
        if not cores or now - at > _COUNTED_S:
            there = self._cluster.cluster_resources()
            cores = max(1, min(int(there.get(name, 0) / amount) for name, amount in self._needs.items()))
            self._counted = now, cores
        return cores if self._most is None else min(cores, self._most)

    @property
    def _cluster(self) -> Any:
        """Return Ray; connect if this is the first use."""
        if not self._inside:
            raise RuntimeError("workers must be used in a with statement: with RayWorkers() as workers: ...")
        if self._ray is None:
            cpus, gpus = self._needs["CPU"], self._needs.get("GPU", 0)
            cores = None if self._most is None else min(self._most * int(cpus), os.cpu_count() or 1)
            ray = self._stack.enter_context(connected(self.address, cores))
            # Ray's own threads must not be held up by what is done when a piece arrives.
            self._desk = ThreadPoolExecutor(1, "ray-workers")
            self._task = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=DEATHS - 1)(do_piece)
            self._versions = vars(build())
            self._timer = Timer(_PATIENCE_S, self._look)
            self._timer.daemon = True
            if _free(ray) < cpus:
                self._timer.start()
            self._ray = ray
        return self._ray

    def _look(self) -> None:
        """Say so if the cluster had no free core, still has none, and nothing has arrived yet."""
        with suppress(Exception):  # a cluster that is gone: whoever waits for a piece hears of it
            ray = self._cluster
            if (free := _free(ray)) < self._needs["CPU"]:
                cores = int(ray.cluster_resources().get("CPU", 0))
                where = "on this machine" if self.address == LOCAL else f"at {self.address}"
                self._warn(f"the cluster {where} has {free} of {cores} cores free; waiting")

    def submit(self, work: Work[T, R], item: T) -> Future[R]:
        """See `workers.Workers`.

        Raises:
            ClusterError: work or piece cannot be pickled.
        """
        sent = self._there(work)
        arguments = (self._versions, sent.place, sent.reference.hex(), [sent.reference], _pickled("piece", item))
        piece = _Piece[R](str(item), arguments, self._drop)
        with self._lock:
            self._waiting.append(piece)
        self._start()
        return piece

    def _there(self, work: Any) -> _Work:
        """Return a work in the cluster's memory; put it there if it is new."""
        for sent in self._sent:
            if sent.work is work:
                return sent
        self._sent.append(_Work(work, self._cluster.put(_pickled("work", work)), Place.here()))
        del self._sent[:-KEPT]
        return self._sent[-1]

    def _start(self) -> None:
        """Hand pieces that wait to the cluster, which keeps those that it has no core for."""
        with self._lock:
            while self._waiting and self._room():
                piece = self._waiting.popleft()
                self._running[piece] = reference = self._task.remote(*piece.arguments)
                reference.future().add_done_callback(partial(self._on_arrival, piece))

    def _room(self) -> bool:
        """Return True if the cluster may get one more piece: any number if `count` does not limit its cores."""
        return self._most is None or 0 < self._counted[1] <= self._most or len(self._running) < self._most

    def _on_arrival(self, piece: _Piece[Any], future: Future[Answer]) -> None:
        with suppress(RuntimeError):  # these workers have been left meanwhile
            self._desk.submit(self._arrived, piece, future)

    def _arrived(self, piece: _Piece[Any], future: Future[Answer]) -> None:
        """Pass on a result or an error, and start what waits."""
        self._timer.cancel()
        with self._lock:
            self._running.pop(piece, None)
            if self._ray is not None:
                self._start()
        try:
            result, error = self._taken(piece, future.result()), None
        except ClusterError as fault:
            result, error = None, fault
        except Exception as fault:  # Ray's own: a worker died, was cancelled, or could not even start
            result, error = None, self._why(piece, fault)
            error.__cause__ = fault
        if not piece.set_running_or_notify_cancel():
            return
        if error is not None:
            piece.set_exception(error)
        else:
            piece.set_result(result)

    def _taken(self, piece: _Piece[R], answer: Answer) -> R:
        """Return the result, with the warnings that are new.

        Raises:
            ClusterError: the piece failed.
        """
        piece.warned = [one for one in answer.warned if one not in self._warned]
        self._warned.update(answer.warned)
        if answer.result is not None:
            result: R = pickle.loads(answer.result)
            return result
        message = answer.error if answer.refused else f"{piece.name} failed on {answer.machine}: {answer.error}"
        raise ClusterError(message) from _RemoteError(f"\n{answer.trace}")

    def _why(self, piece: _Piece[Any], fault: Exception) -> ClusterError:
        """Return the error for a piece of which no worker gave an answer."""
        kinds = self._ray.exceptions if self._ray is not None else None
        if kinds is not None and isinstance(
            fault, kinds.LocalRayletDiedError | kinds.NodeDiedError | kinds.ObjectLostError
        ):
            return ClusterError(LOST)
        if kinds is not None and isinstance(fault, kinds.WorkerCrashedError):
            return WorkersDiedError(
                f"{piece.name}: {DEATHS} workers died at it, one after the other; was there too little memory, or "
                "does an agent end its process?"
            )
        said = " ".join(str(fault).split())[:MOST_SAID]
        if kinds is not None and isinstance(fault, kinds.OutOfMemoryError):
            return WorkersDiedError(f"{piece.name}: its workers were stopped for want of memory: {said}")
        return ClusterError(
            f"{piece.name} could not be done ({type(fault).__name__}: {said}); is the same cellgames installed on "
            "every machine of the cluster?"
        )

    def _drop(self, piece: _Piece[Any]) -> None:
        """Stop a piece that was cancelled."""
        with self._lock:
            reference = self._running.pop(piece, None)
            if piece in self._waiting:
                self._waiting.remove(piece)
            if reference is not None and self._ray is not None:
                self._ray.cancel(reference, force=True)
                self._start()


def _pickled(what: str, thing: Any) -> bytes:
    try:
        return packed(thing)
    except Exception as error:  # whatever its parts raise
        raise ClusterError(
            f"the {what} {thing!s:.80} cannot be sent to workers: {type(error).__name__}: {error}"
        ) from error


def _free(ray: Any) -> int:
    """Return the number of free cores of the cluster."""
    return int(ray.available_resources().get("CPU", 0))


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

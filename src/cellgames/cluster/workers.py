"""Protocols of work and of workers, and the loop that has pieces of work done.

`Workers` is what arena and training know of them; `ray_workers` has those of a Ray cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Protocol, TypeVar

__all__ = ["Work", "Workers", "completed"]

_END: Any = object()

T = TypeVar("T")
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

_LOOK_S = 1.0  # between looks at how many workers there are


class Work(Protocol[T_contra, R_co]):
    """The common part of pieces of work; it is pickled and sent to each worker, so it should be small."""

    def start(self) -> Callable[[T_contra], R_co]:
        """Get ready, such as load agents; called once in each worker. Gives what does a piece."""


class Workers(Protocol):
    """Workers that do pieces of work, in any order and any process. A piece has the same result everywhere."""

    @property
    def count(self) -> int:
        """Return the number of pieces that are done at the same time; it may change as machines come and go."""

    def submit(self, work: Work[T, R], item: T) -> Future[R]:
        """Have a piece done.

        Args:
            work: the same object for all its pieces, so that it travels once.
            item: the piece; its text (`str`) names it in messages.

        Returns:
            The future raises what the piece raised as a `cluster.ClusterError`, and one too when workers died of it
            again and again. A worker that dies otherwise is no error: the piece is done by another one. To cancel it
            stops the piece, also in the middle.
        """


def completed(workers: Workers, work: Work[T, R], items: Iterable[T], *, ahead: int = 2) -> Iterator[tuple[T, R]]:
    """Have pieces done; each with its result as soon as that is there, in whatever order.

    When a piece fails, no more are started, those under way are waited for, and then its error is raised. Whoever stops
    before the end, as on Ctrl-C, cancels what is under way.

    Args:
        workers: who does them.
        work: what they have in common.
        items: taken as workers become free.
        ahead: pieces that wait beside those in progress, so that no worker waits for this process.

    Raises:
        ClusterError: a piece failed, the first of them.
    """
    left, running, failed = iter(items), dict[Future[R], T](), list[BaseException]()
    item = next(left, _END)
    try:
        while running or (item is not _END and not failed):
            while item is not _END and not failed and len(running) < workers.count + ahead:
                running[workers.submit(work, item)] = item
                item = next(left, _END)
            # Not for ever: on some systems a wait without an end cannot be stopped, and there may be more workers soon.
            for future in wait(running, timeout=_LOOK_S, return_when=FIRST_COMPLETED).done:
                done = running.pop(future)
                try:
                    result = future.result()
                except Exception as error:
                    failed.append(error)
                else:
                    yield done, result
    finally:
        for future in running:
            future.cancel()
    if failed:
        raise failed[0]

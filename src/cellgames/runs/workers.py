"""Work on many cores: processes of this machine, or another executor of `concurrent.futures`.

    with processes(8) as workers:
        round_robin(game, agents, options, out="run", workers=workers)

Importing this does not import torch.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from functools import lru_cache
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from cellgames.utils.errors import InputError, check_whole

from .run_folder import hidden, run_folder

__all__ = ["WorkerError", "completed", "processes"]

T = TypeVar("T")
R = TypeVar("R")


class WorkerError(InputError):
    """A worker that ended in the middle of its work, or work that cannot be sent to one."""


@contextmanager
def processes(count: int) -> Iterator[ProcessPoolExecutor]:
    """Yield an executor of processes on this machine, with one thread of torch each.

    They start when there is work, and end with the block; after an error, such as Ctrl-C, in the middle of their work.
    A script that calls this needs `if __name__ == "__main__":`, because each process imports it.

    Raises:
        ValueError: a count below 1.
        WorkerError: from the block, for the error of the executor that a worker has ended.
    """
    check_whole("count", count, 1)
    context = get_context("spawn")  # processes that are forked from one with threads may hang
    reader, writer = context.Pipe(duplex=False)
    executor = ProcessPoolExecutor(count, context, _begin, (reader,))
    try:
        yield executor
        executor.shutdown()
    except BrokenExecutor as error:
        why = "was it killed, is there enough memory, does an agent end its process?"
        cause = f"a worker ended in the middle of its work: {why} The same command goes on from there"
        raise WorkerError(cause=cause) from error
    finally:
        writer.close()
        executor.shutdown(cancel_futures=True)
        reader.close()


def _begin(reader: Connection) -> None:
    """Prepare a worker, which ends when the other end of the pipe does: it is closed, or its process was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that gives work
    threading.Thread(target=_end_with, args=(reader,), daemon=True).start()
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OMP_WAIT_POLICY="passive")
    import torch

    torch.set_num_threads(1)


def _end_with(reader: Connection) -> None:
    with suppress(EOFError, OSError):
        reader.recv()
    os._exit(1)


def packed(value: Any) -> bytes:
    """Pickle a value for workers.

    Raises:
        WorkerError: a part of it cannot be pickled.
    """
    try:
        return pickle.dumps(value)
    except Exception as error:  # whatever its parts raise
        got, cause = f"{type(error).__name__}: {error}", "give agents by their specs, such as my_bots:MyBot"
        raise WorkerError("workers", "a run that can be sent to them", got, cause) from error


def completed(workers: Executor, work: Callable[[T], R], pieces: Iterable[T]) -> Iterator[tuple[T, R]]:
    """Have pieces of work done; yield each with its result as soon as that is there, in any order.

    When a piece fails, no more are started, those under way are waited for, and then its error is raised.

    Args:
        workers: executor whose processes have this folder and this package.
        work: does a piece; pickled, as the pieces are, and unpickled once in each worker.
        pieces: their results may not depend on the process.
    """
    shared, failed = pickle.dumps((os.getcwd(), run_folder(), packed(work))), list[Exception]()
    futures = dict[Future[R], T]()
    try:
        for piece in pieces:
            futures[workers.submit(_do, shared, piece)] = piece
        for future in as_completed([*futures]):
            piece = futures.pop(future)
            if future.cancelled():
                continue
            try:
                result = future.result()
            except Exception as error:
                failed.append(error)
                for other in futures:
                    other.cancel()
            else:
                yield piece, result
    finally:
        for future in futures:
            future.cancel()
    if failed:
        raise failed[0]


def _do(shared: bytes, piece: Any) -> Any:
    """Do a piece in a worker."""
    try:
        return _unpacked(shared)(piece)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # of an error that cannot travel
            raise RuntimeError(f"{type(error).__name__}: {error}") from error
        raise


@lru_cache(maxsize=4)
def _unpacked(shared: bytes) -> Callable[[Any], Any]:
    """Return the function that does pieces of a work, in the folder of the process that asks."""
    folder, run, work = pickle.loads(shared)
    with suppress(OSError):  # a machine without the folder
        os.chdir(folder)
    if run is not None:
        hidden.add(Path(folder, run))
    do: Callable[[Any], Any] = pickle.loads(work)
    return do

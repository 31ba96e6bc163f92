"""Limits on the time of calls of code that may not return, such as an agent's.

`time_limit` sets a limit for a block, and `limited` calls a function within it: when the time is over, an
`OutOfTimeError` is raised in that function, and nowhere else. So the code around it is never interrupted.

In the main thread, on systems with interval timers (Linux, macOS), a signal interrupts also what waits, such as
`time.sleep`. In other threads and on Windows, a second thread asks the interpreter to raise the error, which it does
between two steps of Python code. Code in C that does not return cannot be interrupted.
"""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

__all__ = ["OutOfTimeError", "limited", "time_limit"]

T = TypeVar("T")

_AGAIN_S = 0.5  # after which the error is raised again, where something has swallowed it


class OutOfTimeError(BaseException):
    """A call that used up its time. It is no `Exception`, so code that catches those does not catch it."""


@dataclass(frozen=True)
class _Limit:
    """A limit of a thread.

    Attributes:
        end: of the clock.
        clock: returns seconds.
        message: of the error.
    """

    end: float
    clock: Callable[[], float]
    message: str

    def left(self) -> float:
        return self.end - self.clock()


_LIMITS: ContextVar[tuple[_Limit, ...]] = ContextVar("time limits of this thread", default=())


@contextmanager
def time_limit(seconds: float, message: str, *, processor_time: bool = False) -> Iterator[None]:
    """Set a limit for the functions that `limited` calls in the block, besides those around it.

    Args:
        seconds: from now; infinity for no limit.
        message: of the `OutOfTimeError`.
        processor_time: True to count the processor time of this thread, on systems that tell it (Linux); others count
            all time.
    """
    clock = _processor_clock() if processor_time else time.monotonic
    limits = _LIMITS.get()
    if seconds < threading.TIMEOUT_MAX:
        limits = (*limits, _Limit(clock() + seconds, clock, message))
    token = _LIMITS.set(limits)
    try:
        yield
    finally:
        _LIMITS.reset(token)


def limited(function: Callable[[], T]) -> T:
    """Return what a function returns, or interrupt it at the first of the limits of the blocks around this call.

    Raises:
        OutOfTimeError: the time is over.
    """
    limits = _LIMITS.get()
    if not limits:
        return function()
    wall = [limit for limit in limits if limit.clock is time.monotonic]
    for limit in [limit for limit in limits if limit not in wall]:
        function = partial(_within, limit, function)
    return _within(min(wall, key=_Limit.left), function) if wall else function()


def _within(limit: _Limit, function: Callable[[], T]) -> T:
    alarm: _Alarm = _Signal(limit) if _has_signals() and limit.clock is time.monotonic else _Watcher(limit)
    try:
        alarm.start()
        try:
            return function()
        finally:
            alarm.stop()
    except OutOfTimeError as error:
        alarm.stop()  # the error may have come before the first stop was done
        if alarm.rang:
            error.args = (limit.message,)
        raise


class _Alarm(Protocol):
    """A timer that raises an error in this thread from the end of the time on; stopping it twice changes nothing."""

    rang: bool

    def start(self) -> None: ...

    def stop(self) -> None: ...


class _Signal:
    """An interval timer whose signal raises the error; in the main thread."""

    def __init__(self, limit: _Limit) -> None:
        self._limit, self._active, self.rang = limit, True, False
        self._handler: Any = None
        self._timer = (0.0, 0.0)
        self._since = time.monotonic()

    def start(self) -> None:
        self._handler = signal.signal(signal.SIGALRM, self._ring)
        self._timer = signal.setitimer(signal.ITIMER_REAL, max(self._limit.left(), 1e-6), _AGAIN_S)

    def stop(self) -> None:
        self._active = False
        if self._handler is None:
            return
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, self._handler)
        seconds, interval = self._timer
        if seconds:  # somebody else's timer, which goes on
            signal.setitimer(signal.ITIMER_REAL, max(seconds - (time.monotonic() - self._since), 1e-6), interval)

    def _ring(self, number: int, frame: Any) -> None:
        if self._active:
            self.rang = True
            raise OutOfTimeError


class _Watcher:
    """A thread that has the error raised in the one that made this."""

    def __init__(self, limit: _Limit) -> None:
        self._limit, self._active, self.rang = limit, True, False
        self._asked = False  # for an error that may not have come yet
        self._watched = threading.get_ident()
        self._lock, self._stopped = threading.Lock(), threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._watch, daemon=True, name="time limit").start()

    def stop(self) -> None:
        self._active = False
        self._stopped.set()
        with self._lock:
            if not self._asked:
                return
        # An error that has not come is replaced by another, which comes here. Were it only taken back, Python 3.11 and
        # 3.12 would look for it ever after, which slows all threads, and stops those that have a profiler.
        try:
            _raise_in(self._watched, _LastError)
            while True:
                pass
        except _LastError:
            self._asked = False

    def _watch(self) -> None:
        wait = self._limit.left()
        while not self._stopped.wait(max(wait, 0.001)):
            with self._lock:
                if not self._active:
                    return
                wait = self._limit.left()
                if wait <= 0:
                    self.rang = self._asked = True
                    _raise_in(self._watched, OutOfTimeError)
                    wait = _AGAIN_S


class _LastError(OutOfTimeError):
    """An error that ends a watcher."""


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Have an error raised in a thread before its next step of Python code."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def _has_signals() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def _processor_clock() -> Callable[[], float]:
    """Return a clock of the processor time of this thread that every thread can read."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic
    id = time.pthread_getcpuclockid(threading.get_ident())
    return lambda: time.clock_gettime(id)

"""A limit of the processor time of a thread: no visitor's choice of board and search keeps a core busy."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

MOVE_S = 10.0
"""Most seconds of processor time that agents have for the move of a seat."""


class OutOfTimeError(BaseException):
    """A call that used up its time. It is no `Exception`, so code that catches those does not catch it."""


def limited(seconds: float, function: Callable[[], T]) -> T:
    """Return the result of a function, which is interrupted between two steps of Python code when its time is over.

    Args:
        seconds: seconds of processor time of this thread, or of all time on systems that do not tell it (not Linux).
        function: to call.

    Raises:
        OutOfTimeError: the time is over.
    """
    thread, clock, done, lock = threading.get_ident(), _clock(), threading.Event(), threading.Lock()
    end, asked = clock() + seconds, threading.Event()

    def watch() -> None:
        while not done.wait(max(end - clock(), 0.001)):
            with lock:
                if not done.is_set() and clock() >= end:
                    asked.set()
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(OutOfTimeError))
                    return

    threading.Thread(target=watch, daemon=True, name="work limit").start()
    failure, result = None, None
    try:
        result = function()
    except Exception as error:
        failure = error
    with lock:
        done.set()
    until = time.monotonic() + 1.0
    while asked.is_set() and time.monotonic() < until:  # the error is on its way, and comes here
        pass
    if asked.is_set():  # somebody has swallowed it
        raise OutOfTimeError
    if failure is not None:
        raise failure
    return result  # type: ignore[return-value]  # of a function that has not failed


def _clock() -> Callable[[], float]:
    """Return a clock of the processor time of this thread that every thread can read."""
    if not hasattr(time, "pthread_getcpuclockid"):
        return time.monotonic
    id = time.pthread_getcpuclockid(threading.get_ident())
    return lambda: time.clock_gettime(id)

"""Ctrl-C and SIGTERM in a run: the first signal lets the run write a checkpoint, the second one ends it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")


class Stopped(KeyboardInterrupt):
    """The end of a run by a signal, after it has written a checkpoint of all its steps.

    Attributes:
        steps: actions learned from, all of which are kept.
        exact: True if the games in progress are kept, too, so that the run goes on as if it had not been stopped.
        signal: number of the signal.
    """

    def __init__(self, steps: int, *, exact: bool, signal: int) -> None:
        super().__init__(f"stopped after {steps} steps")
        self.steps, self.exact, self.signal = steps, exact, signal


class Interrupts:
    """A context in which SIGINT (Ctrl-C) and SIGTERM set `received`, 0 before, instead of ending the program at once.

    The function gets the number of the first signal, when it comes; a second one raises `KeyboardInterrupt`. Handlers
    other than Python's own stay, and so do all outside the main thread.
    """

    def __init__(self, tell: Callable[[int], None]) -> None:
        self._tell = tell
        self._before: dict[int, Any] = {}
        self._breaks = False
        self.received = 0

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            usual = (signal.default_int_handler, signal.SIG_DFL)
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) in usual:
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def unless_interrupted(self, function: Callable[[], T]) -> T | None:
        """Return the result of a function whose work may be thrown away; None if a signal has come before its end."""
        found: T | None = None
        try:
            self._breaks = True
            if not self.received:
                found = function()
            self._breaks = False
        except KeyboardInterrupt:
            if self._breaks:  # it was not a signal of ours: the function raised it
                self._breaks = False
                raise
            return None
        return found

    def _handle(self, number: int, frame: Any) -> None:
        if self.received:
            raise KeyboardInterrupt
        self.received = number
        with suppress(RuntimeError):  # the signal came while the same stream was written to
            self._tell(number)
        if self._breaks:
            self._breaks = False
            raise KeyboardInterrupt

"""Calls of language models in this process, and their limits. Importing this imports no torch."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class RunStopped(KeyboardInterrupt):  # it is no error: a run stops by it as by Ctrl-C, and can go on
    """A reason to stop the run instead of forfeiting games."""


class Spending:
    """Calls that were answered, and what they took.

    Attributes:
        max_calls: answered calls at which the run stops; None without a limit.
        max_tokens: tokens at which the run stops.
        calls: answered in this process.
        tokens: tokens of the prompts and answers.
        seconds: time that they took in all.
        kept_calls: answered before, whose answers the folder of the run keeps; they count towards the limits.
        kept_tokens: tokens of the kept answers.
        reused: answers that were taken from there instead of asking.
        stopped: the reason why the run was stopped, "" if it was not.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.limit(None, None)
        self.clear()

    def limit(self, max_calls: int | None, max_tokens: int | None) -> None:
        """Set the limits."""
        self.max_calls, self.max_tokens = max_calls, max_tokens

    def clear(self) -> None:
        """Begin to count anew."""
        self.calls = self.tokens = self.kept_calls = self.kept_tokens = self.reused = self._under_way = 0
        self.seconds = 0.0
        self.stopped = ""

    @contextmanager
    def call(self) -> Iterator[None]:
        """Hold a place among the calls while one is under way.

        Raises:
            RunStopped: a limit is reached.
        """
        with self._lock:
            calls, tokens = self.calls + self.kept_calls + self._under_way, self.tokens + self.kept_tokens
            if self.max_calls is not None and calls >= self.max_calls:
                raise self.stop(f"{calls} calls are answered or under way, and --max-calls is {self.max_calls}")
            if self.max_tokens is not None and tokens >= self.max_tokens:
                raise self.stop(f"{tokens} tokens are spent, and --max-tokens is {self.max_tokens}")
            self._under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1

    def stop(self, reason: str) -> RunStopped:
        """Return the error that stops the run, and keep its reason for the end."""
        self.stopped = self.stopped or reason
        return RunStopped(reason)

    def count(self, **more: float) -> None:
        """Add numbers to attributes of these names."""
        with self._lock:
            for name, number in more.items():
                setattr(self, name, getattr(self, name) + number)

    def lines(self) -> list[str]:
        """Return the lines to print at the end of a command, no line if no model was asked."""
        found = [f"stopped, since {self.stopped}; with a larger limit the run goes on"] if self.stopped else []
        if self.calls or self.reused:
            line = f"language models: {self.calls} calls, {self.tokens} tokens, {self.seconds:.1f} s"
            found.append(line + (f"; {self.reused} answers were there already" if self.reused else ""))
        return found


SPENDING = Spending()
"""The calls of this process."""

"""How far a long run is: a bar of tqdm on a terminal, else a plain line every few seconds."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress"]


@contextmanager
def progress(
    total: int,
    *,
    done: int = 0,
    label: str = "",
    unit: str = "games",
    shown: bool = True,
    every_s: float = 5.0,
) -> Iterator[Callable[[int], None]]:
    """Show progress on standard error; yields a function to call with the number of units just finished.

    Args:
        total: units in all.
        done: units finished before this began; they do not count for the speed.
        label: what is going on.
        unit: of what, in the plural.
        shown: False for silence.
        every_s: the least time between two plain lines, in seconds. tqdm is used instead where it is
            installed and standard error is a terminal.
    """
    if not shown:
        yield lambda finished: None
        return
    if sys.stderr.isatty():
        try:
            tqdm = importlib.import_module("tqdm").tqdm  # untyped
        except ImportError:
            pass
        else:
            with tqdm(total=total, initial=done, desc=label, unit=f" {unit}", file=sys.stderr) as bar:
                yield bar.update
            return
    yield _Lines(total, done, label, unit, every_s)


class _Lines:
    def __init__(self, total: int, done: int, label: str, unit: str, every_s: float) -> None:
        self._total, self._done, self._label, self._unit, self._every_s = total, done, label, unit, every_s
        self._new = 0
        self._began = self._last = time.monotonic()

    def __call__(self, finished: int) -> None:
        self._done += finished
        self._new += finished
        now = time.monotonic()
        if now - self._last < self._every_s and self._done < self._total:
            return
        self._last = now
        speed = self._new / max(now - self._began, 1e-9)
        left = f", {(self._total - self._done) / speed:.0f} s left" if self._done < self._total and speed else ""
        print(
            f"{self._label}: {self._done} of {self._total} {self._unit}, {speed:.3g} a second{left}",
            file=sys.stderr,
            flush=True,
        )

"""Progress of long runs on standard error.

`progress` shows a bar or lines that count, `StatusLine` a text, and `waiting` a text with the time that has passed.
"""

from __future__ import annotations

import importlib
import math
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(
    total: int,
    *,
    done: int = 0,
    label: str = "",
    unit: str = "games",
    shown: bool = True,
    every_s: float = 5.0,
    after_s: float = 0.0,
) -> Iterator[Callable[[int], None]]:
    """Show progress on standard error; yields a function to call with the number of units just finished.

    A terminal shows a bar if tqdm is installed; otherwise a plain line appears every few seconds.

    Args:
        total: units in all.
        done: units finished before; they do not count for the speed.
        label: text in front.
        unit: name of the units, in the plural.
        shown: False for silence.
        every_s: the least time between two plain lines, in seconds.
        after_s: nothing is shown of what takes less time, in seconds.
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
            words = {"total": total, "initial": done, "desc": label, "unit": f" {unit}", "delay": after_s}
            width, height = shutil.get_terminal_size()  # a terminal without a size would show no bar
            with tqdm(**words, ncols=width, nrows=height, file=sys.stderr) as bar:
                yield bar.update
            return
    began = last = time.monotonic()
    new = 0

    def tell(finished: int) -> None:
        nonlocal new, last
        new += finished
        now, left = time.monotonic(), total - done - new
        if now - began < after_s or (now - last < every_s and left > 0):
            return
        last, speed = now, new / max(now - began, 1e-9)
        rest = f", {left / speed:.0f} s left" if left > 0 and speed else ""
        print(f"{label}: {done + new} of {total} {unit}, {speed:.3g} a second{rest}", file=sys.stderr, flush=True)

    yield tell


class StatusLine:
    """A line of text on standard error: rewritten in place on a terminal, else printed every ten seconds.

    Args:
        shown: False for silence.
    """

    def __init__(self, shown: bool) -> None:
        self._shown, self._live, self._width = shown, sys.stderr.isatty(), 0
        self._last = -math.inf

    def show(self, text: str, news: bool = False) -> None:
        """Show the text in the place of the one before; `news` makes it appear at once where lines are printed."""
        now = time.monotonic()
        if not self._shown or not (self._live or news or now - self._last >= 10.0):
            return
        self._last = now
        if not self._live:
            print(text, file=sys.stderr, flush=True)
            return
        text = text[: shutil.get_terminal_size().columns - 1]
        print(f"\r{text:{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def end(self, *, clear: bool = False) -> None:
        """End the line, or take it away, so that nothing more is rewritten."""
        if self._width:
            print(f"\r{'':{self._width}}\r" if clear else "\n", end="", file=sys.stderr, flush=True)
        self._width = 0


@contextmanager
def waiting(text: str, *, shown: bool = True, after_s: float = 2.0) -> Iterator[None]:
    """Show on a terminal that the block goes on, and for how many seconds, until it ends; nothing else prints in it.

    Args:
        text: the work, such as "Searching".
        shown: False for silence.
        after_s: nothing is shown of what takes less time, in seconds.
    """
    if not (shown and sys.stderr.isatty()):
        yield
        return
    line, ended, began = StatusLine(shown=True), threading.Event(), time.monotonic()

    def tell() -> None:
        pause = after_s
        while not ended.wait(pause):
            line.show(f"{text} ... {time.monotonic() - began:.0f} s (Ctrl-C stops)")
            pause = 1.0

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
        line.end(clear=True)

"""A line on standard error that tells how far a run is: rewritten in place on a terminal, else printed now and then."""

from __future__ import annotations

import shutil
import sys
import time

__all__ = ["StatusLine"]


class StatusLine:
    """See the module.

    Args:
        shown: False for silence.
        every_s: the least time between two printed lines, in seconds.
    """

    def __init__(self, shown: bool, every_s: float = 10.0) -> None:
        self._shown, self._every_s = shown, every_s
        self._live = sys.stderr.isatty()
        self._last = time.monotonic() - every_s
        self._width = 0

    def show(self, text: str, news: bool = False) -> None:
        """The text, in the place of the one before; one that is printed with `news` does not wait."""
        now = time.monotonic()
        if not self._shown or not (self._live or news or now - self._last >= self._every_s):
            return
        self._last = now
        if not self._live:
            print(text, file=sys.stderr, flush=True)
            return
        text = text[: shutil.get_terminal_size().columns - 1]
        print(f"\r{text:{self._width}}", end="", file=sys.stderr, flush=True)
        self._width = len(text)

    def end(self) -> None:
        """Nothing more is rewritten."""
        if self._width:
            print(file=sys.stderr)
        self._width = 0

"""Lines that a person types at a terminal: edited and remembered by readline where the system has it."""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

__all__ = ["completing", "interrupted", "read_line"]


def read_line(prompt: str) -> str:
    """Return a line from standard input; raise `EOFError` at its end.

    At a terminal, the arrow keys edit the line and recall earlier ones. Windows has this without readline.
    """
    if sys.stdin.isatty() and sys.stdout.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  # changes what `input` does
    return input(prompt)


@contextlib.contextmanager
def interrupted(seconds: float) -> Iterator[None]:
    """Raise a `TimeoutError` in the block after so many seconds, also while it waits.

    Nothing is raised in other threads than the main one, and on Windows.
    """
    if seconds == math.inf or sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def completing(words: Callable[[], Sequence[str]]) -> Iterator[None]:
    """Complete words of a line by the Tab key, out of those that the function returns when it is pressed."""
    if sys.platform == "win32":  # which has no readline
        yield
        return
    try:
        import readline
    except ImportError:  # a Python that was built without it
        yield
        return

    def complete(text: str, number: int) -> str | None:
        found = [word for word in words() if word.startswith(text)]
        return found[number] if number < len(found) else None

    before, breaks = readline.get_completer(), readline.get_completer_delims()
    readline.set_completer(complete)
    readline.set_completer_delims(" ,;\t\n")
    readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")
    try:
        yield
    finally:
        readline.set_completer(before)
        readline.set_completer_delims(breaks)

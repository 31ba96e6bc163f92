"""A limit on the processor time of a call, for agents that a visitor may make as slow as the settings allow.

How long a move takes depends on the agent, its number of playouts, the board and the machine, so it is measured while
it runs. Python calls a profile function at every call of a function; this one raises an error once the time is used
up. So a call ends between two operations, not in the middle of one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["TookTooLongError", "time_limit"]

_EVERY = 64  # calls of functions between two looks at the clock


class TookTooLongError(Exception):
    """A call that used up its processor time."""


@contextmanager
def time_limit(seconds: float, what: str) -> Iterator[None]:
    """Raise a `TookTooLongError` in the block when it has used that much processor time of this thread.

    Args:
        seconds: The limit.
        what: What the time is for, for the message.
    """
    end, calls, before = time.thread_time() + seconds, 0, sys.getprofile()

    def look(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += 1
        if calls % _EVERY == 0 and time.thread_time() > end:
            raise TookTooLongError(f"more than {seconds:g} s of processor time for {what}")

    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)

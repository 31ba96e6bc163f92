"""Waiting for what other processes and threads do, and whether a process still runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def until(holds: Callable[[], T], seconds: float = 100.0) -> T:
    """Wait for the first true value of a condition, and return it; it must come in this time."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, f"nothing after {seconds} s"
        time.sleep(0.01)
    return found


def runs(number: int) -> bool:
    """Return True if a process runs, by /proc; one that has ended may still be there as a zombie."""
    with suppress(OSError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False

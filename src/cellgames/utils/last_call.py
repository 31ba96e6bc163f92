"""The agent that is being asked, in a file that outlives the process: a process that an agent ends cannot say who did.

A run opens the file in its folder (`kept_in`); whoever calls an agent that is not part of the package notes it
(`asking`). The next process that continues the run says which agent the last one was asking. Importing this imports no
torch.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

__all__ = ["FILE", "Ended", "asking", "during", "ended_in", "hidden", "kept_in", "run_folder"]

FILE = ".asked.json"
"""The name of the file; a run that ends in any way that Python sees removes it."""

_BYTES = 2048
_MOST = 200  # characters of a name, or of a description of games
_OFTEN = 2  # processes that ended in calls of one agent, from which on leaving it out is suggested


class _LastCall:
    """The file of a run, mapped into memory: a note takes less than a microsecond.

    Attributes:
        path: of the file.
        games: the games that are being played, for the note.
    """

    def __init__(self, path: Path, counts: dict[str, int]) -> None:
        self.path, self._counts = path, counts
        self._memory: mmap.mmap | None = None
        self._text = b""
        self.games = ""

    def note(self, agent: str, purpose: str) -> None:
        """Write who is asked, and for what; opens the file at the first call."""
        text = json.dumps([agent[:_MOST], purpose, self.games[:_MOST], self._counts]).encode()
        if self._memory is None:
            with self.path.open("w+b") as file:
                file.truncate(_BYTES)
                self._memory = mmap.mmap(file.fileno(), _BYTES)
        if len(text) < _BYTES:
            self._memory[: len(text) + 1] = text + b"\0"

    def clear(self) -> None:
        """Write that nobody is asked."""
        if self._memory is not None:
            self._memory[0:1] = b"\0"

    def close(self) -> None:
        """Remove the file."""
        if self._memory is not None:
            self._memory.close()
        self.path.unlink(missing_ok=True)


_open: list[tuple[_LastCall, int]] = []  # of runs within runs, the innermost last, each with its process


def _current() -> _LastCall | None:
    return _open[-1][0] if _open and _open[-1][1] == os.getpid() else None


@contextmanager
def kept_in(folder: Path, warn: Callable[[str], None]) -> Iterator[None]:
    """Keep the file in a run's folder, and say which agent was asked when an earlier process ended in a call.

    Args:
        folder: of the run, which no other process uses.
        warn: gets a line.
    """
    path = folder / FILE
    counts = _told(path, warn)
    call = _LastCall(path, counts)
    if not counts:
        path.unlink(missing_ok=True)
    _open.append((call, os.getpid()))
    try:
        yield
    finally:
        _open.pop()
        call.close()


def run_folder() -> Path | None:
    """Return the folder of the run that this process is in, None outside of one."""
    call = _current()
    return None if call is None else call.path.parent


hidden: set[Path] = set()
"""Folders of runs of other processes, in which this one plays games."""


@contextmanager
def during(games: str) -> Iterator[None]:
    """Name the games that are played inside, for the notes."""
    call = _current()
    if call is None:
        yield
        return
    before, call.games = call.games, games
    try:
        yield
    finally:
        call.games = before


def asking(agent: str, purpose: str) -> Callable[[], None] | None:
    """Note that an agent is asked.

    Args:
        agent: its name.
        purpose: such as "a move".

    Returns:
        A function to call when it has answered; None if no run keeps a file.
    """
    call = _current()
    if call is None:
        return None
    call.note(agent, purpose)
    return call.clear


class Ended(NamedTuple):
    """A process that ended in the call of an agent.

    Attributes:
        agent: its name.
        call: what it was asked for, and in which games.
        counts: by agent, in how many calls processes have ended, this one too.
    """

    agent: str
    call: str
    counts: dict[str, int]


def ended_in(folder: Path) -> Ended | None:
    """Return what the file in a folder says of an earlier process, None if that asked nobody in the end."""
    try:
        text = (folder / FILE).read_bytes()[:_BYTES].partition(b"\0")[0]
        agent, purpose, games, counts = json.loads(text)
        counts = {str(name): int(number) for name, number in dict(counts).items()}
    except (OSError, TypeError, ValueError):
        return None
    counts[str(agent)] = counts.get(str(agent), 0) + 1
    return Ended(str(agent), f"{purpose} ({games})" if games else str(purpose), counts)


def _told(path: Path, warn: Callable[[str], None]) -> dict[str, int]:
    """Say what the file of an earlier process says; return in how many calls of each agent processes have ended."""
    if (found := ended_in(path.parent)) is None:
        return {}
    agent, call, counts = found
    line = f"the last run in {path.parent} ended while {agent} was asked for {call}"
    if counts[agent] >= _OFTEN:
        line += f"; that makes {counts[agent]} times: if nobody stopped them, leave this agent out"
    warn(line)
    return counts

"""The log of a run's forfeits: which lines of an agent's program failed, each once.

    forfeits.log   for each agent, and each error that it raised: the calls that led to it, and the reason

Records keep the reason only. The log has no times and is sorted, so that runs which were stopped and continued have the
same one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from cellgames.utils.files import write_atomic

from .record_lines import Record

FORFEIT_LOG = "forfeits.log"

_MOST = 20  # errors of one agent that are kept

_LOGGER = logging.getLogger("cellgames.forfeits")  # `--debug` shows it


def traces_of(records: Iterable[Record]) -> list[tuple[str, str]]:
    """Return agent and trace of each forfeit among games that were just played."""
    forfeits = ((record.agents, record.result.forfeit) for record in records)
    return [
        (agents[forfeit.seat], forfeit.trace) for agents, forfeit in forfeits if forfeit is not None and forfeit.trace
    ]


class ForfeitLog:
    """The log in a run's folder; the file exists if an agent raised an error.

    Args:
        folder: folder of the run.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FORFEIT_LOG
        self._entries: set[str] | None = None  # read when it is needed

    def add(self, traces: Iterable[tuple[str, str]]) -> None:
        """Add traces by agent; those that are there already change nothing."""
        new = {f"{agent}\n" + "\n".join(f"  {line}" for line in trace.splitlines()) for agent, trace in traces}
        if not new:
            return
        if self._entries is None:
            self._entries = self._read()
        for entry in sorted(new - self._entries):
            _LOGGER.debug("a game was forfeited by %s", entry)
        before, self._entries = self._entries, _bounded(self._entries | new)
        if self._entries != before:
            write_atomic(self._path, "\n\n".join(sorted(self._entries)) + "\n")

    def _read(self) -> set[str]:
        if not self._path.exists():
            return set()
        entries = self._path.read_text(encoding="utf-8", errors="replace").split("\n\n")
        return {entry.rstrip("\n") for entry in entries if entry.strip()}


def _bounded(entries: Iterable[str]) -> set[str]:
    """Return the first entries of each agent, in the order of their texts."""
    kept: dict[str, list[str]] = {}
    for entry in sorted(entries):
        kept.setdefault(entry.partition("\n")[0], []).append(entry)
    return {entry for own in kept.values() for entry in own[:_MOST]}

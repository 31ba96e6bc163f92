"""What requests to the server share: records unpacked, tables made, and what is answered where nothing can be."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.store.store import Store

from .record_library import Library

__all__ = ["Desk", "UnansweredError", "file_name"]

_BUSY_S = 30.0  # a record waits so long for others before it is refused


class UnansweredError(Exception):
    """A request that is not answered, with an HTTP status and a reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass
class Desk:
    """What requests share."""

    library: Library
    store: Path | None
    shown: OrderedDict[str, dict[str, Any]] = field(default_factory=OrderedDict)
    tables: tuple[object, list[dict[str, Any]]] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    rating: threading.Lock = field(default_factory=threading.Lock)
    busy: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(2))

    def replay(self, record: Record) -> dict[str, Any]:
        """For the viewer; the last few are kept."""
        from .frames import replay_data

        key = record.to_json()
        with self.lock:
            if key in self.shown:
                self.shown.move_to_end(key)
                return self.shown[key]
        with self.turn():
            data = replay_data(record, compile="auto")
        with self.lock:
            self.shown[key] = data
            while len(self.shown) > 8:
                self.shown.popitem(last=False)
        return data

    def html(self, record: Record) -> str:
        """One file that plays offline."""
        from .export import html_page

        with self.turn():
            return html_page(record, compile="auto")

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Two records are unpacked at a time, so that others' pages stay quick.

        Raises:
            UnansweredError: those before take too long.
        """
        if not self.busy.acquire(timeout=_BUSY_S):
            raise UnansweredError(503, "the server is busy with other records; try again in a moment")
        try:
            yield
        finally:
            self.busy.release()

    def opened(self) -> Store:
        """The store.

        Raises:
            UnansweredError: there is none.
        """
        if self.store is None or not self.store.is_file():
            raise UnansweredError(404, "there is no store of games yet")
        return Store(self.store, create=False)

    def leaderboards(self) -> list[dict[str, Any]]:
        """All tables of the store, made again when it has grown."""
        from cellgames.arena.report.leaderboard import leaderboards

        if self.store is None or not self.store.is_file():
            return []
        with self.rating, Store(self.store, create=False) as store:
            key = (store.last, len(store))
            if self.tables is None or self.tables[0] != key:
                self.tables = key, [_finite(board.to_data()) for board in leaderboards(store)]
            return self.tables[1]


def _finite(data: Any) -> Any:
    """Without infinities and NaN, which JSON does not have."""
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, list):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not -1e300 < data < 1e300 else data


def file_name(record: Record, suffix: str) -> str:
    """A plain name for a download."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in record.game)[:60]
    return f"{name or 'game'}.{suffix}"

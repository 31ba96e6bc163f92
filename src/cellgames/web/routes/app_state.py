"""The state that requests to the server share: records, the store, results from both, and kinds of fields."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from fastapi import HTTPException, Query
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.store import Store, StoreError
from cellgames.arena.report.leaderboard import leaderboards
from cellgames.arena.season.cup import CupRecord
from cellgames.plugins import additions, resolve
from cellgames.web.catalog import check_parameters, games, offered
from cellgames.web.frames import board_data, html_page, replay_data
from cellgames.web.record_library import Library

_BUSY_S = 30.0  # a record waits so long for others before it is refused
_ANSWERS = 16  # about records, that are kept

# Kinds of fields of a query
Name: TypeAlias = Annotated[str, Query(max_length=100)]
File: TypeAlias = Annotated[str, Query(max_length=1000)]
Number: TypeAlias = Annotated[int, Query(ge=1)]
Count: TypeAlias = Annotated[int, Query(ge=0)]
Stored: TypeAlias = Annotated[int, Query(ge=1, lt=1 << 63)]


class Body(BaseModel):
    """A body of a request: known fields of the right types only."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AppState:
    """The records, the store, and what was computed from them.

    Args:
        library: Records and weights in the results folder.
        store: File of the store; None for no store.
        agents: Specs of more agents that the page lists, by name.
        origin: Where others reach the server, for the links of games; "" if they do as the page's own browser does.
    """

    def __init__(
        self, library: Library, store: Path | None, agents: Mapping[str, str] | None = None, origin: str = ""
    ) -> None:
        self.library, self.store, self._agents, self.origin = library, store, dict(agents or {}), origin
        self._answered = lru_cache(_ANSWERS)(self._answer)
        self._unpacking = threading.BoundedSemaphore(2)
        self._rating = threading.Lock()
        self._leaderboards: tuple[object, list[dict[str, Any]]] | None = None

    def agents(self) -> dict[str, str]:
        """Return the specs of all agents that the page lists, by name: the given ones, and files in the folder."""
        return {**{name: str(path) for name, path in self.library.weights().items()}, **self._agents}

    def answer(self, name: str, record: Record | CupRecord) -> Any:
        """Return a record as the viewer needs it ("replay"), as one HTML file ("html"), or an answer of `additions`.

        The last few are kept, but for little boards ("board").
        """
        answered = self._answer if name == "board" else self._answered
        return answered(name, record if isinstance(record, CupRecord) else record.to_json())

    def _answer(self, name: str, key: str | CupRecord) -> Any:
        own: dict[str, Callable[..., Any]] = {"replay": replay_data, "board": board_data, "html": html_page}
        with self.turn():
            made = own.get(name) or resolve(additions().answers[name][0])
            return made(key if isinstance(key, CupRecord) else Record.from_json(key))

    @property
    def has_store(self) -> bool:
        """True if there is a store of games by now."""
        return self.store is not None and self.store.is_file()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn: two records are unpacked at a time, so that other pages stay quick.

        Raises:
            HTTPException: The records before take too long.
        """
        if not self._unpacking.acquire(timeout=_BUSY_S):
            raise HTTPException(503, "the server is busy with other records; try again in a moment")
        try:
            yield
        finally:
            self._unpacking.release()

    def open_store(self) -> Store:
        """Open the store.

        Raises:
            HTTPException: There is no store of games.
        """
        if self.store is None or not self.has_store:
            raise HTTPException(404, "there is no store of games yet")
        return Store(self.store, create=False)

    def stored(self, number: int) -> Record:
        """Return a record of the store; raise a `LookupError` for an unknown one."""
        with self.open_store() as kept:
            try:
                return kept.record(number)
            except StoreError:
                raise LookupError(f"the store has no game {number}") from None

    def warm_up(self, stopped: threading.Event) -> None:
        """Compute what the first visitors would wait for, until it is stopped: games, agents, and leaderboards."""
        for offer in games():
            if stopped.is_set():
                return
            offered(check_parameters(offer["id"], {}), self.agents())
        with suppress(StoreError, OSError):  # whoever asks for them reads why
            self.leaderboards()

    def leaderboards(self) -> list[dict[str, Any]]:
        """Return all leaderboards of the store; they are made again when it has grown."""
        if not self.has_store:
            return []
        with self._rating, self.open_store() as store:
            key = (store.last, len(store))
            if self._leaderboards is None or self._leaderboards[0] != key:
                found = []
                for board in leaderboards(store):
                    shown = [column for column in board.columns if column.name and column.label]  # that people see
                    columns = [{name: getattr(c, name) for name in ("name", "label", "shown")} for c in shown]
                    text = json.dumps({**board.to_data(), "columns": columns})
                    found.append(json.loads(text, parse_constant=lambda word: None))  # for infinities and NaN
                self._leaderboards = key, found
            return self._leaderboards[1]


def download(response: Response, record: Record | CupRecord, suffix: str) -> Response:
    """Return the response as a download with a plain file name."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in record.game)[:60] or "game"
    response.headers["content-disposition"] = f'attachment; filename="{name}.{suffix}"'
    return response

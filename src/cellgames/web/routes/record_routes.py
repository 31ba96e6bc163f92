"""Requests about records: of the results folder, of the store, of visitors; and the leaderboard."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, Response

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.store.store import StoreError
from cellgames.web.record_library import parse, summary
from cellgames.web.request_context import Desk, UnansweredError
from cellgames.web.schemas import Line, download

__all__ = ["record_routes"]

_PAGE = 50  # games in a list, by default


def record_routes(desk: Desk) -> APIRouter:
    """The routes of records, the store and the leaderboard."""
    router = APIRouter()

    @router.get("/api/records")
    def list_files() -> dict[str, Any]:
        """Files of records below the results folder, and whether there is a store, with its number of games."""
        count = 0
        if desk.store is not None and desk.store.is_file():
            with desk.opened() as kept:
                count = len(kept)
        return {"folder": str(desk.library.folder), "files": desk.library.files(), "store": count}

    @router.get("/api/records/games")
    def list_records(
        file: Annotated[str, Query(max_length=1000)],
        first: Annotated[int, Query(ge=1)] = 1,
        count: Annotated[int, Query(ge=1, le=200)] = _PAGE,
    ) -> dict[str, Any]:
        """Some records of a file."""
        return desk.library.page(file, first, count)

    @router.get("/api/records/replay")
    def record_replay(file: Annotated[str, Query(max_length=1000)], number: Annotated[int, Query(ge=1)]) -> Any:
        """A record of a file for the viewer."""
        return desk.replay(desk.library.record(file, number))

    @router.get("/api/records/html")
    def record_html(file: Annotated[str, Query(max_length=1000)], number: Annotated[int, Query(ge=1)]) -> Response:
        """A record of a file as one file that plays offline."""
        record = desk.library.record(file, number)
        return download(HTMLResponse(desk.html(record)), record, "html")

    @router.get("/api/store/games")
    def stored_games(
        first: Annotated[int, Query(ge=1)] = 1, count: Annotated[int, Query(ge=1, le=200)] = _PAGE
    ) -> dict[str, Any]:
        """Some games of the store, the newest first."""
        with desk.opened() as kept:
            entries = kept.entries(offset=first - 1, limit=count)
            listed = [summary(entry.record, entry.number) | {"added": entry.added} for entry in entries]
            return {"total": len(kept), "games": listed}

    def stored(number: int) -> Record:
        with desk.opened() as kept:
            try:
                return kept.record(number)
            except StoreError:
                raise UnansweredError(404, f"the store has no game {number}") from None

    @router.get("/api/store/replay")
    def stored_replay(number: Annotated[int, Query(ge=1, lt=1 << 63)]) -> dict[str, Any]:
        """A game of the store for the viewer."""
        return desk.replay(stored(number))

    @router.get("/api/store/html")
    def stored_html(number: Annotated[int, Query(ge=1, lt=1 << 63)]) -> Response:
        """A game of the store as one file that plays offline."""
        record = stored(number)
        return download(HTMLResponse(desk.html(record)), record, "html")

    @router.post("/api/replay")
    def show_line(line: Line) -> dict[str, Any]:
        """A record that the visitor has, for the viewer; nothing of it is kept in a file."""
        return desk.replay(parse(line.record))

    @router.post("/api/html")
    def line_html(line: Line) -> Response:
        """A record that the visitor has, as one file that plays offline."""
        record = parse(line.record)
        return download(HTMLResponse(desk.html(record)), record, "html")

    @router.get("/api/leaderboard")
    def leaderboard() -> dict[str, Any]:
        """Ratings, payoffs and cross tables of everything in the store, a table for each game and its settings."""
        return {"store": None if desk.store is None else str(desk.store), "boards": desk.leaderboards()}

    return router

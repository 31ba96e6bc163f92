"""Requests about records (of the results folder, of the store, of visitors, of live games) and the leaderboard."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import HTMLResponse, Response
from pydantic import Field

from cellgames.arena.records.record_lines import Record
from cellgames.arena.season.cup import CupRecord
from cellgames.plugins import additions
from cellgames.web.live_game import Session
from cellgames.web.record_library import MOST_LINE, MOST_SEARCHED, GameFilter, parse, season_data, season_list, summary
from cellgames.web.sessions import Sessions

from .app_state import AppState, Body, File, Number, Stored, download

_PAGE = 50  # games in a list, by default
_Count = Annotated[int, Query(ge=1, le=200)]
_CHOSEN: Any = Depends(GameFilter)


class Line(Body):
    """One line of a file of records."""

    record: str = Field(max_length=MOST_LINE)


def record_routes(state: AppState, sessions: Sessions) -> APIRouter:
    """Return the routes of records, the store and the leaderboard."""
    router = APIRouter()
    of_id: Any = Depends(sessions.get)

    @router.get("/api/records")
    def list_files() -> dict[str, Any]:
        """Return the files of records below the results folder, and the number of games in the store."""
        with state.open_store() if state.has_store else nullcontext(()) as kept:
            return {"folder": str(state.library.folder), "files": state.library.files(), "store": len(kept)}

    @router.get("/api/records/games")
    def list_records(
        file: File, first: Number = 1, count: _Count = _PAGE, chosen: GameFilter = _CHOSEN
    ) -> dict[str, Any]:
        """Return some records of a file, of those that a filter keeps."""
        return state.library.page(file, first, count, chosen)

    @router.get("/api/seasons")
    def list_seasons() -> list[dict[str, Any]]:
        """Return the seasons below the results folder, the newest first."""
        return season_list(state.library)

    @router.get("/api/season")
    def one_season(folder: File) -> dict[str, Any]:
        """Return a season: standings, schedule, bracket, and its games."""
        return season_data(state.library, folder)

    @router.get("/api/store/games")
    def stored_games(first: Number = 1, count: _Count = _PAGE, chosen: GameFilter = _CHOSEN) -> dict[str, Any]:
        """Return some games of the store, the newest first, of those that a filter keeps."""
        with state.open_store() as kept:
            every = chosen == GameFilter()
            entries = kept.entries(offset=first - 1, limit=count) if every else kept.entries(limit=MOST_SEARCHED)
            games = [summary(entry.record, entry.number) | {"added": entry.added} for entry in entries]
            if every:
                return {"total": len(kept), "games": games}
            games = [game for game in games if chosen.keeps(game)]
            return {"total": len(games), "games": games[first - 1 :][:count]}

    def html(record: Record | CupRecord) -> Response:
        return download(HTMLResponse(state.answer("html", record)), record, "html")

    def add(name: str, made: Callable[[Record | CupRecord], Any], about: str) -> None:
        """Add the routes to an answer about a record: of a file, the store, a finished live game, or a visitor."""

        def of_file(file: File, number: Number) -> Any:
            return made(state.library.record(file, number))

        def of_store(number: Stored) -> Any:
            return made(state.stored(number))

        def of_session(session: Session = of_id) -> Any:
            return made(session.record())

        def of_visitor(line: Line) -> Any:
            return made(parse(line.record))  # which is not kept

        router.add_api_route(f"/api/records/{name}", of_file, description=about)
        router.add_api_route(f"/api/store/{name}", of_store, description=about)
        router.add_api_route(f"/api/play/{{id}}/{name}", of_session, description=about)
        router.add_api_route(f"/api/{name}", of_visitor, description=about, methods=["POST"])

    answers = {name: about for name, (_, about) in additions().answers.items()}
    own = {"replay": "Return a record for the viewer.", "board": "Return the last position of a record."}
    for name, about in {**own, **answers}.items():
        add(name, partial(state.answer, name), about)
    add("html", html, "Return a record as one HTML file that plays offline.")

    @router.get("/api/leaderboard")
    def leaderboard() -> dict[str, Any]:
        """Return ratings, payoffs and cross tables of the store: one leaderboard for each game and its settings."""
        return {"store": None if state.store is None else str(state.store), "boards": state.leaderboards()}

    return router

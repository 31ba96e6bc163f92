"""Requests of the analysis board: positions, searches of them, and the lines of records."""

from __future__ import annotations

import asyncio
import random
from concurrent.futures import CancelledError
from typing import Any

from fastapi import APIRouter, HTTPException, Request

from cellgames.web.analysis_board import AnalysisBoard, Places, Position, Search, find_puzzle, next_moves, positions
from cellgames.web.sessions import Sessions

from .app_state import AppState, File, Name, Number, Stored

_GONE_S = 0.1  # between two looks whether the visitor still waits


def analysis_routes(state: AppState, sessions: Sessions, board: AnalysisBoard) -> APIRouter:
    """Return the routes of the analysis board."""
    router = APIRouter()

    @router.post("/api/analysis/positions")
    def list_positions(wish: Places) -> dict[str, Any]:
        """Return the positions after each of the moves, the layout of the game and the engines that analyse it."""
        return positions(wish)

    @router.post("/api/analysis")
    async def analyse(wish: Search, request: Request) -> dict[str, Any]:
        """Return the result of a search of a position; the search is dropped if nobody waits for it any more."""
        future = board.submit(wish)
        waited = asyncio.wrap_future(future)
        try:
            while not (await asyncio.wait((waited,), timeout=_GONE_S))[0]:
                if await request.is_disconnected():
                    break
            return await waited if waited.done() else {}
        except (CancelledError, asyncio.CancelledError):
            raise HTTPException(503, "the analysis was stopped") from None
        finally:
            future.cancel()

    @router.post("/api/analysis/stored")
    def list_next_moves(wish: Position) -> dict[str, Any]:
        """Return the moves with which games of the store went on from the position after the moves."""
        with state.open_store() as store:
            return {"moves": next_moves(store, wish)}

    @router.get("/api/puzzle")
    def draw_puzzle() -> dict[str, Any] | None:
        """Return a puzzle out of a stored game (`find_puzzle`), null if none is found in some seconds."""
        if not state.has_store:
            return None
        with state.turn(), state.open_store() as store:
            return find_puzzle(store, random.SystemRandom())

    @router.get("/api/analysis/record")
    def record_line(
        file: File = "", number: Number = 1, store: Stored | None = None, game: Name = ""
    ) -> dict[str, str]:
        """Return a record as its line: of a file, of the store, or of a game that was just played."""
        if game:
            return {"record": sessions.get(game).record().to_json()}
        if store is None:
            return {"record": state.library.line(file, number)}
        return {"record": state.stored(store).to_json()}

    return router

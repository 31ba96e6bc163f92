"""Requests of the analysis board: positions, searches of them, and the lines of records."""

from __future__ import annotations

import asyncio
import random
from concurrent.futures import CancelledError
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Request
from pydantic import Field

from cellgames.web.analysis_board import AnalysisBoard, Wish, find_puzzle, next_moves, positions
from cellgames.web.record_library import MOST_LINE
from cellgames.web.sessions import Sessions

from .app_state import AppState, Body, File, Name, Number, Stored

_GONE_S = 0.1  # between two looks whether the visitor still waits

_Number = Annotated[int, Field(ge=0, lt=1 << 31)]


class Position(Body):
    """A position of a game in turns, such as a link holds it."""

    game: str = Field(max_length=100)
    parameters: dict[str, bool | int | float | str | None] = Field(default_factory=dict, max_length=40)
    position: str = Field(
        default="", max_length=MOST_LINE, description="As the game writes positions; the usual start without one."
    )
    moves: list[Annotated[str, Field(max_length=100)]] = Field(default_factory=list, max_length=2000)
    seed: str = Field(
        default="0", pattern=r"^-?\d{1,19}$", description="Of the usual start in games of chance: a number, as a text."
    )

    def wish(self) -> Wish:
        """Return the position as the board takes it."""
        return Wish(self.game, self.parameters, self.position, self.moves, int(self.seed))


class Places(Position):
    """Moves from a position, and changes of it."""

    action: _Number | None = Field(default=None, description="One more move, by its number.")
    put: list[Annotated[list[_Number], Field(min_length=2, max_length=2)]] | None = Field(
        default=None, max_length=10_000, description="Cells of the first position, each with a code of `codes`."
    )
    mover: _Number | None = Field(default=None, description="With `put`, the seat to move.")


class Search(Position):
    """A search of the position after the moves."""

    engine: str = Field(max_length=40, description="A name of `engines`.")
    simulations: int = Field(ge=0, lt=1 << 31, description="One of the engine's efforts.")
    review: bool = Field(default=True, description="Review the last move, too.")


def analysis_routes(state: AppState, sessions: Sessions, board: AnalysisBoard) -> APIRouter:
    """Return the routes of the analysis board."""
    router = APIRouter()

    @router.post("/api/analysis/positions")
    def list_positions(wish: Places) -> dict[str, Any]:
        """Return the positions after each of the moves, the layout of the game and the engines that analyse it."""
        return positions(wish.wish(), wish.action, wish.put, wish.mover)

    @router.post("/api/analysis")
    async def analyse(wish: Search, request: Request) -> dict[str, Any]:
        """Return the result of a search of a position; the search is dropped if nobody waits for it any more."""
        future = board.submit(wish.wish(), wish.engine, wish.simulations, reviewed=wish.review)
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
            return {"moves": next_moves(store, wish.wish())}

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

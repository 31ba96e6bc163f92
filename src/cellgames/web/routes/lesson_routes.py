"""Requests about learning a game: its lesson, a guided game, and opponents by level."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query

from cellgames.arena.records.record_lines import plain
from cellgames.plugins.levels import levels
from cellgames.utils.foreign_text import shown
from cellgames.web.catalog import check_parameters, load_agent, offered
from cellgames.web.lessons import GuidedGame, Lesson, lesson_of
from cellgames.web.sessions import Sessions

from .app_state import AppState
from .schemas import GuideStart, Parameters, json_object

__all__ = ["lesson_routes"]


def lesson_routes(state: AppState, sessions: Sessions) -> APIRouter:
    """Return the routes of lessons."""
    router = APIRouter()

    def lesson(game: str) -> Lesson:
        found = lesson_of(game)
        if found is None:
            raise HTTPException(404, f"there is no lesson for {shown(game)}")
        return found

    @router.get("/api/lesson")
    def see_lesson(game: Annotated[str, Query(max_length=100)]) -> dict[str, Any]:
        """Return the page that teaches a game: sections with boards."""
        return lesson(game).to_data()

    @router.get("/api/levels")
    def list_levels(game: Annotated[str, Query(max_length=100)], parameters: Parameters = "{}") -> list[dict[str, Any]]:
        """Return opponents by level, the weakest first; `parameters` is a JSON object as in a new game."""
        made = check_parameters(game, json_object(parameters))
        can = {one["name"] for one in offered(made, state.agents())}
        found = levels(game, made.id, plain(made.parameters))
        return [asdict(level) for level in found if level.agent.partition(":")[0] in can]

    @router.post("/api/guide", status_code=201)
    def guided_game(wish: GuideStart) -> dict[str, Any]:
        """Start a guided game. It is played as other games are; its positions have what the lesson says (`lesson`)."""
        found = lesson(wish.game)
        sessions.make_room()
        session = GuidedGame(found, lambda spec, game: load_agent(spec, game, {}))
        session.resume(wish.actions)
        sessions.add(session)
        return session.snapshot()

    return router

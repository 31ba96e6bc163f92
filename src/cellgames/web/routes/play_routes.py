"""Requests about games that are played: the games and agents on offer, lessons, and the sessions."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query
from fastapi.responses import PlainTextResponse, Response
from pydantic import Field

from cellgames.agents.loading import identities
from cellgames.agents.time_control import TimeControl
from cellgames.arena.records.record_lines import json_object, plain
from cellgames.arena.records.store import Store
from cellgames.envs.core import Game
from cellgames.plugins.levels import levels
from cellgames.utils.errors import shown
from cellgames.web.catalog import check_parameters, demonstration, games, load_agent, most_playouts, offered
from cellgames.web.lessons import GuidedGame, lesson_of
from cellgames.web.live_game import Seated, Session
from cellgames.web.record_library import MOST_LINE
from cellgames.web.sessions import Sessions, specs_of

from .app_state import AppState, Body, Count, Name, download

_QUICK_S = 0.1  # a move's answer waits so long for agents, so that quick ones answer in it
_LONG_S = 20.0  # an answer waits so long for something new to show

_Name = Annotated[str, Field(max_length=100)]
_Choice = Annotated[int, Field(ge=0, lt=1 << 31)]


class NewGame(Body):
    """A game to play. Settings and agents are those of /api/games and /api/agents."""

    game: str = Field(max_length=100)
    parameters: dict[str, bool | int | float | str] = Field(default_factory=dict, max_length=20)
    seat: _Name | Annotated[list[_Name], Field(max_length=256)] | None = Field(
        default=None, description="The person's, or a list of those of several people; null lets agents play all seats."
    )
    agents: list[Annotated[str, Field(max_length=500)]] = Field(
        default=["random"], max_length=256, description="One for all other seats, or one for each of them."
    )
    clock: str | None = Field(
        default=None,
        max_length=20,
        description="Seconds of each player for the game, and seconds that each move adds, such as 180+2.",
    )
    invite: bool = Field(default=False, description="Give each person's seat an address of its own (`about.links`).")
    seed: int | None = Field(default=None, ge=0, lt=1 << 53, description="Null draws one.")
    position: str = Field(
        default="", max_length=MOST_LINE, description="Where it starts, as the game writes positions; the usual start."
    )


class GuideStart(Body):
    """A guided game to start, or to take up again."""

    game: str = Field(max_length=100)
    actions: list[Annotated[list[_Choice], Field(max_length=16)]] = Field(
        default_factory=list, max_length=100, description="The learner's actions of an earlier visit."
    )


class Act(Body):
    """A request about a live game, and the events that the page has shown."""

    epoch: int = Field(default=-1, ge=-1, description="Epoch that the page has seen; others are refused, but -1.")
    since: int = Field(default=0, ge=0, description="Events that the page has shown.")


class Seen(Act):
    """A request about the position that the page has seen."""

    turn: int = Field(ge=0, description="Turns played, as the page has seen; another number is refused.")


class Move(Seen):
    """An action: a number for each of its components."""

    action: list[_Choice] = Field(min_length=1, max_length=16)
    seat: int | None = Field(default=None, ge=0, lt=256, description="Whose action it is; null is not checked.")


class Trial(Seen):
    """A trial run: with an action placed first, or null for the board as it is."""

    action: list[_Choice] | None = Field(default=None, min_length=1, max_length=16)


class Person(Act):
    """A request of the person of a seat."""

    seat: int = Field(ge=0, lt=256)


class Sitter(Person, Seen):
    """A request of the person who has the screen now."""


class Goal(Act):
    """The turn that agents who play all seats go on to."""

    until: _Choice = Field(description="Turns played; fewer than before stop them there.")


def _asked(game: Name, parameters: Annotated[str, Query(max_length=2000)] = "{}") -> Game:
    """Return the game of a query, in which `parameters` is a JSON object as in a new game."""
    if (found := json_object(parameters)) is None:
        raise HTTPException(422, f"parameters must be a JSON object, got {shown(parameters)}")
    return check_parameters(game, found)


_ASKED: Any = Depends(_asked)


def session_of(state: AppState, about: Mapping[str, Any], saved: Mapping[str, Any] | None = None) -> Session:
    """Return the session of a game with `asked`, `seats` and `seed`: a new one, or a saved one."""
    asked, listed = about["asked"], state.agents()
    game = check_parameters(asked["game"], asked["parameters"])
    return Session(
        *(game, about["seats"], lambda spec: load_agent(spec, game, listed)),
        seed=about["seed"],
        asked=asked,
        time_control=TimeControl.parse(asked["clock"]),
        position=asked["position"],
        saved=saved,
    )


def play_routes(state: AppState, sessions: Sessions, *, alone: bool) -> APIRouter:
    """Return the routes of games, agents, lessons and play.

    Args:
        state: What all requests share.
        sessions: The live games.
        alone: True if only this computer reaches the server, so that all games are those of its user.
    """
    router = APIRouter()

    # --- what there is ----------------------------------------------------------------------------------------

    @router.get("/api/games")
    def list_games() -> list[dict[str, Any]]:
        """Return the games with a summary of their rules, their seats, settings and limits."""
        return games()

    @router.get("/api/demonstration")
    def demonstrate(game: Name, live: bool = False) -> Any:
        """Return a short game between bots: its last position, or with `live` all of it for the viewer."""
        return state.answer("replay" if live else "board", demonstration(game))

    @router.get("/api/agents")
    def list_agents(asked: Game = _ASKED) -> list[dict[str, Any]]:
        """Return the agents that can play a game; `parameters` is a JSON object as in a new game."""
        return offered(asked, state.agents())

    @router.get("/api/agents/limit")
    def limit_agent(agent: Name, asked: Game = _ASKED) -> dict[str, int]:
        """Return `most`, the number of playouts that this computer has time for in a move; measured once."""
        with state.turn():
            return {"most": most_playouts(asked, agent)}

    # --- learning ---------------------------------------------------------------------------------------------

    @router.get("/api/lesson")
    def see_lesson(game: Name) -> dict[str, Any]:
        """Return the page that teaches a game: sections with boards."""
        return lesson_of(game).to_data()

    @router.get("/api/levels")
    def list_levels(game: Name, asked: Game = _ASKED) -> list[dict[str, Any]]:
        """Return opponents by level, the weakest first; `parameters` is a JSON object as in a new game."""
        can = {one["name"] for one in offered(asked, state.agents())}
        found = levels(game, asked.id, plain(asked.parameters))
        return [asdict(level) for level in found if level.agent.partition(":")[0] in can]

    @router.post("/api/guide", status_code=201)
    def guided_game(wish: GuideStart) -> dict[str, Any]:
        """Start a guided game. It is played as other games are; its positions have what the lesson says (`lesson`)."""
        found = lesson_of(wish.game)
        sessions.make_room()
        session = GuidedGame(found, lambda spec, game: load_agent(spec, game, {}))
        session.resume(wish.actions)
        sessions.add(session, saved=False)  # the browser keeps the moves
        return session.snapshot()

    # --- playing ----------------------------------------------------------------------------------------------

    def snapshot(session: Session, last: bool = False) -> dict[str, Any]:
        data = session.snapshot(last)
        data["about"] |= {"store": state.store is not None, "origin": state.origin}
        return data

    async def settled(session: Session, seconds: float, mark: object = None) -> None:
        """Wait until agents have moved, or until there is something newer than `mark`."""
        end = time.monotonic() + seconds
        while session.pending and time.monotonic() < end and (mark is None or session.mark == mark):
            await asyncio.sleep(0.004)

    of_id: Any = Depends(sessions.get)

    @router.get("/api/play")
    def list_played(ids: Annotated[str, Query(max_length=4000)] = "") -> list[dict[str, Any]]:
        """Return the games that were played last; on a server open to a network those with one of the `ids`."""
        return sessions.games(None if alone else ids.split(","))

    @router.post("/api/play", status_code=201)
    def new_game(wish: NewGame) -> dict[str, Any]:
        """Start a game. The answer has what stays the same (`about`) and the position (`view`)."""
        game = check_parameters(wish.game, wish.parameters)
        players = game.info.players
        seats = [wish.seat] if isinstance(wish.seat, str) else wish.seat or []
        for seat in seats:
            if seat not in players:
                raise HTTPException(422, f"seat must be one of {', '.join(players)}, got {shown(seat)}")
        specs = specs_of([players.index(seat) for seat in seats], wish.agents, players)
        asked = {"game": wish.game, "parameters": wish.parameters, "clock": wish.clock, "position": wish.position}
        seed = secrets.randbelow(1 << 31) if wish.seed is None else wish.seed
        sessions.make_room(agents_alone=None not in specs)
        session = session_of(state, {"asked": asked, "seats": specs, "seed": seed})
        if wish.invite:
            session.invite()
        sessions.add(session)
        return snapshot(Seated(session, session.people[0]) if session.keys else session)

    @router.get("/api/play/{id}")
    async def see_game(
        epoch: int = -1, since: Count = 0, wait: bool = False, session: Session = of_id
    ) -> dict[str, Any]:
        """Return the position and the events after `since`; with `wait`, when there is something new or after 20 s."""
        if wait:
            await settled(session, _LONG_S, (epoch, since, True))
        if epoch < 0:
            return await asyncio.to_thread(snapshot, session)
        return {"view": await asyncio.to_thread(session.view, epoch, since)}

    @router.post("/api/play/{id}/move")
    async def make_move(move: Move, session: Session = of_id) -> dict[str, Any]:
        """Play an action. If agents are quick, their moves are in this answer; else ask for the game again."""
        end = time.monotonic() + _QUICK_S
        await asyncio.to_thread(session.move, move.action, move.turn, move.epoch, move.seat)
        await settled(session, end - time.monotonic())
        return {"view": await asyncio.to_thread(session.view, move.epoch, move.since)}

    @router.post("/api/play/{id}/trial")
    def try_out(trial: Trial, session: Session = of_id) -> dict[str, Any]:
        """Return a film of Life from this position if nobody placed anything more; the game stays as it is."""
        with state.turn():
            return {"film": session.trial(trial.action, trial.turn, trial.epoch)}

    @router.post("/api/play/{id}/hint")
    def suggest(seen: Seen, session: Session = of_id) -> dict[str, Any]:
        """Return a move that an agent suggests: `words`, and its number `action` unless it has several parts."""
        with state.turn():
            return session.hint(seen.turn, seen.epoch)._asdict()

    @router.post("/api/play/{id}/sit")
    def sit(who: Sitter, session: Session = of_id) -> dict[str, Any]:
        """Show the game to the next of several people at one screen; until then it is hidden."""
        session.sit(who.seat, who.turn, who.epoch)
        return snapshot(session, True)

    @router.post("/api/play/{id}/go")
    async def go(goal: Goal, session: Session = of_id) -> dict[str, Any]:
        """Let agents that play all seats go on; answered as a move is."""
        await asyncio.to_thread(session.go, goal.until)
        await settled(session, _QUICK_S)
        return {"view": await asyncio.to_thread(session.view, goal.epoch, goal.since)}

    @router.post("/api/play/{id}/resign")
    def resign(who: Person, session: Session = of_id) -> dict[str, Any]:
        """Give the game up; only in games of two players."""
        session.resign(who.seat, who.epoch)
        return snapshot(session)

    @router.post("/api/play/{id}/undo")
    def undo(seen: Seen, session: Session = of_id) -> dict[str, Any]:
        """Take back the person's last move and the answers to it; only in games in turns."""
        session.undo(seen.turn, seen.epoch)
        return snapshot(session)

    @router.delete("/api/play/{id}", status_code=204)
    def leave(id: str) -> None:
        """Delete a game."""
        sessions.drop(id)

    @router.get("/api/play/{id}/record.jsonl")
    def game_record(session: Session = of_id) -> Response:
        """Return the finished game as a line of a file of records."""
        record = session.record()
        return download(PlainTextResponse(record.to_json() + "\n", media_type="application/x-ndjson"), record, "jsonl")

    @router.post("/api/play/{id}/store")
    def keep_game(nothing: Act, session: Session = of_id) -> dict[str, Any]:
        """Add the finished game to the store, unless moves were taken back in it."""
        record = session.record()
        if state.store is None:
            raise HTTPException(409, "this server was started without a store")
        if session.undone:
            cause = "moves were taken back in this game, so it cannot be added to the store; save its record instead"
            raise HTTPException(409, cause)
        listed, names = state.agents(), [name for seat, name in enumerate(record.agents) if seat not in session.people]
        known = identities({name: listed.get(name, name) for name in names}, session.game)
        with Store(state.store) as kept:
            new = kept.add_played([record], "page", known)
        session.note_stored()
        return {"new": new}

    return router

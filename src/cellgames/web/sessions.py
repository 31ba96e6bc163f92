"""Live games: a bounded number in memory, all of them in files, one a game, that are read again when asked for."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from hmac import compare_digest
from pathlib import Path
from typing import Any

from cellgames.arena.records.record_lines import has_changed, sign, to_line
from cellgames.utils.errors import InputError
from cellgames.utils.files import write_atomic

from .live_game import RefusedError, Seated, Session

_MOST_KEPT = 64  # sessions in memory at the same time
_IDLE_S = 3600.0  # after which a session that nobody asks for leaves the memory
_MOST_WATCHED = 4  # games of agents alone that one visitor has in memory at the same time
_MOST_SAVED = 10_000  # files; a new game is refused beyond
_MOST_LISTED = 100
_ID = re.compile(r"[A-Za-z0-9_-]{16}")
_ADDRESS = re.compile(rf"({_ID.pattern})(?:\.({_ID.pattern}))?")  # an id, in a game by link with the secret of a seat
VISITOR: ContextVar[str] = ContextVar("VISITOR", default="")  # the address from which the request being answered comes

_clock = time.monotonic


class FullError(Exception):
    """The server cannot keep another session."""


class Sessions:
    """The live games.

    Args:
        folder: Where games are saved; made with the first one.
        restore: Makes a session of what `Session.saved` returned.

    The session in memory that was left alone for longest makes room, and is read again when somebody asks for it. Games
    of agents alone have half of the places, four of them for one visitor, so that they cannot keep people from playing.
    """

    def __init__(self, folder: Path, restore: Callable[[Mapping[str, Any]], Session]) -> None:
        self._folder, self._restore = folder, restore
        self._kept: dict[str, Session] = {}  # the one that was left alone for longest first
        self._lock, self._reading = threading.RLock(), threading.Lock()

    def __len__(self) -> int:
        """Return the number of sessions in memory."""
        return len(self._kept)

    def make_room(self, *, agents_alone: bool = False) -> None:
        """Let idle sessions leave the memory, and if all places are taken the one that was left alone for longest.

        Args:
            agents_alone: True for a game without people.

        Raises:
            FullError: Agents think in all of them.
        """
        with self._lock:
            old = [one for one in self._kept.values() if _clock() - one.asked_at > _IDLE_S]
            self._leave([one for one in old if not one.thinking])
            if agents_alone:
                own = "games of agents alone, as many as a visitor has,"
                self._shrink(lambda one: not one.people and one.visitor == VISITOR.get(), _MOST_WATCHED, own)
                self._shrink(lambda one: not one.people, max(1, _MOST_KEPT // 2), "games of agents alone")
            self._shrink(lambda one: True, _MOST_KEPT, "games")

    def _shrink(self, among: Callable[[Session], bool], most: int, kind: str) -> None:
        """Let sessions leave in which no agent thinks, the longest left alone first, until fewer than `most` stay."""
        sessions = [*filter(among, self._kept.values())]
        quiet = [one for one in sessions if not one.thinking]
        surplus = max(0, len(sessions) + 1 - most)
        if len(quiet) < surplus:
            raise FullError(f"{most} {kind} are being played; try again in a moment")
        self._leave(quiet[:surplus])

    def add(self, session: Session, *, saved: bool = True) -> None:
        """Keep a session, in a file too if it is `saved`; call `make_room` first.

        Raises:
            FullError: Too many games are saved.
        """
        if saved:
            path = self._path(session.id)
            self._folder.mkdir(parents=True, exist_ok=True)
            if not path.exists() and sum(1 for _ in self._folder.glob("*.json")) >= _MOST_SAVED:
                raise FullError(f"{_MOST_SAVED:,} games are saved here; delete some of them")
            session.keep(lambda: write_atomic(path, sign(to_line(session.saved()).encode()) + b"\n"))
        with self._lock:
            self._kept[session.id] = session
            session.visitor, session.asked_at = VISITOR.get(), _clock()

    def get(self, id: str) -> Session:
        """Return the session, from its file if it is not in memory; a game by link as the person of a seat has it.

        Args:
            id: The id of the game, in a game by link with the secret of the seat (`Session.address`).

        Raises:
            LookupError: There is no such game.
            ValueError: Its file is damaged, or its agents are no longer here.
            FullError: Agents think in all games in memory.
        """
        game, secret = _parts(id)
        session = self._find(game)
        if not session.keys:
            return session
        for seat, key in session.keys.items():
            if compare_digest(key, secret):
                return Seated(session, seat)
        raise _missing()

    def _find(self, id: str) -> Session:
        if (session := self._asked(id)) is not None:
            return session
        with self._reading:  # one at a time, and each of them once
            if (session := self._asked(id)) is not None:
                return session
            saved = self._read(self._path(id))
            self.make_room(agents_alone=None not in saved["seats"])
            session = self._restore(saved)
            self.add(session)
            return session

    def _asked(self, id: str) -> Session | None:
        with self._lock:
            if (session := self._kept.pop(id, None)) is not None:
                self._kept[id], session.asked_at = session, _clock()
            return session

    def drop(self, address: str) -> None:
        """Delete a game.

        Raises:
            LookupError: There is no such game.
            RefusedError: Somebody else has begun this game by link.
        """
        id, secret = _parts(address)
        path = self._path(id)
        kept = self._kept.get(id)
        keys = [key for _, key in self._read(path)["keys"]] if kept is None else [*kept.keys.values()]
        if keys and secret not in keys:
            raise _missing()
        if keys and secret != keys[0]:
            raise RefusedError(cause="only the person who has begun this game can delete it")
        with self._lock:
            self._kept.pop(id, None)
        if kept is not None:
            kept.close()
        path.unlink(missing_ok=True)

    def games(self, ids: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Return the last games that were played, those with one of `ids` if given, the newest first.

        Returns:
            JSON objects with `id`, `game`, `title`, `players`, `names` (None for a person), `turns`, `outcome` (None
            while the game goes on) and `time`.
        """
        given = {} if ids is None else {match[1]: match[2] or "" for id in ids if (match := _ADDRESS.fullmatch(id))}
        paths = self._folder.glob("*.json") if ids is None else map(self._path, given)
        dated = sorted(((path.stat().st_mtime, path) for path in paths if path.is_file()), reverse=True)
        found = []
        for changed, path in dated[:_MOST_LISTED]:
            try:
                saved = self._read(path)
            except (LookupError, ValueError):
                continue  # deleted at this moment, or damaged: whoever opens it reads why
            keys = [key for _, key in saved["keys"]]
            own = (keys or [""])[0] if ids is None else given[saved["id"]]
            if keys and own not in keys:
                continue
            address = f"{saved['id']}.{own}" if keys else saved["id"]
            about = {name: saved[name] for name in ("game", "title", "players", "outcome")}
            more = {"names": saved["seats"], "turns": len(saved["moves"])}
            found.append({"id": address, **about, **more, "time": changed})
        return found

    def close(self, seconds: float) -> bool:
        """Close all sessions and wait some seconds for their agents; return True if all have ended their move."""
        with self._lock:
            sessions = [*self._kept.values()]
            self._kept.clear()
        for session in sessions:
            session.close()
        end = time.monotonic() + seconds
        while any(session.thinking for session in sessions):
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def _leave(self, sessions: Sequence[Session]) -> None:
        for session in sessions:
            if self._kept.pop(session.id, None) is not None:
                session.close(leave=True)

    def _path(self, id: str) -> Path:
        if not _ID.fullmatch(id):
            raise _missing()
        return self._folder / f"{id}.json"

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            line = path.read_bytes().rstrip(b"\n")
        except FileNotFoundError:
            raise _missing() from None
        if has_changed(line):
            raise InputError("game", "a file as it was saved", "a changed one", where=path.stem)
        found: dict[str, Any] = json.loads(line)
        return found


def _parts(address: str) -> tuple[str, str]:
    """Return the id of a game and the secret of a seat, "" without one; raise a `LookupError` for another text."""
    if (match := _ADDRESS.fullmatch(address)) is None:
        raise _missing()
    return match[1], match[2] or ""


def _missing() -> LookupError:
    return LookupError("there is no such game any more; begin a new one")


def specs_of(people: Sequence[int], agents: Sequence[str], players: Sequence[str]) -> list[str | None]:
    """Return the agent of each seat, None for a person.

    Args:
        people: The seats of people, none for a game of agents alone.
        agents: One agent for all other seats, or one for each of them; none are needed where people have all seats.
        players: Names of all seats.

    Raises:
        ValueError: There is another number of agents.
    """
    others = [seat for seat in range(len(players)) if seat not in people]
    if others and len(agents) not in (1, len(others)):
        raise InputError("agents", f"one agent, or one for each of {len(others)} seats", len(agents))
    given = iter(agents if len(agents) == len(others) else [*agents] * len(others))
    return [None if seat in people else next(given) for seat in range(len(players))]

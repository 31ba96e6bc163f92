"""The sessions in memory: a bounded number of live games."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .live_game import Session

_MOST_WATCHED = 4  # games of agents alone that one visitor has at the same time


class FullError(Exception):
    """The server cannot keep another session."""


class _Kept(NamedTuple):
    """A session, the visitor who has it, and when it was last asked for."""

    session: Session
    visitor: str
    asked: float


class Sessions:
    """The live games in memory.

    Args:
        most: Most sessions at the same time; the one that was left alone for longest makes room. Games of agents alone
            have half of the places, four of them for one visitor, so that they cannot keep people from playing.
        idle: Seconds after which a session that nobody asks for is dropped.
        clock: A function that returns seconds, for tests.
    """

    def __init__(self, most: int = 64, idle: float = 3600.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._idle, self._clock = most, idle, clock
        self._kept: dict[str, _Kept] = {}  # the one that was left alone for longest first
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of sessions."""
        return len(self._kept)

    def make_room(self, *, agents_alone: bool = False, visitor: str = "") -> None:
        """Drop idle sessions, and if all places are taken the one that was left alone for longest.

        Args:
            agents_alone: True for a game without people.
            visitor: Who asks for the game.

        Raises:
            FullError: Agents think in all of them.
        """
        with self._lock:
            self._drop([id for id, kept in self._kept.items() if self._clock() - kept.asked > self._idle])
            if agents_alone:
                own = [id for id, kept in self._kept.items() if not kept.session.people and kept.visitor == visitor]
                self._shrink(own, _MOST_WATCHED, "games of agents alone, as many as a visitor has,")
                watched = [id for id, kept in self._kept.items() if not kept.session.people]
                self._shrink(watched, max(1, self._most // 2), "games of agents alone")
            self._shrink([*self._kept], self._most, "games")

    def _shrink(self, ids: list[str], most: int, kind: str) -> None:
        """Drop sessions in which no agent thinks, the longest left alone first, until fewer than `most` stay."""
        quiet = [id for id in ids if not self._kept[id].session.thinking]
        surplus = max(0, len(ids) + 1 - most)
        if len(quiet) < surplus:
            raise FullError(f"{most} {kind} are being played; try again in a moment")
        self._drop(quiet[:surplus])

    def add(self, session: Session, visitor: str = "") -> None:
        """Keep a session of a visitor; call `make_room` first."""
        with self._lock:
            self._kept[session.id] = _Kept(session, visitor, self._clock())

    def get(self, id: str) -> Session:
        """Return the session; raise a `LookupError` for an unknown one."""
        with self._lock:
            if (kept := self._kept.pop(id, None)) is None:
                raise LookupError("there is no such game any more; begin a new one")
            self._kept[id] = kept._replace(asked=self._clock())
            return kept.session

    def drop(self, id: str) -> None:
        """Forget a session; raise a `LookupError` for an unknown one."""
        self.get(id)
        with self._lock:
            self._drop([id])

    def close(self, seconds: float) -> bool:
        """Drop all sessions and wait some seconds for their agents; return True if all have ended their move."""
        with self._lock:
            sessions = [kept.session for kept in self._kept.values()]
            self._drop([*self._kept])
        end = time.monotonic() + seconds
        while any(session.thinking for session in sessions):
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def _drop(self, ids: Sequence[str]) -> None:
        for id in ids:
            if (kept := self._kept.pop(id, None)) is not None:
                kept.session.close()


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
        raise ValueError(f"expected one agent, or one for each of {len(others)} seats, got {len(agents)}")
    given = [*agents] * (len(others) if len(agents) == 1 else 1)
    named = dict(zip(others, given, strict=False))
    return [named.get(seat) for seat in range(len(players))]

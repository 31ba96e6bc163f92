"""Clocks of games: how long agents may think, and how long they have thought. Importing this imports no torch."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from time import perf_counter

from cellgames.utils.errors import InputError, shown

OUT_OF_TIME = "ran out of time: "
"""The beginning of the reason of a game that was lost on time."""

_CLOCK = re.compile(r"(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?")
_DIGITS = 4  # of seconds that are kept: a tenth of a millisecond


@dataclass(frozen=True)
class TimeControl:
    """Limits of the time that an agent may think in a game. An agent that exceeds one has lost.

    Attributes:
        budget: seconds for all moves of a seat, infinity for no limit.
        increment: seconds that each move adds after it.
        move: seconds for one move, infinity for no limit.
    """

    budget: float = math.inf
    increment: float = 0.0
    move: float = math.inf

    @classmethod
    def parse(cls, clock: str | None, move_time: float | None = None) -> TimeControl | None:
        """Return the limits of a clock such as `60+0.5` or `60`, and of a time a move; None without either."""
        if clock is None and move_time is None:
            return None
        budget, increment = math.inf, 0.0
        if clock is not None:
            found = _CLOCK.fullmatch(clock)
            if found is None or float(found[1]) <= 0 or max(map(float, filter(None, found.groups()))) > 1e6:
                raise InputError("clock", "seconds for the game and for each move, such as 60 or 60+0.5", shown(clock))
            budget, increment = float(found[1]), float(found[2] or 0)
        return cls(budget, increment, math.inf if move_time is None else move_time)

    def __str__(self) -> str:
        budget = f"{self.budget:g} s a game" + f" and {self.increment:g} s more a move" * bool(self.increment)
        limits = {budget: self.budget, f"{self.move:g} s a move": self.move}
        return ", ".join(text for text, limit in limits.items() if limit < math.inf)


@dataclass
class Clocks:
    """The clocks of the games of a batch.

    Attributes:
        control: the limits.
        used: by environment and seat, the seconds of each move.
        running: environment and seat whose clock runs, and since when by `perf_counter`; None if none does.
    """

    control: TimeControl
    used: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    running: tuple[int, int, float] | None = None

    def start(self, env_id: int, player: int) -> None:
        """Note that a seat begins to think; `charge` ends that."""
        self.running = env_id, player, perf_counter()

    def stop(self) -> tuple[int, int, float] | None:
        """Return environment and seat whose clock ran, and the seconds, and let it run no more."""
        running, self.running = self.running, None
        return None if running is None else (*running[:2], perf_counter() - running[2])

    def left(self, env_id: int, player: int) -> float:
        """Return the seconds of a seat's budget that are left."""
        used = self.used.get((env_id, player), ())
        return self.control.budget + self.control.increment * len(used) - math.fsum(used)

    def face(self, env_id: int, player: int) -> dict[str, float]:
        """Return the clock for a program: `left`, `increment` and `move` in seconds, as far as there are limits."""
        face: dict[str, float] = {}
        if self.control.budget < math.inf:
            face = {"left": round(self.left(env_id, player), _DIGITS), "increment": self.control.increment}
        return face | ({"move": self.control.move} if self.control.move < math.inf else {})

    def patience(self, env_id: int, player: int) -> float:
        """Return the seconds that are left for the next move of a seat."""
        return max(min(self.left(env_id, player), self.control.move), 0.0)

    def late(self, env_id: int, player: int, seconds: float) -> str:
        """Return why a seat has lost by thinking so long about the next move, "" if it has not."""
        left = self.left(env_id, player)
        if seconds > self.control.move:
            return f"{OUT_OF_TIME}thinking took {seconds:.2f} s, and {self.control.move:g} s a move are allowed"
        if seconds > left:
            return f"{OUT_OF_TIME}thinking took {seconds:.2f} s, and {max(left, 0.0):.2f} s were left"
        return ""

    def charge(self, env_id: int, player: int, seconds: float) -> str:
        """Take the time of a move from a seat's clock; return what `late` does."""
        reason, self.running = self.late(env_id, player, seconds), None
        self.used.setdefault((env_id, player), []).append(round(seconds, _DIGITS))
        return reason

    def times(self, env_id: int, players: int) -> tuple[tuple[float, ...], ...]:
        """Return the seconds of each move of a game, by seat."""
        return tuple(tuple(self.used.get((env_id, player), ())) for player in range(players))

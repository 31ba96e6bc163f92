"""Options of series. Importing this imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cellgames.agents.time_control import TimeControl
from cellgames.arena.play.match_options import MatchOptions
from cellgames.runs.run_folder import RunOptions
from cellgames.utils.options import option, redefault

Gifts = Literal["none", "second", "random", "agents"]
"""Names of the ways in which players give Tokens away: `series_rules.GIVERS`, and as agents decide."""


@dataclass(frozen=True, kw_only=True)
class SeriesOptions(RunOptions):
    """Options of series of matches."""

    series: int = option(1, "series, each with chance of its own", low=1)
    matches: int | None = option(None, "matches of a series, at most (default: until one player is left)", low=1)
    gifts: Gifts = option(  # noqa: RUF009  # makes a field
        "none",
        "gifts of Tokens after a match: none; second, who wins two gives one to the best other player; random; or "
        "agents, those with a method give_tokens decide",
    )
    chunk: int = option(100, "series played at the same time, and whose match is lost if the run is stopped", low=1)
    clock: str | None = redefault(MatchOptions, "clock", None)
    move_time: float | None = redefault(MatchOptions, "move_time", None)
    seed: int = option(0, "seed of all random numbers")

    @property
    def time_control(self) -> TimeControl | None:
        """The limits of thinking, None without any."""
        return TimeControl.parse(self.clock, self.move_time)

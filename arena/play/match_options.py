"""Options of all runs of games but seasons. Importing this imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from cellgames.agents.time_control import TimeControl
from cellgames.runs.run_folder import RunOptions
from cellgames.utils.errors import InputError
from cellgames.utils.options import Options, option


@dataclass(frozen=True, kw_only=True)
class MatchOptions(Options):
    """Options of a match: all that its games depend on besides the game and the agents.

    Raises:
        ValueError: a value of another type or out of range, or an odd number of games.
    """

    games: int = option(100, "games of each pair of agents; even, since each opening is played in both seats", low=2)
    seed: int = option(0, "seed of all random numbers")
    opening_plies: int = option(2, "random moves before the agents move, at most", low=0)
    chunk: int = option(25, "openings played at the same time, and lost together if the run is stopped", low=1)
    clock: str | None = option(
        None, "seconds of an agent for a game, and seconds that each move adds, such as 60+0.5", metavar="S+S"
    )
    move_time: float | None = option(None, "seconds of an agent for a move", above=0, metavar="S")
    forfeits: Literal["loss", "void"] = option(
        "loss", "what a game is for scores and ratings in which an agent failed: a loss of that agent, or void"
    )
    policies: bool = option(False, "keep in the records what agents that search think of each move (mcts, gumbel)")

    per_opening: ClassVar[int] = 2
    """Games from each opening: one in either seat."""

    def __post_init__(self) -> None:
        super().__post_init__()
        TimeControl.parse(self.clock)
        if self.games % self.per_opening:
            raise InputError("games", "even, since each opening is played in both seats", self.games)

    @property
    def void(self) -> bool:
        """True if games in which an agent failed count for nothing."""
        return self.forfeits == "void"

    @property
    def time_control(self) -> TimeControl | None:
        """The limits of thinking, None without any."""
        return TimeControl.parse(self.clock, self.move_time)

    def chunks(self) -> list[range]:
        """Return the numbers of the openings of each chunk; only the last one may be short."""
        openings = self.games // self.per_opening
        return [range(start, min(start + self.chunk, openings)) for start in range(0, openings, self.chunk)]


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions(MatchOptions):
    """Options of an evaluation: an agent against each of several opponents."""

    games: int = option(200, "games against each opponent; even, since each opening is played in both seats", low=2)
    opening_plies: int = option(2, "random moves before the agents move, in games for two", low=0)


@dataclass(frozen=True, kw_only=True)
class RoundRobinOptions(RunOptions, MatchOptions):
    """Options of a round robin."""

    anchor: str | None = option(None, "agent that is rated 0 (default: the mean is 0)", metavar="AGENT")
    until_certain: bool = option(
        False, "add games where the order of the agents is open; games is then a multiple of twice the chunk"
    )
    budget: int | None = option(None, "games in all at which until-certain ends (default ten times the first games)")
    gif: bool = option(True, "draw a game of middle length of the two best agents")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.until_certain and self.void:
            raise InputError("forfeits", "'loss'", "'void'", "until_certain counts all games")
        if self.budget is not None and not self.until_certain:
            raise InputError("budget", "until_certain=True, which a budget is for", f"{self.budget} without it")


@dataclass(frozen=True, kw_only=True)
class FreeForAllOptions(RunOptions, MatchOptions):
    """Options of free-for-all games."""

    games: int = option(100, "games; a multiple of the number of agents gives all agents the same seats", low=1)
    opening_plies: int = option(0, "random moves before the agents move, at most", low=0)
    chunk: int = option(25, "games played at the same time, and lost together if the run is stopped", low=1)
    anchor: str | None = option(None, "agent that is rated 0 (default: the mean is 0)", metavar="AGENT")

    per_opening: ClassVar[int] = 1


@dataclass(frozen=True, kw_only=True)
class LadderOptions(RunOptions, MatchOptions):
    """Options of a climb of a ladder; its random openings are as long as those by which the ladder was rated."""

    games: int = option(400, "games at which the climb ends at the latest; even", low=2)
    chunk: int = option(5, "openings played at the same time against one rung", low=1)
    within: float = option(
        100.0, "end when the 95 % interval reaches so many Elo points to either side", low=1, high=400
    )
    rungs: str | None = option(
        None, "folder of a round robin whose agents are the rungs (default the ladder of the package)", metavar="DIR"
    )

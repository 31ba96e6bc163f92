"""The options of `cellgames league`. Importing this imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cellgames.runs.run_folder import RunOptions
from cellgames.utils.errors import InputError
from cellgames.utils.options import option

Method = Literal["psro", "global", "league"]
Solver = Literal["auto", "nash", "uniform", "cce"]

MOST_TABLES = 5_000
"""Most tables of different members that are played for a coarse correlated equilibrium."""


@dataclass(frozen=True, kw_only=True)
class LeagueOptions(RunOptions):
    """Options of a league.

    Raises:
        ValueError: a value of another type or out of range, or an odd number of games.
    """

    method: Method = option(  # noqa: RUF009  # makes a field
        "psro",
        "psro adds a best response to the meta-strategy in each round; global the one of several responses that leaves "
        "the population least exploitable; league trains a main agent, and exploiters of it and of all members",
    )
    meta_solver: Solver = option(  # noqa: RUF009  # makes a field
        "auto", "solver of the meta-game; auto is nash for two seats and cce for more"
    )
    rounds: int = option(8, "rounds of training; more let a league grow", low=1)
    responses: int = option(2, "responses that each round of the method global tries", low=2)
    first: str = option("random", "agent that the first round meets", metavar="AGENT")
    warm_start: bool = option(
        True, "start each best response from the one before, and exploiters from the main agent; otherwise anew"
    )
    exploiter_share: float = option(0.2, "steps of an exploiter, as a share of those of a main agent", above=0, high=1)
    games: int = option(100, "games of each pair of members; even", low=2)
    opening_plies: int = option(2, "random moves before the members move in these games, in games for two", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.games % 2:
            raise InputError("games", "even, since each opening is played in both seats", self.games)

    def solver(self, seats: int) -> str:
        """Return the name of the meta-solver for a game.

        Raises:
            ValueError: the meta-solver does not serve this number of seats.
        """
        pairs = seats == 2 or self.method == "global"
        if self.meta_solver == "cce" and pairs:
            raise InputError("meta_solver", "nash or uniform, for two seats or the method global", "cce")
        return self.meta_solver if self.meta_solver != "auto" else "nash" if pairs else "cce"

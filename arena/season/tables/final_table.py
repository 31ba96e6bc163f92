"""The final table of a season: the best teams play until one of them has won four games, as in the Toroidal Cup Series.

A final is a function of the finalists and of the results so far. Seats move on by one from game to game, so everybody
has each seat equally often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .place_standings import TableResult

__all__ = ["FINAL", "FINAL_WINS", "FinalTable"]

FINAL = "Final Table"
"""The stage of its games in records."""

FINAL_WINS = 4
"""Games that a champion wins in the final, by the rules of the Toroidal Cup Series."""


@dataclass(frozen=True)
class FinalTable:
    """Games of the best teams of a season, until one has won `FINAL_WINS` of them.

    Attributes:
        teams: the finalists in the order of the standings, as many as seats.
        results: so far; each has a winner.
    """

    teams: tuple[str, ...]
    results: tuple[TableResult, ...] = ()

    @property
    def wins(self) -> tuple[int, ...]:
        """Return the games that each finalist has won."""
        return tuple(sum(result.winner == team for result in self.results) for team in self.teams)

    @property
    def champion(self) -> str | None:
        """Return the winner, None while the final goes on."""
        return next((team for team, wins in zip(self.teams, self.wins, strict=True) if wins == FINAL_WINS), None)

    def seats(self) -> tuple[str, ...]:
        """Return the teams of the next game in the order of their seats."""
        turn = len(self.results) % len(self.teams)
        return (*self.teams[turn:], *self.teams[:turn])

    def after(self, result: TableResult) -> FinalTable:
        """Return the final after one more game."""
        return FinalTable(self.teams, (*self.results, result))

    @property
    def order(self) -> Sequence[str]:
        """Return the finalists by games won, then by the standings."""
        wins = dict(zip(self.teams, self.wins, strict=True))
        return sorted(self.teams, key=lambda team: -wins[team])

"""The playoffs: from the four seeds of each league to the champion.

    League Division Series       in each league 1 v 4 and 2 v 3, best of 5
    League Championship Series   in each league the two winners, best of 5
    Toroidal Cup Series          the winners of the leagues, best of 7

A bracket is a function of the seeds and of the results so far. The rules: "The playoffs" of the Toroidal Cup rules on
the Golly.Life wiki. First seats go AABBA and AABBBAA, where A is the higher seed; in the Toroidal Cup Series that is
the team that stands higher in the standings of the whole season.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .standings import SEEDS, GameResult

FIRST_SEATS = {5: "AABBA", 7: "AABBBAA"}
"""By the most games of a series, who has the first seat: A the higher seed, B the other."""

ROUNDS = ("League Division Series", "League Championship Series", "Toroidal Cup Series")


@dataclass(frozen=True)
class Series:
    """Games of the same teams until one has won more than half of `best_of`.

    Attributes:
        key: its name; all keys of a bracket differ.
        round: one of `ROUNDS`.
        league: "" in the last round.
        teams: the higher seed in front.
        best_of: the most games.
        results: so far.
    """

    key: str
    round: str
    league: str
    teams: tuple[str, ...]
    best_of: int
    results: tuple[GameResult, ...] = ()

    @property
    def wins(self) -> tuple[int, ...]:
        """Return the games won by each team."""
        return tuple(sum(result.winner == team for result in self.results) for team in self.teams)

    @property
    def winner(self) -> str | None:
        """Return the winner of the series, None while it is undecided."""
        return next((team for team, won in zip(self.teams, self.wins, strict=True) if 2 * won > self.best_of), None)

    def seats(self) -> tuple[str, str]:
        """Return the teams of the next game in the order of their seats."""
        higher, lower = self.teams
        return (higher, lower) if FIRST_SEATS[self.best_of][len(self.results)] == "A" else (lower, higher)


@dataclass(frozen=True)
class Bracket:
    """The series that are known so far, round by round.

    Attributes:
        seeds: by league, best first.
        rounds: series of each round; a round begins when the one before it is decided.
    """

    seeds: Mapping[str, tuple[str, ...]]
    rounds: tuple[tuple[Series, ...], ...]

    @property
    def pending(self) -> tuple[Series, ...]:
        """Return the series in which another game has to be played."""
        return tuple(series for series in self.rounds[-1] if series.winner is None)

    @property
    def champion(self) -> str | None:
        """Return the winner of the last series, None before."""
        last = self.rounds[-1]
        return last[0].winner if len(last) == 1 else None


def bracket(
    seeds: Mapping[str, Sequence[str]], order: Sequence[str], results: Mapping[str, Sequence[GameResult]]
) -> Bracket:
    """Return the playoffs as far as they are known.

    Args:
        seeds: four teams by league, best first.
        order: all teams of the season, or all seeds, by their standing.
        results: games by the key of their series, in the order they were played.
    """
    place = {team: number for number, team in enumerate(order)}

    def series(number: int, league: str, label: str, one: str, two: str) -> Series:
        name = ROUNDS[number]
        key = ", ".join(part for part in (league, name, label) if part)
        high, low = sorted((one, two), key=lambda team: place[team])
        best_of = 7 if number == len(ROUNDS) - 1 else 5
        return Series(key, name, league, (high, low), best_of, tuple(results.get(key, ())))

    rounds = [
        tuple(
            series(0, league, f"{high + 1} v {SEEDS - high}", teams[high], teams[SEEDS - 1 - high])
            for league, teams in seeds.items()
            for high in range(2)
        )
    ]
    if winners := _winners(rounds[0]):
        rounds.append(tuple(series(1, league, "", *winners[2 * n : 2 * n + 2]) for n, league in enumerate(seeds)))
        if winners := _winners(rounds[1]):
            rounds.append((series(2, "", "", *winners),))
    return Bracket({league: tuple(teams) for league, teams in seeds.items()}, tuple(rounds))


def _winners(series: Sequence[Series]) -> list[str]:
    """Return the winners of all series of a round in their order; none unless all are decided."""
    winners = [one.winner for one in series if one.winner is not None]
    return winners if len(winners) == len(series) else []

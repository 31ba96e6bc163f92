"""Standings and playoffs.

The order is by wins, then points scored over the season, then a 100-sided die.

A game that nobody won is half a win for each team. The rules: "The season" and "The playoffs" of the Toroidal Cup rules
on the Golly.Life wiki, which give the order and the die.

The playoffs lead from the four seeds of each league to the champion:

    League Division Series       in each league 1 v 4 and 2 v 3, best of 5
    League Championship Series   in each league the two winners, best of 5
    Toroidal Cup Series          the winners of the leagues, best of 7

A bracket is a function of the seeds and of the results so far. First seats go AABBA and AABBBAA, where A is the higher
seed; in the Toroidal Cup Series that is the team that stands higher in the standings of the whole season.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import TypeAlias

from cellgames.utils.errors import InputError

SIDES = 100

Die: TypeAlias = Callable[[str, int], int]
"""Gives the n-th roll of a team, n from 0: a number from 1 to `SIDES`."""

SEEDS = 4
"""Teams of a league in the playoffs."""

_MOST_ROLLS = 1000  # of fair dice, two of which are level that often once in 10^2000 seasons


@dataclass(frozen=True)
class GameResult:
    """The result of a game, after its replays.

    Attributes:
        teams: in the order of their seats.
        scores: the game's own measure by seat, of the last replay.
        winner: a team's name, None for a game that nobody won.
        attempts: number of times that it was played; all but the last time nobody won.
        rolls: by seat, the dice of level teams; () for none.
    """

    teams: tuple[str, ...]
    scores: tuple[float, ...]
    winner: str | None
    attempts: int = 1
    rolls: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Line:
    """A team's line in the standings.

    Attributes:
        rank: from 1, among all teams of the season; the order within leagues and divisions follows.
        wins: games won, and half a win for each game that nobody won.
        points: scores over the season.
        rolls: dice against the teams that were level in wins and points, for as long as others were level with it.
    """

    rank: int
    team: str
    games: int
    wins: float
    points: float
    rolls: tuple[int, ...] = ()

    @property
    def losses(self) -> float:
        """Return the number of games not won."""
        return self.games - self.wins


def standings(teams: Sequence[str], results: Iterable[GameResult], die: Die) -> list[Line]:
    """Return the lines of all teams in their order.

    Args:
        teams: names, each once.
        results: in any order.
        die: asked for the rolls of teams that are level.
    """
    games: dict[str, list[tuple[float, float]]] = {team: [] for team in teams}  # wins and points
    for result in results:
        for team, score in zip(result.teams, result.scores, strict=True):
            games[team].append((0.5 if result.winner is None else float(result.winner == team), score))

    def merit(team: str) -> tuple[float, float]:
        return math.fsum(won for won, _ in games[team]), math.fsum(score for _, score in games[team])

    levels = groupby(sorted(teams, key=merit, reverse=True), merit)
    order = [rolled for _, level in levels for rolled in roll_off([*level], die)]
    return [Line(rank, team, len(games[team]), *merit(team), rolls) for rank, (team, rolls) in enumerate(order, 1)]


def roll_off(teams: Sequence[str], die: Die) -> list[tuple[str, tuple[int, ...]]]:
    """Order level teams by dice, higher first; those that stay level roll again.

    Returns:
        Each team with its rolls; a single team rolls nothing.

    Raises:
        ValueError: a die without end.
    """
    rolls: dict[str, tuple[int, ...]] = dict.fromkeys(teams, ())
    for number in range(_MOST_ROLLS):
        alike = Counter(rolls.values())
        level = {team: own for team, own in rolls.items() if alike[own] > 1}
        if not level:
            return sorted(rolls.items(), key=itemgetter(1), reverse=True)
        rolls |= {team: (*own, die(team, number)) for team, own in level.items()}
    raise InputError("die", "a fair one", f"{_MOST_ROLLS} level rolls", where=", ".join(teams))


def seed_teams(table: Sequence[Line], leagues: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, tuple[str, ...]]:
    """Return the teams that go to the playoffs, by league, best first.

    They are the winners of the divisions and the best others, `SEEDS` in all, in the order of the standings.
    """
    place = {line.team: line.rank for line in table}
    seeds = {}
    for league, divisions in leagues.items():
        winners = [min(members, key=place.__getitem__) for members in divisions.values()]
        best = sorted(chain(*divisions.values()), key=lambda team: (team not in winners, place[team]))
        seeds[league] = tuple(sorted(best[:SEEDS], key=place.__getitem__))
    return seeds


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

    def series(name: str, league: str, label: str, *pair: str) -> Series:
        key = ", ".join(filter(None, (league, name, label)))
        teams, best_of = tuple(sorted(pair, key=order.index)), 7 if name == ROUNDS[-1] else 5
        return Series(key, name, league, teams, best_of, tuple(results.get(key, ())))

    pairs = [
        (league, f"{high} v {low}", teams[high - 1], teams[low - 1])
        for league, teams in seeds.items()
        for high, low in ((1, 4), (2, 3))
    ]
    rounds: list[tuple[Series, ...]] = []
    for name in ROUNDS:
        rounds.append(tuple(series(name, *pair) for pair in pairs))
        winners = [one.winner for one in rounds[-1] if one.winner is not None]
        if len(winners) < len(pairs):
            break
        leagues = [*seeds] if len(winners) > 2 else [""]
        met = zip(leagues, winners[::2], winners[1::2], strict=False)
        pairs = [(league, "", one, two) for league, one, two in met]
    return Bracket({league: tuple(teams) for league, teams in seeds.items()}, tuple(rounds))

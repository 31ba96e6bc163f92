"""Standings: wins, then points scored over the season, then a 100-sided die.

All of it follows from the results and the die, whoever played them. The rules: "The season" and "The playoffs" of the
Toroidal Cup rules on the Golly.Life wiki, which give the order and the die; a game without a winner counts as half a
win each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

__all__ = ["SIDES", "Die", "GameResult", "Line", "roll_off", "seed_teams", "standings"]

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
        teams: the one with the first seat, the other one.
        scores: the game's own measure, of the last replay.
        winner: a team's name, or None: half a win each.
        attempts: how often it was played; all but the last time nobody won.
        rolls: dice of both teams that decided it, one after the other until they differed; () for none.
    """

    teams: tuple[str, str]
    scores: tuple[float, float]
    winner: str | None
    attempts: int = 1
    rolls: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Line:
    """A team's line in the standings.

    Attributes:
        rank: from 1, among all teams of the season; the order within leagues and divisions follows.
        wins: with half a win for a game without a winner.
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

    Raises:
        ValueError: a result of another team, or a winner who did not play.
    """
    games, wins = dict.fromkeys(teams, 0), dict.fromkeys(teams, 0.0)
    scores: dict[str, list[float]] = {team: [] for team in teams}
    for result in results:
        if unknown := [team for team in result.teams if team not in games]:
            raise ValueError(f"expected results of {', '.join(teams)}, got one of {unknown[0]}")
        if result.winner is not None and result.winner not in result.teams:
            raise ValueError(f"{' v '.join(result.teams)}: expected one of them as winner, got {result.winner}")
        for team, score in zip(result.teams, result.scores, strict=True):
            games[team] += 1
            wins[team] += 0.5 if result.winner is None else float(result.winner == team)
            scores[team].append(score)
    points = {team: math.fsum(parts) for team, parts in scores.items()}

    def merit(team: str) -> tuple[float, float]:
        return -wins[team], -points[team]

    order: list[tuple[str, tuple[int, ...]]] = []
    for _, level in groupby(sorted(teams, key=lambda team: (merit(team), team)), key=merit):
        order += roll_off(list(level), die)
    return [
        Line(rank, team, games[team], wins[team], points[team], rolls) for rank, (team, rolls) in enumerate(order, 1)
    ]


def roll_off(teams: Sequence[str], die: Die) -> list[tuple[str, tuple[int, ...]]]:
    """Order level teams by dice, higher first; those that stay level roll again.

    Returns:
        Each team with its rolls; a single team rolls nothing.

    Raises:
        ValueError: a die without end.
    """
    rolls: dict[str, list[int]] = {team: [] for team in teams}
    groups = [list(teams)]
    for number in range(_MOST_ROLLS):
        if all(len(group) == 1 for group in groups):
            return [(team, tuple(rolls[team])) for group in groups for team in group]
        after: list[list[str]] = []
        for group in groups:
            if len(group) > 1:
                for team in group:
                    rolls[team].append(die(team, number))
                group.sort(key=lambda team: -rolls[team][-1])
            after += [list(level) for _, level in groupby(group, key=lambda team: rolls[team][-1:])]
        groups = after
    raise ValueError(f"{', '.join(teams)}: still level after {_MOST_ROLLS} rolls; expected a fair die")


def seed_teams(table: Sequence[Line], leagues: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, tuple[str, ...]]:
    """Return the teams that go to the playoffs, by league, best first.

    They are the winners of the divisions and the best others, `SEEDS` in all, in the order of the standings.

    Args:
        table: of `standings`.
        leagues: names by league and division.
    """
    place = {line.team: line.rank for line in table}
    seeds = {}
    for league, divisions in leagues.items():
        winners = [min(members, key=lambda team: place[team]) for members in divisions.values()]
        others = sorted(
            (team for members in divisions.values() for team in members if team not in winners),
            key=lambda team: place[team],
        )
        seeds[league] = tuple(sorted(winners + others[: SEEDS - len(winners)], key=lambda team: place[team]))
    return seeds

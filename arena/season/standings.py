"""Standings: wins, then points scored over the season, then a 100-sided die.

A game that nobody won is half a win for each team. The rules: "The season" and "The playoffs" of the Toroidal Cup rules
on the Golly.Life wiki, which give the order and the die.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

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
    wins, scores = ({team: list[float]() for team in teams} for _ in range(2))
    for result in results:
        for team, score in zip(result.teams, result.scores, strict=True):
            wins[team].append(0.5 if result.winner is None else float(result.winner == team))
            scores[team].append(score)
    won, total = ({team: math.fsum(parts) for team, parts in kind.items()} for kind in (wins, scores))

    def merit(team: str) -> tuple[float, float]:
        return -won[team], -total[team]

    order: list[tuple[str, tuple[int, ...]]] = []
    for _, level in groupby(sorted(teams, key=lambda team: (merit(team), team)), key=merit):
        order += roll_off(list(level), die)
    return [
        Line(rank, team, len(scores[team]), won[team], total[team], rolls)
        for rank, (team, rolls) in enumerate(order, 1)
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

"""Standings of a season whose games have more than two seats: points by places, then scores, then a 100-sided die.

A place of a game has points; seats that share places share their points equally. By default a place has as many points
as seats are behind it, so a team gets one for each team that it finishes ahead of, and a half for each that is level:
at a table of two that is a win for a win. The rest of the order is that of `standings`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from cellgames.arena.season.standings import Die, roll_off
from cellgames.utils.foreign_text import shown

__all__ = ["PlaceLine", "TableResult", "place_standings", "points_of_places", "shared_points"]


@dataclass(frozen=True)
class TableResult:
    """The result of a game of more than two teams, after its replays.

    Attributes:
        teams: in the order of their seats.
        scores: the game's own measure, by seat.
        places: by seat, 1 for the first; teams that share places have the best of them.
        winner: the team that is first alone, or the one of a die; None where several are first.
        attempts: how often it was played.
        rolls: by seat, the dice of those who shared the first place; () for none.
    """

    teams: tuple[str, ...]
    scores: tuple[float, ...]
    places: tuple[int, ...]
    winner: str | None
    attempts: int = 1
    rolls: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class PlaceLine:
    """A team's line in the standings.

    Attributes:
        rank: from 1.
        team: its name.
        games: how many.
        place_points: points of its places, in all games.
        wins: games in which it was first alone.
        mean_place: of all games, shared places counted as their mean.
        points: scores over the season.
        rolls: dice against the teams that were level in all of this.
    """

    rank: int
    team: str
    games: int
    place_points: float
    wins: int
    mean_place: float
    points: float
    rolls: tuple[int, ...] = ()


def points_of_places(given: Sequence[int], seats: int) -> tuple[int, ...]:
    """Return the points of each place, from the first on.

    Args:
        given: of the first places; the others have none. Nothing for as many as seats are behind.
        seats: of a table.

    Raises:
        ValueError: more points than places, a worse place with more points, or no place with any.
    """
    if not given:
        return tuple(range(seats - 1, -1, -1))
    points = (*given, *[0] * (seats - len(given)))
    if len(points) > seats or min(points) < 0 or list(points) != sorted(points, reverse=True) or not points[0]:
        raise ValueError(
            f"place_points must be at most {seats} whole numbers of at least 0, the first one the largest and none "
            f"larger than the one before it, got {shown(' '.join(map(str, given)))}"
        )
    return points


def shared_points(places: Sequence[int], points: Sequence[int]) -> list[float]:
    """Return the points of each seat; those who share places get the mean of their points."""
    found = []
    for place in places:
        count = places.count(place)
        found.append(sum(points[place - 1 : place - 1 + count]) / count)
    return found


def place_standings(
    teams: Sequence[str], results: Iterable[TableResult], points: Sequence[int], die: Die
) -> list[PlaceLine]:
    """Return the lines of all teams in their order.

    Args:
        teams: names, which differ.
        results: games of the season.
        points: of the places (`points_of_places`).
        die: rolled by teams that are level in points of places and in scores.
    """
    got: dict[str, list[float]] = {team: [] for team in teams}
    scores: dict[str, list[float]] = {team: [] for team in teams}
    places: dict[str, list[float]] = {team: [] for team in teams}
    wins = dict.fromkeys(teams, 0)
    for result in results:
        shares = shared_points(result.places, points)
        for team, share, score, place in zip(result.teams, shares, result.scores, result.places, strict=True):
            got[team].append(share)
            scores[team].append(score)
            places[team].append(place + (result.places.count(place) - 1) / 2)
            wins[team] += result.places.count(1) == 1 == place

    def merit(team: str) -> tuple[float, float]:
        return -math.fsum(got[team]), -math.fsum(scores[team])

    order: list[tuple[str, tuple[int, ...]]] = []
    for _, level in groupby(sorted(teams, key=lambda team: (merit(team), team)), key=merit):
        order += roll_off(list(level), die)
    return [
        PlaceLine(
            rank=rank,
            team=team,
            games=len(got[team]),
            place_points=math.fsum(got[team]),
            wins=wins[team],
            mean_place=math.fsum(places[team]) / max(1, len(places[team])),
            points=math.fsum(scores[team]),
            rolls=rolls,
        )
        for rank, (team, rolls) in enumerate(order, 1)
    ]

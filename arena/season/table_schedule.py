"""The tables of a season whose games have more than two seats: drawn at random, and fair.

On each day the number of full tables is the largest possible, and the other teams rest. Over a season

- rests of two teams differ by at most one;
- two seats of a team differ by at most one, over the season and over any of its games in a row, `seats` at a time;
- the numbers of meetings of two teams are as even as exchanges of teams between the tables of a day can make them.

Seats are an edge colouring of the graph of games and teams, a team being one vertex for each `seats` games of it (König
1916): each seat once at a table, and once in each block of a team's games.

Letters: `T` teams, `P` seats.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from cellgames.utils.errors import InputError

from .schedule import SeasonSchedule, check_days, span

_STARTS = 3  # of the exchanges of a day, of which the best end is taken
_ROUNDS = 4  # over all days


def draw_tables(teams: Sequence[str], seats: int, days: int, rng: random.Random) -> SeasonSchedule:
    """Draw a random schedule; see the module for the numbers that are even.

    Raises:
        ValueError: an even number of days, or too few teams.
    """
    check_days(days)
    count = len(teams)
    if count < seats:
        raise InputError("teams", f"at least {seats} teams, so that a table of {seats} seats is full", count)
    tables = _draw_days(count, seats, days, rng)
    games = [table for day in tables for table in day]
    seated = iter(_deal_seats(games, count, seats, rng))
    return SeasonSchedule(tuple(tuple(tuple(teams[team] for team in next(seated)) for _ in day) for day in tables))


def _draw_days(count: int, seats: int, days: int, rng: random.Random) -> list[list[list[int]]]:
    """Draw the tables of all days, first day by day, then each anew when the others are known."""
    met = [[0] * count for _ in range(count)]
    rests = [0] * count
    tables: list[list[list[int]]] = []
    for _ in range(days):
        order = sorted(range(count), key=lambda team: (rests[team], rng.random()))
        resting = order[: count % seats]
        for team in resting:
            rests[team] += 1
        tables.append(_best_day(sorted(set(range(count)) - set(resting)), seats, met, rng))
        _count(tables[-1], met, 1)
    for _ in range(_ROUNDS):
        for number, day in enumerate(tables):
            _count(day, met, -1)
            again = _best_day(sorted(team for table in day for team in table), seats, met, rng)
            tables[number] = min(day, again, key=lambda found: _cost(found, met))
            _count(tables[number], met, 1)
    return tables


def table_counts(schedule: SeasonSchedule, teams: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return measures of fairness, each a range: the least and the most.

    `games` are those of a team, `seats` the games of a team in one of the seats, `meetings` those of two teams.
    """
    games = [game for day in schedule.days for game in day]
    met = Counter(frozenset(pair) for game in games for pair in combinations(game, 2))
    return {
        "games": span(sum(team in game for game in games) for team in teams),
        "seats": span(sum(game[seat] == team for game in games) for team in teams for seat in range(len(games[0]))),
        "meetings": span(met[frozenset(pair)] for pair in combinations(teams, 2)),
    }


def _count(day: Sequence[Sequence[int]], met: list[list[int]], change: int) -> None:
    """Add a change to how often those have met who meet on a day."""
    for table in day:
        for one, two in combinations(table, 2):
            met[one][two] += change
            met[two][one] += change


def _best_day(playing: Sequence[int], seats: int, met: Sequence[Sequence[int]], rng: random.Random) -> list[list[int]]:
    """Return the tables of a day whose teams have met least before."""
    return min((_seating(playing, seats, met, rng) for _ in range(_STARTS)), key=lambda found: _cost(found, met))


def _cost(day: Sequence[Sequence[int]], met: Sequence[Sequence[int]]) -> int:
    """Return the number of earlier meetings of all pairs that meet on a day."""
    return sum(met[one][two] for table in day for one, two in combinations(table, 2))


def _seating(playing: Sequence[int], seats: int, met: Sequence[Sequence[int]], rng: random.Random) -> list[list[int]]:
    """Return the tables of a day: random ones, between which teams change while it makes meetings more even."""
    order = rng.sample(playing, len(playing))
    tables = [order[start : start + seats] for start in range(0, len(order), seats)]
    place = {team: number for number, table in enumerate(tables) for team in table}
    # How often a team has met those at a table, itself left out.
    known = {team: [sum(met[team][other] for other in table) for table in tables] for team in playing}
    changed = True
    while changed:
        changed = False
        for one, two in combinations(playing, 2):
            here, there = place[one], place[two]
            if here == there:
                continue
            now = known[one][here] + known[two][there]
            then = known[one][there] + known[two][here] - 2 * met[one][two]
            if then < now:
                changed = True
                place[one], place[two] = there, here
                for team in playing:
                    gain = met[team][two] - met[team][one]
                    known[team][here] += gain
                    known[team][there] -= gain
    return [[team for team in order if place[team] == number] for number in range(len(tables))]


def _deal_seats(games: Sequence[Sequence[int]], teams: int, seats: int, rng: random.Random) -> list[list[int]]:
    """Return the teams of each game in the order of their seats."""
    at_game = [[-1] * seats for _ in games]  # the vertex of a team in a seat of a game
    at_team: list[list[int]] = []  # the game of a vertex of a team in a seat
    played, vertex, owner = [0] * teams, [0] * teams, list[int]()
    for number, game in enumerate(games):
        for team in rng.sample(list(game), len(game)):
            if played[team] % seats == 0:
                vertex[team] = len(at_team)
                at_team.append([-1] * seats)
                owner.append(team)
            played[team] += 1
            _add(number, vertex[team], at_game, at_team, rng)
    return [[owner[place] for place in row] for row in at_game]


def _add(game: int, vertex: int, at_game: list[list[int]], at_team: list[list[int]], rng: random.Random) -> None:
    """Give a team a seat in a game; where no seat suits both, exchange two seats along the path of games from there."""
    free_there = [seat for seat, other in enumerate(at_game[game]) if other < 0]
    free_here = [seat for seat, other in enumerate(at_team[vertex]) if other < 0]
    if common := sorted(set(free_there) & set(free_here)):
        seat = rng.choice(common)
    else:
        seat, other = rng.choice(free_there), rng.choice(free_here)
        # From the team along games with `seat` and `other` in turn; the path cannot come to the game.
        path, sides, now = [vertex], (at_team, at_game), seat
        while (following := sides[(len(path) - 1) % 2][path[-1]][now]) >= 0:
            path.append(following)
            now = seat + other - now
        for number, node in enumerate(path):
            row = sides[number % 2][node]
            row[seat], row[other] = row[other], row[seat]
    at_game[game][seat] = vertex
    at_team[vertex][seat] = game

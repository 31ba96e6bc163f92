"""The games of a season: drawn at random, and fair.

Two leagues of two divisions each play for `D` days; on each day every team plays one game, within its league. In a
league of odd size one team rests each day. In each league

- rests of two teams differ by at most one;
- games of two rivals within a division differ by at most one from those of any two others in it, and games of two
  teams of the two divisions from those of any other such two;
- first and second seats of a team differ by at most one, and so do those of a pair of teams.

First the counts are drawn: multigraphs that are as even as they can be. Then games are dealt to days one by one, a
1-factorisation of the multigraph. Where no day suits both teams, two days are exchanged along the games that hang
together (a Kempe chain), and where that does not help, other chains are exchanged at random and the game is dealt
later. Seats are an Eulerian orientation of the same multigraph.

What cannot be had is any share of games within the divisions: in a league of two divisions of odd size at least one
game crosses over each day, and their number is odd; so the nearest share is taken that can be had. It also gives every
team of a division the same number of games within it, where that costs at most one game a team.

The rules: "The season" of the Toroidal Cup rules on the Golly.Life wiki, which ask for a random and a fair schedule.

Letters: `V` vertices (teams, and the rest day of leagues of odd size), `D` days.
"""

from __future__ import annotations

import math
import random
from collections import Counter, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice, product
from typing import Any, TypeAlias

from cellgames.runs.run_folder import RunOptions
from cellgames.utils.errors import InputError, check_share, shown
from cellgames.utils.options import option

Pair: TypeAlias = tuple[int, int]

_CHAINS = 8  # exchanges tried before a game is put off
_PATIENCE = 20  # tries a game on average, before the multigraph is given up


def deal_days(games: Sequence[Pair], vertices: int, days: int, rng: random.Random) -> list[list[Pair]] | None:
    """Split the edges of a multigraph, of which every vertex has `days`, into that number of perfect matchings.

    Returns:
        A list of pairs (lower vertex first) for each day, in no particular order, or None if no way was found. There
        may be no way: the Petersen graph's edges, say, make no three matchings.
    """
    pending = deque(games)
    rng.shuffle(pending)
    partner = [[-1] * days for _ in range(vertices)]  # [V, D], the opponent of a vertex on a day, -1 without one
    for _ in range(_PATIENCE * len(games)):
        if not pending:
            break
        game = pending.popleft()
        if not _deal(partner, *game, rng):
            pending.append(game)
    return None if pending else [[(u, v) for u, v in enumerate(day) if u < v] for day in zip(*partner, strict=True)]


def _deal(partner: list[list[int]], u: int, v: int, rng: random.Random) -> bool:
    """Give a game a day; or else change the days on which `u` is free, and return False."""
    mine, yours = ([day for day, other in enumerate(partner[vertex]) if other < 0] for vertex in (u, v))
    if common := [day for day in mine if partner[v][day] < 0]:
        day = rng.choice(common)
        partner[u][day], partner[v][day] = v, u
        return True
    for _ in range(_CHAINS):
        day, other = rng.choice(mine), rng.choice(yours)
        if _exchange(partner, v, day, other, kept=u):
            partner[u][day], partner[v][day] = v, u
            return True
    if busy := [day for day, other in enumerate(partner[u]) if other >= 0]:
        _exchange(partner, u, rng.choice(busy), rng.choice(mine))
    return False


def _exchange(partner: Sequence[list[int]], start: int, day: int, other: int, kept: int = -1) -> bool:
    """Exchange two days along the games from `start`, which is free on `other`; return False if they end at `kept`."""
    path, now, after = [start], day, other
    while (following := partner[path[-1]][now]) >= 0:
        path.append(following)
        now, after = after, now
    if path[-1] == kept:
        return False
    for vertex in path:
        row = partner[vertex]
        row[day], row[other] = row[other], row[day]
    return True


def deal_seats(days: Sequence[Sequence[Pair]], vertices: int, rng: random.Random) -> list[list[Pair]]:
    """Return the same games, the team with the first seat in front.

    Over the games of a vertex, and over those of a pair, first and second seats differ by at most one.
    """
    met: dict[Pair, list[int]] = {}
    for day, games in enumerate(days):
        for pair in games:
            met.setdefault(pair, []).append(day)
    directed = _directed([pair for pair, when in met.items() if len(when) % 2], vertices, rng)
    seats: dict[tuple[Pair, int], Pair] = {}
    for (u, v), when in met.items():
        heads = [(u, v), (v, u)] * (len(when) // 2)
        if len(when) % 2:
            heads.append((u, v) if (u, v) in directed else (v, u))
        rng.shuffle(heads)
        seats.update(zip((((u, v), day) for day in when), heads, strict=True))
    return [[seats[pair, day] for pair in games] for day, games in enumerate(days)]


def _directed(edges: Sequence[Pair], vertices: int, rng: random.Random) -> set[Pair]:
    """Return the edges of a simple graph, each with its vertices in a direction.

    Circuits are walked edge by edge, and every vertex is left as often as it is entered; one more vertex, linked to
    all of odd degree, makes walks out of which circuits are made. Its edges are returned too.
    """
    links: list[set[int]] = [set() for _ in range(vertices + 1)]
    odd = [(v, vertices) for v, degree in Counter(chain(*edges)).items() if degree % 2]
    for u, v in (*edges, *odd):
        links[u].add(v)
        links[v].add(u)
    walked: set[Pair] = set()
    for here in rng.sample(range(vertices + 1), vertices + 1):
        while links[here]:
            there = rng.choice(sorted(links[here]))
            links[here].remove(there)
            links[there].remove(here)
            walked.add((here, there))
            here = there
    return walked


Day: TypeAlias = tuple[tuple[str, str], ...]
"""Games of a day, the teams of each in the order of their seats."""

Divisions: TypeAlias = Collection[Sequence[str]]
"""Names of the teams of a league's two divisions."""


@dataclass(frozen=True, kw_only=True)
class SeasonOptions(RunOptions):
    """Options of a season.

    The number of days is that of the rules. The published seasons play a share of 0.38 to 0.51 within the divisions.
    """

    days: int = option(49, "days on which every team plays one game; odd")
    within: float = option(0.5, "share of the games within the divisions, about; the rest is within the leagues")
    seed: int = option(0, "seed of all random numbers")


_DRAWS = 40  # of counts with one number of games across, before the next best number is tried


@dataclass(frozen=True)
class SeasonSchedule:
    """All games of a season by day."""

    days: tuple[Day, ...]

    @property
    def games(self) -> int:
        """Return the number of games."""
        return sum(map(len, self.days))


def draw_schedule(leagues: Sequence[Divisions], days: int, within: float, rng: random.Random) -> SeasonSchedule:
    """Draw a random schedule; see the module for what is even.

    Args:
        leagues: all names differ; a league has at least four teams, a division at least one.
        days: odd.
        within: the share of games within the divisions, 0 to 1; the nearest that can be had is taken.
        rng: consumed.

    Raises:
        ValueError: numbers out of range, or a league for which no schedule was found.
    """
    if isinstance(days, bool) or not isinstance(days, int) or days < 1 or days % 2 == 0:
        raise InputError("days", "an odd number from 1", shown(days), "the rules ask for an odd one")
    check_share(within=within)
    played: list[list[tuple[str, str]]] = [[] for _ in range(days)]
    for divisions in leagues:
        names, sizes = [*chain(*divisions)], [*map(len, divisions)]
        if len(sizes) != 2 or min(sizes) < 1 or len(names) < 4:
            raise InputError("sizes", "4 teams or more in two divisions of 1 or more", f"divisions of {sizes}")
        for day, games in zip(played, _league((sizes[0], sizes[1]), days, within, rng), strict=True):
            day += ((names[u], names[v]) for u, v in games)
    for day in played:
        rng.shuffle(day)
    return SeasonSchedule(tuple(map(tuple, played)))


def league_counts(schedule: SeasonSchedule, divisions: Divisions) -> dict[str, Any]:
    """Return measures of fairness of a league's schedule, most of them ranges: the least and the most.

    `games` and `first` are those of a team, games and first seats; `within` and `across` are the games of two teams of
    one division and of both; `share` is the share of games within the divisions.
    """
    teams = [*chain(*divisions)]
    played = [game for day in schedule.days for game in day if game[0] in teams]
    games, first = Counter(chain(*played)), Counter(one for one, _ in played)
    met = Counter(map(frozenset, played))
    inside = [met[frozenset(pair)] for members in divisions for pair in combinations(members, 2)]
    outside = [met[frozenset(pair)] for pair in product(*divisions)]
    counts = {
        "games": [games[team] for team in teams],
        "first": [first[team] for team in teams],
        "within": inside,
        "across": outside,
    }
    spans = {name: (min(values, default=0), max(values, default=0)) for name, values in counts.items()}
    return {**spans, "share": sum(inside) / len(played)}


# ---------------------------------------------------------------- one league
#
# Vertices: 0 .. a - 1 the first division, a .. n - 1 the second one, n the rest day if n is odd.


def _league(sizes: Pair, days: int, within: float, rng: random.Random) -> list[list[Pair]]:
    """Draw games by day in random order, first seats in front."""
    total = sum(sizes)
    for draw in range(_DRAWS):
        rests = _evenly(days if total % 2 else 0, [0] * total, rng)
        for across in islice(_across(sizes, days, sum(rests[: sizes[0]]), within), 1 + draw):
            games = _draw_games(sizes, days, rests, across, rng)
            if (dealt := deal_days(games, total + total % 2, days, rng)) is not None:
                rng.shuffle(dealt)
                playing = [[pair for pair in day if pair[1] < total] for day in dealt]
                return deal_seats(playing, total, rng)
    raise InputError("days", f"a number with a schedule for divisions of {sizes[0]} and {sizes[1]} teams", days)


def _across(sizes: Pair, days: int, resting: int, within: float) -> list[int]:
    """Return the numbers of games of a league that may cross over, best first."""
    one, two = sizes
    # (days, playing teams of the first division, of the second); their parities agree.
    kinds = ((resting, one - 1, two), (days - resting, one, two - (one + two) % 2))
    least = sum(count * (first % 2) for count, first, _ in kinds)
    most = sum(count * min(first, second) for count, first, second in kinds)
    wanted = (1 - within) * days * ((one + two) // 2)

    def cost(across: int) -> tuple[bool, float, int]:
        off = abs(across - wanted)
        near = off <= (one + two) / 2  # one game a team
        return not (near and across % math.lcm(one, two) == 0), off, across

    return sorted(range(least, most + 1, 2), key=cost)


def _evenly(total: int, before: Sequence[int], rng: random.Random) -> list[int]:
    """Return shares of `total`, as even as can be; the larger ones go where `before` is lower, else at random."""
    each, more = divmod(total, len(before))
    larger = sorted(range(len(before)), key=lambda place: (before[place], rng.random()))[:more]
    return [each + (place in larger) for place in range(len(before))]


def _draw_games(sizes: Pair, days: int, rests: Sequence[int], across: int, rng: random.Random) -> list[Pair]:
    """Draw the edges of the multigraph of games and rests in ascending order; every vertex has `days`."""
    total, groups = sum(sizes), (range(sizes[0]), range(sizes[0], sum(sizes)))
    games = [(team, total) for team, times in enumerate(rests) for _ in range(times)]
    crossing: list[int] = []
    for group in groups:
        crossing += _evenly(across, [rests[team] for team in group], rng)
        left = {team: days - rests[team] - crossing[team] for team in group}
        rivals = len(group) - 1
        every = min(left.values()) // max(rivals, 1)
        rest = {team: number - every * rivals for team, number in left.items()}
        games += [*combinations(group, 2)] * every + _edges(rest, rest, rng)
    every = across // math.prod(sizes)
    rows, columns = (
        {team: crossing[team] - every * others for team in group}
        for group, others in zip(groups, reversed(sizes), strict=True)
    )
    games += [*product(*groups)] * every + _edges(rows, columns, rng)
    return sorted(games)


def _edges(rows: dict[int, int], columns: dict[int, int], rng: random.Random) -> list[Pair]:
    """Return the edges of a simple graph from its degrees, which differ by at most one on each side.

    It is bipartite (Ryser 1957), or a graph of one set of vertices where both sides are one (Havel 1955, Hakimi 1962).
    """
    left, edges = dict(columns), []
    for u in rng.sample(sorted(rows), len(rows)):
        count = left.pop(u, rows[u])
        for v in sorted(left, key=lambda v: (-left[v], rng.random()))[:count]:
            left[v] -= 1
            edges.append((min(u, v), max(u, v)))
    return edges

"""Dealing a set of games to days on which everyone plays once, and first seats to the games.

Days are a 1-factorisation of a multigraph: each day is a perfect matching. Games are dealt one by one; where no day
suits both teams, two days are exchanged along the games that hang together (a Kempe chain), and where that does not
help, other chains are exchanged at random and the game is dealt later. Seats are an Eulerian orientation of the same
multigraph.

Letters: `V` vertices (teams, and the rest day of leagues of odd size), `D` days.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import TypeAlias

Counts: TypeAlias = list[list[int]]
"""Symmetric [V, V] with a diagonal of 0: how often two vertices meet."""

Pair: TypeAlias = tuple[int, int]

_CHAINS = 8  # exchanges tried before a game is put off
_PATIENCE = 20  # tries a game on average, before the multigraph is given up


def deal_days(counts: Counts, days: int, rng: random.Random) -> list[list[Pair]] | None:
    """Split the edges of a multigraph, whose rows all add up to `days`, into that number of perfect matchings.

    Returns:
        A list of pairs (lower vertex first) for each day, in no particular order, or None if no way was found. There
        may be no way: the Petersen graph's edges, say, make no three matchings.
    """
    games = [pair for pair in combinations(range(len(counts)), 2) for _ in range(counts[pair[0]][pair[1]])]
    rng.shuffle(games)
    pending, deal = deque(games), _Deal(len(counts), days, rng)
    for _ in range(_PATIENCE * len(games)):
        if not pending:
            break
        game = pending.popleft()
        if not deal.add(*game):
            pending.append(game)
    return None if pending else deal.days()


class _Deal:
    """Games that have a day.

    partner: [V, D], whom a vertex meets on a day, -1 for nobody.
    free:    [V], the days without a game as bits.
    """

    def __init__(self, vertices: int, days: int, rng: random.Random) -> None:
        self.partner = [[-1] * days for _ in range(vertices)]
        self.free = [(1 << days) - 1] * vertices
        self.rng = rng

    def add(self, u: int, v: int) -> bool:
        """Give a game a day; or else change the days on which `u` is free, and return False."""
        if common := self.free[u] & self.free[v]:
            self._set(u, v, self._choose(common))
            return True
        for _ in range(_CHAINS):
            mine, yours = self._choose(self.free[u]), self._choose(self.free[v])
            path = self._path(v, mine, yours)
            if path[-1] != u:
                self._exchange(path, mine, yours)
                self._set(u, v, mine)
                return True
        busy = ((1 << len(self.partner[u])) - 1) & ~self.free[u]
        if busy:
            day, mine = self._choose(busy), self._choose(self.free[u])
            self._exchange(self._path(u, day, mine), day, mine)
        return False

    def days(self) -> list[list[Pair]]:
        columns = zip(*self.partner, strict=True)
        return [[(u, v) for u, v in enumerate(column) if u < v] for column in columns]

    def _choose(self, days: int) -> int:
        """Return one of the days that are set as bits."""
        for _ in range(self.rng.randrange(days.bit_count())):
            days &= days - 1
        return (days & -days).bit_length() - 1

    def _set(self, u: int, v: int, day: int, *, clear: bool = False) -> None:
        for one, other in ((u, v), (v, u)):
            self.partner[one][day] = -1 if clear else other
            self.free[one] ^= 1 << day

    def _path(self, start: int, day: int, other: int) -> list[int]:
        """Return the path from `start`, which is free on `other`, along games on the two days in turn."""
        path, now = [start], day
        while (following := self.partner[path[-1]][now]) != -1:
            path.append(following)
            now = day + other - now
        return path

    def _exchange(self, path: list[int], day: int, other: int) -> None:
        """Move the games of a path, whose first is on `day`, to the other of the two days."""
        games = [(u, v, (day, other)[k % 2]) for k, (u, v) in enumerate(pairwise(path))]
        for game in games:
            self._set(*game, clear=True)
        for u, v, before in games:
            self._set(u, v, day + other - before)


def deal_seats(days: Sequence[Sequence[Pair]], vertices: int, rng: random.Random) -> list[list[Pair]]:
    """Return the same games, the team with the first seat in front.

    Over the games of a vertex, and over those of a pair, first and second seats differ by at most one.
    """
    met: dict[Pair, list[int]] = {}
    for day, games in enumerate(days):
        for u, v in games:
            met.setdefault((min(u, v), max(u, v)), []).append(day)
    extra = dict(_oriented([pair for pair, when in met.items() if len(when) % 2], vertices, rng))
    seats: dict[tuple[Pair, int], Pair] = {}
    for (u, v), when in met.items():
        heads = [(u, v), (v, u)] * (len(when) // 2)
        if len(when) % 2:
            heads.append((u, v) if extra.get((u, v)) else (v, u))
        rng.shuffle(heads)
        seats.update(zip((((u, v), day) for day in when), heads, strict=True))
    return [[seats[(min(pair), max(pair)), day] for pair in games] for day, games in enumerate(days)]


def _oriented(edges: Sequence[Pair], vertices: int, rng: random.Random) -> list[tuple[Pair, bool]]:
    """Return for each edge of a simple graph True if it points from its first vertex to its second.

    Circuits are walked edge by edge, and every vertex is left as often as it is entered; one more vertex, linked to
    all of odd degree, makes walks out of which circuits are made.
    """
    links: list[set[int]] = [set() for _ in range(vertices + 1)]
    for u, v in edges:
        links[u].add(v)
        links[v].add(u)
    for v in range(vertices):
        if len(links[v]) % 2:
            links[v].add(vertices)
            links[vertices].add(v)
    walked: set[Pair] = set()
    for start in rng.sample(range(vertices + 1), vertices + 1):
        here = start
        while links[here]:
            there = rng.choice(sorted(links[here]))
            links[here].remove(there)
            links[there].remove(here)
            walked.add((here, there))
            here = there
    return [(edge, edge in walked) for edge in edges]

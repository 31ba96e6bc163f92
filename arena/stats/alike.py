"""Games of two that are alike, from which tables follow without a look at every one.

Tables need three things: the results by lineup, the contents of the clusters (a start and a pair of agents, with the
results of its games), and those of the courses (who played this sequence of moves). Many games of two seats are alike
in each, and counting them takes less than a look at each. Games of more seats are rarely alike, since each has its own
scores: they are not counted but listed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from cellgames.arena.records.record_lines import Pairing, Record

Numbers: TypeAlias = tuple[int, int, int, int]
"""Start, course, lineup and end of a game, as `Store.numbers` has them."""

Lights: TypeAlias = Mapping[tuple[int, int], Record]
"""By lineup and end, a record of such a game; games of others are left out."""


class Alike(NamedTuple):
    """Games of two, told by how many are alike.

    Attributes:
        games: A record for each result, and the number of games.
        clusters: The games of a cluster with their numbers, and how many clusters are like it. The record's pairing
            has another number in each.
        courses: A record for each way in which agents sat in games of one sequence of moves, and the number of such
            sequences.
    """

    games: Sequence[tuple[Record, int]]
    clusters: Sequence[tuple[Sequence[tuple[Record, int]], int]]
    courses: Sequence[tuple[Sequence[Record], int]]


def every(numbers: Iterable[Numbers], lights: Lights) -> list[Record]:
    """Return a record of each game; the arguments are those of `alike`."""
    return [
        _told(lights[lineup, end], start, course) for start, course, lineup, end in numbers if (lineup, end) in lights
    ]


def alike(numbers: Iterable[Numbers], lights: Lights) -> Alike | list[Record]:
    """Count the games that are alike; games of more than two seats are listed.

    Args:
        numbers: Start, course, lineup and end of each game.
        lights: Records of the games to count.
    """
    if any(len(record.agents) != 2 for record in lights.values()):
        return every(numbers, lights)
    pairs = {kind: frozenset(record.agents) for kind, record in lights.items()}
    games, clusters = Counter[tuple[int, int]](), defaultdict[Hashable, Counter[tuple[int, int]]](Counter)
    courses = defaultdict[int, set[tuple[int, int]]](set)
    for start, course, lineup, end in numbers:
        if (pair := pairs.get(kind := (lineup, end))) is not None:
            games[kind] += 1
            clusters[start, pair][kind] += 1
            courses[course].add(kind)
    grouped = Counter(tuple(sorted(members.items())) for members in clusters.values())
    sequences = Counter(tuple(sorted(kinds)) for kinds in courses.values())
    return Alike(
        [(_told(lights[kind]), number) for kind, number in games.items()],
        [
            ([(_told(lights[kind], at), n) for kind, n in members], number)
            for at, (members, number) in enumerate(grouped.items())
        ],
        [([lights[kind] for kind in kinds], number) for kinds, number in sequences.items()],
    )


def _told(record: Record, start: int = 0, course: int = 0) -> Record:
    """Return the record of a game of this start and course, as tables tell games apart."""
    seats = tuple(range(len(record.agents)))
    return replace(record, pairing=Pairing("store", start, seats), moves=(f"{course:x}",))

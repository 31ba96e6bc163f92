"""Games of two that are alike, from which tables follow without a look at every one.

Tables need three things: the results by lineup, the contents of the clusters (a start and a pair of agents, with the
results of its games), and those of the courses (who played this sequence of moves). Many games of two seats are alike
in each, and numpy counts a million of them in a fraction of a second. Games of more seats are rarely alike, since each
has its own scores: they are not counted but listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cellgames.arena.records.record_lines import Pairing, Record

IntArray: TypeAlias = NDArray[np.int64]

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


def every(numbers: IntArray, lights: Lights) -> list[Record]:
    """Return a record of each game; the arguments are those of `alike`."""
    return [
        _told(lights[lineup, end], start, course)
        for start, course, lineup, end in numbers.tolist()
        if (lineup, end) in lights
    ]


def alike(numbers: IntArray, lights: Lights) -> Alike | list[Record]:
    """Count the games that are alike; games of more than two seats are listed.

    Args:
        numbers: Start, course, lineup and end of each game, int64 [N, 4].
        lights: Records of the games to count.
    """
    if any(len(record.agents) != 2 for record in lights.values()):
        return every(numbers, lights)
    ends = int(numbers[:, 3].max(initial=0)) + 1
    codes = numbers[:, 2] * ends + numbers[:, 3]
    wanted = np.array(sorted(lineup * ends + end for lineup, end in lights), dtype=np.int64)
    kinds = np.searchsorted(wanted, codes)
    chosen = np.append(wanted, -1)[kinds] == codes
    starts, courses, kinds = (column[chosen] for column in (numbers[:, 0], numbers[:, 1], kinds))
    records = [lights[divmod(code, ends)] for code in wanted.tolist()]
    pairs = [tuple(sorted(record.agents)) for record in records]
    place = {pair: number for number, pair in enumerate(sorted(set(pairs)))}
    clusters = starts ^ _random(len(place), 1)[[place[pair] for pair in pairs]][kinds]
    return Alike(
        [(_told(records[kind]), number) for kind, number in enumerate(np.bincount(kinds).tolist()) if number],
        [
            ([(_told(records[kind], at), n) for kind, n in sorted(Counter(members).items())], number)
            for at, (members, number) in enumerate(_groups(clusters, kinds, len(records)))
        ],
        [([records[k] for k in sorted({*members})], n) for members, n in _groups(courses, kinds, len(records))],
    )


def _told(record: Record, start: int = 0, course: int = 0) -> Record:
    """Return the record of a game of this start and course, as tables tell games apart."""
    seats = tuple(range(len(record.agents)))
    return replace(record, pairing=Pairing("store", start, seats), moves=(f"{course:x}",))


def _groups(keys: IntArray, kinds: IntArray, most: int) -> list[tuple[list[int], int]]:
    """Return the kinds of the games of a key, and the number of keys whose games are of the same kinds."""
    if not len(keys):
        return []
    # Numbers are sorted in a fraction of the time of an order of them; hashes can spare the bits that kinds take.
    bits = most.bit_length()
    games = (keys >> bits << bits) | kinds
    games.sort()
    keys, kinds = games >> bits, games & ((1 << bits) - 1)
    first = np.flatnonzero(np.diff(keys, prepend=keys[0] ^ 1))
    last = np.append(first[1:], len(keys))
    sums = np.add.reduceat(_random(most, 2)[kinds], first)  # modulo 2^64: equal sums are equal kinds
    distinct, numbers = np.unique(sums, return_counts=True)
    where = np.empty(len(distinct), dtype=np.int64)
    where[np.searchsorted(distinct, sums)] = np.arange(len(sums))  # the last one of each
    found = zip(first[where].tolist(), last[where].tolist(), numbers.tolist(), strict=True)
    return [(kinds[start:end].tolist(), number) for start, end, number in found]


def _random(size: int, seed: int) -> IntArray:
    return np.random.default_rng(seed).integers(-(1 << 63), 1 << 63, size=size, dtype=np.int64, endpoint=False)

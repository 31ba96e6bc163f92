"""Counts of games that are alike, from which tables follow without a look at every record.

Tables need three things of a setting: the results by lineup, the contents of the clusters (a start and a pair of
agents, with the results of its games), and those of the courses (who played this sequence of moves). Many games of two
seats are alike in each, and numpy counts a million of them in a fraction of a second. Games of more seats are rarely
alike, since each has its own scores: they are not counted but listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cellgames.arena.records.record_lines import Pairing, Record

__all__ = ["Counted", "Game", "columns", "count", "joined"]

_WIDTH = 4

Game: TypeAlias = tuple[Record, tuple[str, ...], int]
"""A light record, the identities of its agents, and how many games there are of it."""

IntArray: TypeAlias = NDArray[np.int64]


class Counted(NamedTuple):
    """Counts of the games of a setting.

    Attributes:
        games: Games with their results and scores.
        clusters: The games of a cluster, and the number of such clusters; empty for games of more than two seats.
        courses: Games with the same moves, and the number of such sequences; empty like the clusters.
    """

    games: list[Game]
    clusters: list[tuple[list[Game], int]]
    courses: list[tuple[list[Game], int]]


def columns(games: Iterable[tuple[int, ...]]) -> IntArray:
    """Return games of start, course, lineup and end (the last two are ids) as an array, int64 [N, 4]."""
    return np.fromiter(chain.from_iterable(games), dtype=np.int64).reshape(-1, _WIDTH)


def joined(packed: Iterable[bytes], rows: IntArray) -> IntArray:
    """Return games whose bytes were kept, and those of `rows` after them."""
    return np.concatenate([*(np.frombuffer(data, dtype=np.int64).reshape(-1, _WIDTH) for data in packed), rows])


def count(columns: IntArray, lights: Mapping[tuple[int, int], tuple[Record, tuple[str, ...]]]) -> Counted:
    """Count games.

    Args:
        columns: of `columns`.
        lights: By lineup and end, a record of such a game and the identities of its agents.
    """
    ends = columns[:, 3].max(initial=0) + 1
    codes, kinds = np.unique(columns[:, 2] * ends + columns[:, 3], return_inverse=True)
    known = [lights[divmod(code, int(ends))] for code in codes.tolist()]

    def one(kind: int, start: int = 0, number: int = 1, course: int = 0) -> Game:
        record, identities = known[kind]
        seats = Pairing("store", start, tuple(range(len(record.agents))))
        return replace(record, pairing=seats, moves=(f"{course:x}",)), identities, number

    if any(len(record.agents) != 2 for record, _ in known):
        rows = zip(kinds.tolist(), columns[:, 0].tolist(), columns[:, 1].tolist(), strict=True)
        return Counted([one(kind, start, 1, course) for kind, start, course in rows], [], [])
    pairs = [tuple(sorted(zip(record.agents, identities, strict=True))) for record, identities in known]
    place = {pair: number for number, pair in enumerate(sorted(set(pairs)))}
    mixed = columns[:, 0] ^ _random(len(place), 1)[[place[pair] for pair in pairs]][kinds]
    return Counted(
        [one(kind, number=number) for kind, number in enumerate(np.bincount(kinds).tolist())],
        [
            ([one(kind, at, n) for kind, n in sorted(Counter(members).items())], number)
            for at, (members, number) in enumerate(_alike(mixed, kinds, len(known)))
        ],
        [
            ([one(kind) for kind in sorted({*found})], number)
            for found, number in _alike(columns[:, 1], kinds, len(known))
        ],
    )


def _alike(keys: IntArray, kinds: IntArray, most: int) -> list[tuple[list[int], int]]:
    """Return the kinds of the games of a key, and the number of keys whose games are of the same kinds."""
    order = np.argsort(keys)
    keys, kinds = keys[order], kinds[order]
    first = np.flatnonzero(np.diff(keys, prepend=keys[0] ^ 1))
    last = np.append(first[1:], len(keys))
    sums = np.add.reduceat(_random(most, 2)[kinds], first)  # modulo 2^64: equal sums are equal kinds
    _, where, numbers = np.unique(sums, return_index=True, return_counts=True)
    found = zip(first[where].tolist(), last[where].tolist(), numbers.tolist(), strict=True)
    return [(kinds[start:end].tolist(), number) for start, end, number in found]


def _random(size: int, seed: int) -> IntArray:
    return np.random.default_rng(seed).integers(-(1 << 63), 1 << 63, size=size, dtype=np.int64, endpoint=False)

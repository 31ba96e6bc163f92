"""Results of games drawn from known strengths, by Davidson's model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from cellgames.arena.stats.ratings import Outcome, PairResult

OUTCOMES: tuple[Outcome, ...] = ("first", "second", "draw")


def draw(
    rng: np.random.Generator,
    strength: Mapping[str, float],
    pair: Sequence[str],
    openings: Iterable[int],
    tie: float = 0.0,
    alike: float = 0.0,
) -> list[PairResult]:
    """Return two games of a pair from each opening, seats exchanged.

    Args:
        rng: consumed.
        strength: logs, by name.
        pair: names.
        openings: their numbers.
        tie: Davidson's nu.
        alike: how often the second game of an opening ends like the first.
    """
    one, other = pair
    numbers, half = list(openings), (strength[one] - strength[other]) / 2
    weights = np.array([math.exp(half), math.exp(-half), tie])
    ends = rng.choice(3, p=weights / weights.sum(), size=(len(numbers), 2))
    ends[:, 1] = np.where(rng.random(len(numbers)) < alike, ends[:, 0], ends[:, 1])
    found = []
    for opening, (first, second) in zip(numbers, ends.tolist(), strict=True):
        found.append(PairResult(one, other, opening, OUTCOMES[first]))
        found.append(PairResult(other, one, opening, OUTCOMES[(1, 0, 2)[second]]))
    return found


def tournament(
    rng: np.random.Generator, strength: Mapping[str, float], *openings: int, tie: float = 0.0, alike: float = 0.0
) -> list[PairResult]:
    """Return a round robin; `openings` are those of the first pair, the second, and so on, then from the beginning."""
    return [
        result
        for number, pair in enumerate(combinations(strength, 2))
        for result in draw(rng, strength, pair, range(openings[number % len(openings)]), tie, alike)
    ]

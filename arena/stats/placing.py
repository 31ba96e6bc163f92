"""The rating of a newcomer among agents whose ratings are known, and the opponent whose games tell most of it.

The model is that of `davidson`, with the ratings of the opponents and nu known, so the likelihood L is a function of
one number, the newcomer's rating r. The prior pi is uniform on the ratings from `BEYOND` points below the lowest
opponent to the same number above the highest one. The estimate is the mean of the posterior. The interval holds at all
times at once:

    { r : L(r) >= (1 - level) * integral of L over pi }

The true rating lies in it at every look with a chance of at least `level`, whatever the opponents were chosen by and
whenever one stops. This is the method of mixtures (Robbins 1970, "Statistical Methods Related to the Law of the
Iterated Logarithm", Annals of Mathematical Statistics 41): under the true rating the ratio of the integral to L is a
martingale, which exceeds 1 / (1 - level) with a chance of at most 1 - level (Ville's inequality).

Letters: `K` opponents, `G` ratings of the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .davidson import outcome_probabilities
from .ratings import ELO_PER_LOG

FloatArray: TypeAlias = NDArray[np.float64]

BEYOND = 600.0
"""Elo points that the grid reaches beyond the lowest and the highest opponent."""

LEVEL = 0.95
"""Chance that the interval contains the true rating, however often one looks."""

_STEP = 2.0  # Elo points of the grid
_ALIKE = 0.7  # share of the most information at which an opponent with fewer games is chosen


class Placing:
    """What games against rated opponents tell of a newcomer.

    Args:
        elo: ratings of the opponents, [K].
        tie: Davidson's nu.

    Attributes:
        games: float64 [K, 3], games that the newcomer won, drew and lost against each opponent.
    """

    def __init__(self, elo: Sequence[float], tie: float) -> None:
        rated = np.array(elo, dtype=np.float64)
        self.games = np.zeros((len(rated), 3))
        self._grid = np.arange(rated.min() - BEYOND, rated.max() + BEYOND + _STEP, _STEP)
        apart = (self._grid[:, None] - rated) / ELO_PER_LOG  # [G, K]
        win, loss, draw, _ = outcome_probabilities(apart, np.array(tie))
        self._chances = np.stack([win, draw, loss], axis=-1)  # [G, K, 3]
        self._logs = np.log(np.maximum(self._chances, 1e-300))

    @property
    def _likelihood(self) -> FloatArray:
        """Return the likelihood at each rating of the grid, [G], the largest being 1."""
        log = (self._logs * self.games).sum(axis=(1, 2))
        return np.asarray(np.exp(log - log.max()))

    @property
    def elo(self) -> float:
        """The estimate of the rating."""
        weight = self._likelihood
        return float(weight @ self._grid / weight.sum())

    @property
    def interval(self) -> tuple[float, float]:
        """The lowest and the highest rating that the games allow; the ends of the grid stand for all beyond."""
        likelihood = self._likelihood
        inside = self._grid[likelihood >= (1 - LEVEL) * likelihood.mean()]
        return float(inside[0]), float(inside[-1])

    def best(self) -> int:
        """Return the opponent to play next.

        It is among those whose next game tells much of the rating (mutual information, at least `_ALIKE` of the most),
        and of these the one with the fewest games, so that a place does not hang on how one style fares against
        another: ratings are not quite transitive.
        """
        weight = self._likelihood / self._likelihood.sum()
        expected = np.einsum("g,gkc->kc", weight, self._chances)
        told = _entropy(expected) - weight @ _entropy(self._chances)  # [K]
        near = np.flatnonzero(told >= _ALIKE * told.max())
        played = self.games.sum(axis=1)
        return int(min(near, key=lambda k: (played[k], -told[k])))


def _entropy(chances: FloatArray) -> FloatArray:
    return np.asarray(-(chances * np.log(np.maximum(chances, 1e-300))).sum(axis=-1))

"""Deviation ratings, which copies of an agent cannot move, for games of two players and of more.

They are those of Marris, Liu, Gemp, Piliouras and Lanctot (2025), "Deviation Ratings: A General, Clone-Invariant Rating
Method", arXiv 2502.11645. The game is "choose an agent": each player p sends an agent, and a joint distribution s over
who is sent gives player p's agent a the deviation gain

    gain(p, a) = sum of s(x) * (payoff_p(a, x without p) - payoff_p(x)) over all choices x.

In a coarse correlated equilibrium no gain is above 0. The rating of an agent is its gain in the equilibrium that
minimises the largest gain, then the largest of those that are left, and so on: each step is a linear program, and those
gains that its dual variables hold fast are fixed for the next one. The gains are unique, also where the equilibrium is
not. An agent is rated the lower, the more would be lost by sending it.

Letters: `K` agents, `P` players or seats, `T` tables (or joint choices), `G` gains, `N` games.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cellgames.utils.statistics import percentile_interval

from .equilibrium import linear_program

if TYPE_CHECKING:
    from .payoffs import Payoffs

FloatArray: TypeAlias = NDArray[np.float64]

_SLACK = 1e-9  # added to gains that are fixed, so that rounding leaves the next program feasible
_AT_WORK = 1e-7  # a dual variable above this holds its constraint fast


class DeviationRatings(NamedTuple):
    """Deviation ratings of agents; arrays are [K], in the order of `agents`.

    Attributes:
        agents: Names, sorted.
        rating: float64, at most 0: loss of an agent where the equilibrium chooses the players; NaN for those left out.
        low: float64, lower bound when the payoffs are drawn again from their errors; NaN without draws.
        high: float64, the upper bound.
        players: Players of the game: 2 for games by pairs, else the seats of a table.
        left_out: Agents that have not met all others, see `Payoffs.complete`.
    """

    agents: tuple[str, ...]
    rating: FloatArray
    low: FloatArray
    high: FloatArray
    players: int
    left_out: tuple[str, ...] = ()


def deviation_ratings(payoffs: Payoffs, *, draws: int = 100, seed: int = 0) -> DeviationRatings:
    """Return the deviation ratings of a matrix of pairs; needs SciPy.

    The game is that of `payoffs.nash`: two players, the payoff is `Payoffs.advantage`. Ratings lie between -1/2 and 0,
    and an agent in every equilibrium has 0. Since the advantages of the two add up to nothing, the gain of an agent is
    its advantage over a mixture, and any mixture can be the one of an equilibrium.

    Args:
        payoffs: the matrix; where pairs are missing, the largest complete part is taken.
        draws: for the bounds; each draws every score from its interval's normal distribution. 0 for none.
        seed: seed of the draws.

    Raises:
        ImportError: SciPy is missing.
    """
    part, places, left_out = payoffs.largest_part()
    rating, low, high = np.full((3, len(payoffs.agents)), np.nan)
    rating[places] = _least_gains(part.advantage)
    if draws:
        drawn = [_least_gains(matrix) for matrix in part.drawn(draws, np.random.default_rng(seed))]
        low[places], high[places] = percentile_interval(drawn, part.level)
    return DeviationRatings(payoffs.agents, rating, low, high, 2, left_out)


def _least_gains(gains: FloatArray) -> FloatArray:
    """Return the gains of the distribution over columns that minimises the largest gain, then the next, and so on."""
    count, size = gains.shape
    scale = float(np.abs(gains).max())
    if scale == 0:
        return np.zeros(count)
    matrix, bound, is_open = gains / scale, np.full(count, np.inf), np.ones(count, dtype=np.bool_)
    columns, mixture = np.arange(size), np.full(size, 1 / size)
    while is_open.any():
        solved = _program(matrix[:, columns], bound, is_open)
        value, duals = solved.x[-1], -solved.ineqlin.marginals
        mixture = np.zeros(size)
        mixture[columns] = np.maximum(solved.x[:-1], 0.0)
        # A dual variable above 0 says that the gain is this one in every solution; these variables sum to 1.
        held = is_open & (duals >= min(_AT_WORK, duals[is_open].max()))
        bound[held] = value
        is_open &= ~held
        columns = columns[solved.lower.marginals[:-1] < _AT_WORK]  # others are 0 in every solution
        fixed = np.vstack([matrix[~is_open][:, columns], np.ones(len(columns))])
        if len(columns) <= len(fixed) and np.linalg.matrix_rank(fixed, tol=1e-9) == len(columns):
            break  # there is one solution, and all gains follow from it
    found = matrix @ (mixture / mixture.sum())
    return np.asarray(scale * np.where(np.abs(found) < 10 * _SLACK, 0.0, found))


def _program(matrix: FloatArray, bound: FloatArray, is_open: NDArray[np.bool_]) -> Any:
    """Minimise the largest open gain while the others stay within their bounds."""
    size = matrix.shape[1]
    return linear_program(
        "deviation ratings need",
        np.r_[np.zeros(size), 1.0],
        A_ub=np.column_stack([matrix, -is_open.astype(np.float64)]),
        b_ub=np.where(is_open, 0.0, bound + _SLACK),
        A_eq=np.r_[np.ones(size), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, None)] * size + [(None, None)],
    )

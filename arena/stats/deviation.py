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

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cellgames.utils.foreign_text import listed
from cellgames.utils.statistics import percentile_interval

from .equilibrium import optimize

if TYPE_CHECKING:
    from cellgames.arena.records.record_lines import Record

    from .payoffs import Payoffs

FloatArray: TypeAlias = NDArray[np.float64]

_MOST_TABLES = 25_000
_FEASIBLE = 1e-10  # how far a linear program may miss a constraint
_SLACK = 1e-9  # added to gains that are fixed, so that rounding leaves the next program feasible
_AT_WORK = 1e-7  # a dual variable above this holds its constraint fast
_LEAST_GAMES = 2  # of a table; one game says nothing of its error


class DeviationRatings(NamedTuple):
    """Deviation ratings of agents; arrays are [K], in the order of `agents`.

    Attributes:
        agents: Names, sorted.
        rating: float64, at most 0: what an agent loses where the equilibrium chooses who plays; NaN for those left out.
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


# ---------------------------------------------------------------- pairs


def deviation_ratings(payoffs: Payoffs, *, draws: int = 100, seed: int = 0) -> DeviationRatings:
    """Return the deviation ratings of a matrix of pairs; needs SciPy.

    The game is that of `payoffs.nash`: two players, the payoff is `Payoffs.advantage`. Ratings lie between -1/2 and 0,
    and an agent in every equilibrium has 0. Since the advantages of the two add up to nothing, the gain of an agent is
    its advantage over a mixture, and any mixture can be the one of an equilibrium.

    Args:
        payoffs: the matrix; where pairs are missing, the largest complete part is taken.
        draws: for the bounds; each draws every score from its interval's normal distribution. 0 for none.
        seed: of the draws.

    Raises:
        ImportError: SciPy is missing.
    """
    names = payoffs.complete()
    part = payoffs.restricted(names)
    places = [payoffs.agents.index(name) for name in names]
    rating, low, high = np.full((3, len(payoffs.agents)), np.nan)
    rating[places] = _least_gains(part.advantage)
    if draws:
        drawn = [_least_gains(matrix) for matrix in part.drawn(draws, np.random.default_rng(seed))]
        low[places], high[places] = percentile_interval(drawn, part.level)
    left_out = tuple(name for name in payoffs.agents if name not in names)
    return DeviationRatings(payoffs.agents, rating, low, high, 2, left_out)


# ---------------------------------------------------------------- tables of counts


@dataclass(frozen=True, eq=False)
class TablePayoffs:
    """Payoffs of a game whose seats are all alike, by how many seats each agent has.

    Attributes:
        agents: Names, sorted.
        seats: `P`, of the game.
        counts: int64 [T, K], seats of each agent at each table; all tables there are, in a fixed order.
        points: float64 [N, K], mean payoff of each agent's seats in each game, NaN for agents without a seat.
        table: int64 [N], the table of each game.
        level: Coverage that the intervals of `ratings` aim at.
    """

    agents: tuple[str, ...]
    seats: int
    counts: NDArray[np.int64]
    points: FloatArray
    table: NDArray[np.int64]
    level: float = 0.95

    @property
    def games(self) -> NDArray[np.int64]:
        """Number of games at each table, int64 [T]."""
        return np.bincount(self.table, minlength=len(self.counts))

    @property
    def complete(self) -> bool:
        """True if every table has a game."""
        return bool(self.games.all())

    @cached_property
    def ratings(self) -> DeviationRatings:
        """Result of `table_ratings`; raises an `ImportError` without SciPy."""
        return table_ratings(self)


def count_tables(agents: int, seats: int) -> NDArray[np.int64]:
    """Return all ways to give seats to agents, copies included, as counts, int64 [T, K].

    Raises:
        ValueError: there are more than 25,000.
    """
    number = math.comb(agents + seats - 1, seats)
    if number > _MOST_TABLES:
        raise ValueError(
            f"{agents} agents in {seats} seats make {number:,} tables, more than {_MOST_TABLES:,}; take fewer agents "
            f"(at most {_most_agents(seats)})"
        )
    seated = np.array(list(combinations_with_replacement(range(agents), seats)), dtype=np.int64)
    return np.asarray((seated[:, :, None] == np.arange(agents)).sum(axis=1))


def _most_agents(seats: int) -> int:
    agents = 1
    while math.comb(agents + seats, seats) <= _MOST_TABLES:
        agents += 1
    return agents


def standing_points(record: Record) -> list[float]:
    """Return the share of the other seats that each seat finished ahead of, a tie half, from 0 to 1.

    They follow the order of the final scores; who forfeits is behind all others.
    """
    failed = () if record.result.forfeit is None else record.result.forfeit.seats
    scores = [-math.inf if seat in failed else score for seat, score in enumerate(record.result.scores)]
    if failed:  # the game stopped, so the others are level
        scores = [-math.inf if score == -math.inf else 0.0 for score in scores]
    others = len(scores) - 1
    return [(sum(own > s for s in scores) + (scores.count(own) - 1) / 2) / others for own in scores]


def complete_table_payoffs(records: Sequence[Record]) -> TablePayoffs | None:
    """Return the payoffs of games of more than two seats that took place at all their tables, None for others."""
    seats, agents = len(records[0].agents) if records else 0, len({name for r in records for name in r.agents})
    if seats < 3 or agents < 2 or math.comb(agents + seats - 1, seats) > min(_MOST_TABLES, len(records)):
        return None
    found = table_payoffs(records)
    return found if found.complete else None


def table_payoffs(records: Iterable[Record]) -> TablePayoffs:
    """Return the payoffs of recorded games by tables; a seat's payoff is that of `standing_points`.

    Raises:
        ValueError: no games, games of different numbers of seats, or more than 25,000 tables.
    """
    found = list(records)
    sizes = {len(record.agents) for record in found}
    if len(sizes) != 1:
        raise ValueError(f"expected games of one number of seats, got {listed(sorted(map(str, sizes))) or 'no games'}")
    agents, seats = tuple(sorted({name for record in found for name in record.agents})), sizes.pop()
    counts = count_tables(len(agents), seats)
    index = {tuple(row): number for number, row in enumerate(counts.tolist())}
    points = np.full((len(found), len(agents)), np.nan)
    table = np.zeros(len(found), dtype=np.int64)
    for number, record in enumerate(found):
        ends = standing_points(record)
        table[number] = index[tuple(record.agents.count(name) for name in agents)]
        for place, name in enumerate(agents):
            own = [end for end, seated in zip(ends, record.agents, strict=True) if seated == name]
            if own:
                points[number, place] = math.fsum(own) / len(own)
    return TablePayoffs(agents, seats, counts, points, table)


def mean_table_payoffs(payoffs: TablePayoffs, weights: FloatArray | None = None) -> FloatArray:
    """Return the mean payoff of each agent at each table, float64 [T, K]; NaN without a seat or without a game."""
    weights = np.ones(len(payoffs.table)) if weights is None else weights
    sums = np.zeros(payoffs.counts.shape)
    np.add.at(sums, payoffs.table, np.nan_to_num(payoffs.points) * weights[:, None])
    total = np.bincount(payoffs.table, weights, minlength=len(sums))
    with np.errstate(invalid="ignore"):
        means = sums / total[:, None]
    return np.where(payoffs.counts > 0, means, np.nan)


def table_ratings(payoffs: TablePayoffs, *, draws: int = 100, seed: int = 0) -> DeviationRatings:
    """Return the deviation ratings of agents in a game whose seats are all alike; needs SciPy.

    In such a game an equilibrium can treat all players alike, so a distribution over tables of counts stands for one
    over all joint choices: 6,435 tables in place of 5,764,801 choices for 8 agents in 8 seats.

    Args:
        payoffs: with games at every table.
        draws: for the bounds; each weighs the games of every table anew (the Bayesian bootstrap). 0 for none; there
            are none either where a table has a single game.
        seed: of the draws.

    Raises:
        ImportError: SciPy is missing.
        ValueError: a table has no game.
    """
    if not payoffs.complete:
        missing = int((payoffs.games == 0).sum())
        raise ValueError(
            f"expected games at all {len(payoffs.counts)} tables of {len(payoffs.agents)} agents in {payoffs.seats} "
            f"seats, got none at {missing}; a run with all_tables=True (--all-tables) plays them all"
        )
    gains = _TableGains(payoffs)
    rating = _least_gains(gains(mean_table_payoffs(payoffs)))
    low, high = np.full((2, len(rating)), np.nan)
    if draws and payoffs.games.min() >= _LEAST_GAMES:
        rng = np.random.default_rng(seed)
        weights = rng.exponential(size=(draws, len(payoffs.table)))
        low, high = percentile_interval(
            [_least_gains(gains(mean_table_payoffs(payoffs, own))) for own in weights], payoffs.level
        )
    return DeviationRatings(payoffs.agents, rating, low, high, payoffs.seats)


class _TableGains:
    """The linear map from payoffs by tables to deviation gains."""

    def __init__(self, payoffs: TablePayoffs) -> None:
        counts, self._share = payoffs.counts, payoffs.counts / payoffs.seats
        index = {row.tobytes(): number for number, row in enumerate(counts)}
        step = np.eye(len(payoffs.agents), dtype=np.int64)
        # By table, agent that leaves its seat, agent that takes it: the table after that; -1 where nobody can leave.
        self._after = np.full((*counts.shape, counts.shape[1]), -1)
        for leaves, takes in np.ndindex(self._after.shape[1:]):
            there = np.flatnonzero(counts[:, leaves])
            moved = np.ascontiguousarray(counts[there] - step[leaves] + step[takes])
            self._after[there, leaves, takes] = [index[row.tobytes()] for row in moved]

    def __call__(self, means: FloatArray) -> FloatArray:
        """Return the gains, float64 [K, T], of means as in `mean_table_payoffs`."""
        agents = means.shape[1]
        after = means[self._after, np.arange(agents)]  # [T, leaves, takes]
        gained = np.where(self._after < 0, 0.0, after - means[:, :, None])
        return np.asarray(np.einsum("tl,tla->at", self._share, gained))


# ---------------------------------------------------------------- the linear programs


def _least_gains(gains: FloatArray) -> FloatArray:
    """Return the gains of the distribution over columns that minimises the largest gain, then the next, and so on.

    Args:
        gains: [G, T], of each column alone.
    """
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
    found = optimize("deviation ratings need").linprog(
        np.r_[np.zeros(size), 1.0],
        A_ub=np.column_stack([matrix, -is_open.astype(np.float64)]),
        b_ub=np.where(is_open, 0.0, bound + _SLACK),
        A_eq=np.r_[np.ones(size), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, None)] * size + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": _FEASIBLE, "dual_feasibility_tolerance": _FEASIBLE},
    )
    if found.x is None:
        raise ArithmeticError(f"the linear program of the deviation ratings failed: {found.message}")
    return found

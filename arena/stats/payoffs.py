"""The payoff matrix of a set of games, and Nash averaging.

A rating is one number an agent, which cannot say that rock loses to paper. The matrix keeps every pair. Nash averaging
weighs it by a solution of the game "choose an agent", the equilibrium of greatest entropy (Balduzzi, Tuyls, Perolat and
Graepel 2018, "Re-evaluating Evaluation", NeurIPS 31), which copies of an agent do not move.

Letters: `K` agents, `C` clusters of games of one pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cellgames.arena.records.record_lines import Record
from cellgames.utils.errors import InputError, check_level, shown
from cellgames.utils.statistics import percentile_interval, student_t

from .comparisons import Outcome, PairResult, comparisons
from .cycles import Cycle, cycles
from .deviation import DeviationRatings, deviation_ratings
from .equilibrium import equilibrium

FloatArray: TypeAlias = NDArray[np.float64]

_POINTS: dict[Outcome, tuple[float, float]] = {
    "first": (1.0, 0.0),
    "second": (0.0, 1.0),
    "draw": (0.5, 0.5),
    "both_lose": (0.0, 0.0),
}
_VIRTUAL = 2.0  # clusters won, and as many lost, that an interval adds: Agresti and Coull's "plus four"


@dataclass(frozen=True, eq=False)
class Payoffs:
    """A payoff matrix; arrays are [K, K], the row's agent against the column's.

    Attributes:
        agents: Names, sorted.
        score: float64, mean of the row's points: a win 1, a draw 1/2; NaN on the diagonal and where they never met. In
            games of more than two by pairs of seats: ahead 1, level 1/2, behind 0.
        games: int64, number of games, or of pairs of seats.
        middle: float64, centre of the score's interval, NaN like `score`.
        error: float64, standard error of the score's interval, NaN like `score`.
        clusters: int64, number of sets of games that depend on each other, such as the two of an opening.
        level: Coverage that `low` and `high` aim at, pair by pair.
    """

    agents: tuple[str, ...]
    score: FloatArray
    games: NDArray[np.int64]
    middle: FloatArray
    error: FloatArray
    clusters: NDArray[np.int64]
    level: float = 0.95

    @cached_property
    def low(self) -> FloatArray:
        """Lower bound of the score's interval."""
        return self.interval(self.level)[0]

    @cached_property
    def high(self) -> FloatArray:
        """Upper bound of the score's interval."""
        return self.interval(self.level)[1]

    @property
    def advantage(self) -> FloatArray:
        """Half the difference of the two scores, float64 [K, K], antisymmetric, from -1/2 to 1/2.

        It is the score minus 1/2, except where both can lose; the diagonal is 0.
        """
        found = (self.score - self.score.T) / 2
        np.fill_diagonal(found, 0.0)
        return found

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return bounds of the scores; games of one cluster, such as the two of an opening, may depend on each other.

        It is the interval of Agresti and Coull (1998, "Approximate Is Better than 'Exact'", The American Statistician
        52) on clusters: two clusters won and two lost are added, then it is the mean and its standard error over
        clusters times the quantile of Student's t. So it has a width also for an agent that won every game.
        """
        check_level(level)
        freedom = self.clusters + 2 * _VIRTUAL - 1
        t = np.vectorize(lambda degrees: student_t(level, degrees), otypes=[float])(freedom)
        margin = t * self.error
        return np.clip(self.middle - margin, 0, 1), np.clip(self.middle + margin, 0, 1)

    def restricted(self, agents: Sequence[str]) -> Payoffs:
        """Return the matrix of some of the agents."""
        names = tuple(sorted(agents))
        if missing := sorted(set(names) - set(self.agents)):
            raise InputError("agents", f"some of {', '.join(self.agents)}", ", ".join(missing))
        places = [self.agents.index(name) for name in names]
        part = np.ix_(places, places)
        return Payoffs(
            names,
            self.score[part],
            self.games[part],
            self.middle[part],
            self.error[part],
            self.clusters[part],
            self.level,
        )

    @cached_property
    def average(self) -> NashAverage:
        """Result of `nash`; raises an `ImportError` without SciPy."""
        return nash(self)

    @cached_property
    def deviation(self) -> DeviationRatings:
        """Result of `deviation.deviation_ratings`; raises an `ImportError` without SciPy."""
        return deviation_ratings(self)

    @cached_property
    def rings(self) -> tuple[Cycle, ...]:
        """Result of `cycles.cycles` at the level of the matrix."""
        return cycles(self, self.level)

    def drawn(self, draws: int, rng: np.random.Generator) -> Iterator[FloatArray]:
        """Yield matrices of advantages, each score drawn about the middle of its interval."""
        middle = (self.middle - self.middle.T) / 2
        np.fill_diagonal(middle, 0.0)
        error = np.nan_to_num((self.error + self.error.T) / 2)
        for _ in range(draws):
            upper = np.triu(middle + error * rng.standard_normal(error.shape), 1)
            yield np.clip(upper - upper.T, -0.5, 0.5)

    def complete(self) -> tuple[str, ...]:
        """Return the largest set of agents that have all met each other; of several the one with the most games."""
        if (self.games + np.eye(len(self.agents), dtype=np.int64)).all():
            return self.agents
        import networkx  # type: ignore[import-untyped]  # it has no types of its own

        met = networkx.Graph()
        met.add_nodes_from(range(len(self.agents)))
        met.add_edges_from(np.argwhere(np.triu(self.games, 1) > 0).tolist())
        found = (sorted(clique) for clique in networkx.find_cliques(met))
        best = min(found, key=lambda clique: (-len(clique), -int(self.games[np.ix_(clique, clique)].sum()), clique))
        return tuple(self.agents[k] for k in best)


class NashAverage(NamedTuple):
    """The mixture of agents that none of them beats; arrays are [K], in the order of `agents`.

    Attributes:
        agents: All agents of the matrix.
        strategy: float64, the equilibrium of greatest entropy; sums to 1, 0 for those left out.
        rating: float64, advantage over that mixture, from -1/2 to 0; 0 for all in it; NaN for those left out.
        low: float64, lower bound of the strategy when the scores are drawn again from their errors; NaN without draws.
        high: float64, the upper bound.
        support: float64, share of those draws in which the agent is in the mixture.
        value: Largest of the ratings, 0 but for rounding: the gain of the best answer to the mixture.
        left_out: Agents that have not met all others, see `Payoffs.complete`.
    """

    agents: tuple[str, ...]
    strategy: FloatArray
    rating: FloatArray
    low: FloatArray
    high: FloatArray
    support: FloatArray
    value: float
    left_out: tuple[str, ...]


# ---------------------------------------------------------------- the matrix


def payoffs(records: Iterable[Record], level: float = 0.95) -> Payoffs:
    """Return the matrix of games of two or more; records need no moves.

    Args:
        records: in any order; games of an agent against itself say nothing and are left out.
        level: confidence level of the intervals.

    Raises:
        ValueError: no game between different agents.
    """
    clusters: dict[tuple[int, int], int] = {}

    def results() -> Iterator[PairResult]:
        for record in records:
            # Two runs count openings from 0 alike; the seed of the games tells them apart.
            key = record.seed, 0 if record.pairing is None else record.pairing.opening
            yield from comparisons(record, clusters.setdefault(key, len(clusters)))

    return payoffs_of(results(), level)


def payoffs_of(results: Iterable[PairResult], level: float = 0.95, weights: Mapping[int, int] | None = None) -> Payoffs:
    """Return the matrix of comparisons and weights as `ratings.rate` takes them; their order does not matter.

    Raises:
        ValueError: no results, or an agent against itself.
    """
    # By pair (a < b) and cluster: [games, points of a, points of b].
    pairs: dict[tuple[str, str], dict[int, list[float]]] = {}
    for first, second, cluster, outcome in results:
        if first == second:
            raise InputError("agents", "two different agents", f"{shown(first)} against itself")
        one, other = _POINTS[outcome]
        if first > second:
            first, second, one, other = second, first, other, one
        total = pairs.setdefault((first, second), {}).setdefault(cluster, [0, 0.0, 0.0])
        total[:] = total[0] + 1, total[1] + one, total[2] + other
    if not pairs:
        raise InputError("records", "at least one game between different agents", "none")
    agents = tuple(sorted({name for pair in pairs for name in pair}))
    index = {name: k for k, name in enumerate(agents)}
    count = len(agents)
    score, middle, error = np.full((3, count, count), np.nan)
    games, sets = np.zeros((2, count, count), dtype=np.int64)
    for (a, b), clusters in sorted(pairs.items()):
        i, j = index[a], index[b]
        sums = np.array(list(clusters.values()))  # [C, 3]
        if weights is not None:
            sums = np.repeat(sums, [weights[number] for number in clusters], axis=0)
        for row, column, points in ((i, j, sums[:, 1]), (j, i, sums[:, 2])):
            games[row, column], sets[row, column] = round(sums[:, 0].sum()), len(sums)
            score[row, column] = points.sum() / games[row, column]  # of halves: exact in any order
            middle[row, column], error[row, column] = _clustered(sums[:, 0], points)
    return Payoffs(agents, score, games, middle, error, sets, level)


def _clustered(sizes: FloatArray, points: FloatArray) -> tuple[float, float]:
    """Return the mean of the points a game and its standard error over clusters, with the virtual ones."""
    size = float(sizes.sum()) / len(sizes)  # of a virtual cluster
    total = size * (len(sizes) + 2 * _VIRTUAL)
    mean = (float(points.sum()) + size * _VIRTUAL) / total
    squares = math.fsum((points - sizes * mean) ** 2) + _VIRTUAL * size**2 * (mean**2 + (1 - mean) ** 2)
    count = len(sizes) + 2 * _VIRTUAL
    return mean, math.sqrt(squares * count / (count - 1)) / total


# ---------------------------------------------------------------- Nash averaging


def nash(payoffs: Payoffs, *, draws: int = 200, seed: int = 0) -> NashAverage:
    """Return the Nash averaging of the advantages; needs SciPy.

    The matrix is `Payoffs.advantage`: scores, not their logarithms (which won or lost matches make infinite). It is a
    symmetric zero-sum game, so its value is 0 and the strategies p with A p <= 0 are its equilibria. A linear program
    finds which agents are in some equilibrium, a convex one the mixture of greatest entropy.

    Args:
        payoffs: the matrix; where pairs are missing, the largest complete part is taken.
        draws: for the bounds; each draws every score from its interval's normal distribution. 0 for none.
        seed: seed of the draws.

    Raises:
        ImportError: SciPy is missing.
    """
    names = payoffs.complete()
    part = payoffs.restricted(names)
    places = [payoffs.agents.index(name) for name in names]
    advantage = part.advantage
    strategy, rating, low, high, support = np.full((5, len(payoffs.agents)), np.nan)
    strategy[:] = 0.0
    strategy[places] = equilibrium(advantage)
    rating[places] = advantage @ strategy[places]
    if draws:
        drawn = np.array([equilibrium(matrix) for matrix in part.drawn(draws, np.random.default_rng(seed))])
        low[places], high[places] = percentile_interval(drawn, part.level)
        support[places] = (drawn > 0).mean(axis=0)
    left_out = tuple(name for name in payoffs.agents if name not in names)
    return NashAverage(payoffs.agents, strategy, rating, low, high, support, float(np.nanmax(rating)), left_out)

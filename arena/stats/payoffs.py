"""The payoff matrix of a set of games, and Nash averaging.

A rating is one number an agent, which cannot say that rock loses to paper. The matrix keeps every pair. Nash averaging
weighs it by a solution of the game "choose an agent", the equilibrium of greatest entropy (Balduzzi, Tuyls, Perolat and
Graepel 2018, "Re-evaluating Evaluation", NeurIPS 31), which copies of an agent do not move.

Letters: `K` agents, `C` clusters of games of one pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, pairwise, starmap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellgames.arena.records.record_lines import Record
from cellgames.utils.errors import InputError, check_level
from cellgames.utils.statistics import FloatArray, percentile_interval, student_t

from .ratings import PairResult, comparisons, tally_results

_EXACT = 1e-8  # what may be gained against an equilibrium, as a share of the greatest advantage
_FEASIBLE = 1e-10  # how far a linear program may miss a constraint


def equilibrium(advantage: FloatArray) -> FloatArray:
    """Return the equilibrium of greatest entropy of a symmetric zero-sum game, float64 [K], 0 outside its support.

    Args:
        advantage: [K, K], antisymmetric, the row's gain against the column.

    Raises:
        ImportError: SciPy is missing.
        ValueError: not antisymmetric, or not finite.
    """
    matrix = np.asarray(advantage, dtype=np.float64)
    if matrix.ndim != 2 or not np.isfinite(matrix).all() or not np.allclose(matrix, -matrix.T, atol=1e-12):
        raise InputError("matrix", "a finite antisymmetric matrix", "another one", "subtract 1/2 from scores first")
    count = len(matrix)
    scale = float(np.abs(matrix).max())
    if scale == 0:
        return np.full(count, 1 / count)
    if best := np.flatnonzero((matrix > 0).sum(axis=1) == count - 1).tolist():  # one beats all others
        return np.asarray(np.eye(count)[best[0]])
    matrix = matrix / scale
    inner = _inner_equilibrium(matrix)
    member = inner > -(matrix @ inner)
    strategy = np.zeros(count)
    strategy[member] = _most_entropy(matrix, member)
    # Where rounding has taken an agent for a member that is none, the inner one is at least an equilibrium.
    return strategy if (matrix @ strategy).max() < _EXACT else inner / inner.sum()


def _inner_equilibrium(matrix: FloatArray) -> FloatArray:
    """Return an equilibrium p with p > 0 or A p < 0 for every agent; agents with p = 0 are in no equilibrium.

    There is one (Tucker 1956, "Dual Systems of Homogeneous Linear Relations"), and the greatest e with p - A p >= e
    finds it. An agent that loses to one equilibrium is in no other, so p > 0 tells all members.
    """
    count = len(matrix)
    below = np.column_stack([matrix - np.eye(count), np.ones(count)])  # A p - p + e <= 0
    limits = {"primal_feasibility_tolerance": _FEASIBLE, "dual_feasibility_tolerance": _FEASIBLE}
    found = optimize("Nash averaging needs").linprog(
        np.r_[np.zeros(count), -1.0],
        A_ub=np.vstack([np.column_stack([matrix, np.zeros(count)]), below]),
        b_ub=np.zeros(2 * count),
        A_eq=np.r_[np.ones(count), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, 1)] * count + [(0, None)],
        method="highs",
        options=limits,
    )
    if found.x is None:
        raise ArithmeticError(f"the linear program failed that Nash averaging needs: {found.message}")
    return np.asarray(np.maximum(found.x[:count], 0.0), dtype=np.float64)


def _most_entropy(matrix: FloatArray, member: NDArray[np.bool_]) -> FloatArray:
    """Return the equilibrium of greatest entropy on these agents, float64 [members].

    With Lagrange's multipliers t of A p = 0 on members and t >= 0 of A p <= 0 on all others, it is proportional to
    exp(-A' t), where t minimises log sum exp(-A' t): a smooth convex function, whose gradient is -A p.
    """
    rows = matrix[:, member]  # [K, members]
    sizes, directions = np.linalg.svd(rows[member])[1:]
    if (sizes > 1e-9).sum() == len(sizes) - 1:  # A p = 0 leaves one direction, so there is one equilibrium
        only = np.abs(directions[-1])
        return np.asarray(only / only.sum())

    def dual(t: FloatArray) -> tuple[float, FloatArray]:
        value, p = gibbs(t, rows)
        return value, -(rows @ p)

    found = optimize("Nash averaging needs").minimize(
        dual,
        np.zeros(len(rows)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None) if inside else (0, None) for inside in member],
        options={"maxiter": 3_000, "maxfun": 6_000, "ftol": 0.0, "gtol": 1e-11, "maxcor": 30},
    )
    return _polished(rows, member, found.x)


def gibbs(t: FloatArray, rows: FloatArray, log_prior: FloatArray | float = 0.0) -> tuple[float, FloatArray]:
    """Return log sum prior exp(-t rows), and the distribution prior exp(-t rows) / its sum."""
    logits = log_prior - t @ rows
    top = float(logits.max())
    weights = np.exp(logits - top)
    return top + math.log(float(weights.sum())), weights / weights.sum()


def _polished(rows: FloatArray, member: NDArray[np.bool_], t: FloatArray) -> FloatArray:
    """Improve the multipliers that are free or at work by Newton's steps; the descent is slow near the end."""
    active = member | (t > 1e-9)
    rows, t = rows[active], t[active]
    p = gibbs(t, rows)[1]
    for _ in range(50):
        residual = rows @ p
        if np.abs(residual).max() < 1e-13:
            break
        hessian = (rows * p) @ rows.T - np.outer(residual, residual)
        trial = t + np.linalg.lstsq(hessian, residual, rcond=1e-13)[0]
        closer = gibbs(trial, rows)[1]
        if not np.abs(rows @ closer).max() < np.abs(residual).max():
            break
        t, p = trial, closer
    return p


def optimize(who: str) -> Any:
    """Import SciPy's module, which is optional; an `ImportError` begins with `who` ("Nash averaging needs")."""
    try:
        from scipy import optimize
    except ImportError as error:
        raise ImportError(f'{who} SciPy ({error}): pip install "cellgames[research]"') from None
    return optimize


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
        arrays = ("score", "games", "middle", "error", "clusters")
        return replace(self, agents=names, **{name: getattr(self, name)[part] for name in arrays})

    @cached_property
    def average(self) -> NashAverage:
        """Result of `nash`; raises an `ImportError` without SciPy."""
        return nash(self)

    @cached_property
    def rings(self) -> tuple[Cycle, ...]:
        """Result of `cycles` at the level of the matrix."""
        return cycles(self, self.level)

    def complete(self) -> tuple[str, ...]:
        """Return the largest set of agents that have all met each other; of several the one with the most games."""
        import networkx  # type: ignore[import-untyped]  # it has no types of its own

        found = map(sorted, networkx.find_cliques(networkx.from_numpy_array(self.games > 0)))
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
    # Two runs count openings from 0 alike; the seed of the games tells them apart.
    keyed = ((one, (one.seed, 0 if one.pairing is None else one.pairing.opening)) for one in records)
    numbered = ((record, clusters.setdefault(key, len(clusters))) for record, key in keyed)
    return payoffs_of(chain.from_iterable(starmap(comparisons, numbered)), level)


def payoffs_of(results: Iterable[PairResult], level: float = 0.95) -> Payoffs:
    """Return the matrix of comparisons as `ratings.rate` takes them; their order does not matter.

    Raises:
        ValueError: no results, or an agent against itself.
    """
    pairs = tally_results(results)
    if not pairs:
        raise InputError("records", "at least one game between different agents", "none")
    agents = tuple(sorted({name for pair in pairs for name in pair}))
    count = len(agents)
    score, middle, error = np.full((3, count, count), np.nan)
    games, sets = np.zeros((2, count, count), dtype=np.int64)
    for (a, b), clusters in sorted(pairs.items()):
        i, j = agents.index(a), agents.index(b)
        tallies = np.array(list(clusters.values()), dtype=np.float64)  # [C, 4]
        sizes = tallies.sum(axis=1)
        for row, column, won in ((i, j, tallies[:, 0]), (j, i, tallies[:, 1])):
            points = won + tallies[:, 2] / 2
            games[row, column], sets[row, column] = round(sizes.sum()), len(sizes)
            score[row, column] = points.sum() / games[row, column]  # of halves: exact in any order
            middle[row, column], error[row, column] = _clustered(sizes, points)
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
    part, places = payoffs.restricted(names), [payoffs.agents.index(name) for name in names]
    left_out = tuple(name for name in payoffs.agents if name not in names)
    strategy, rating, low, high, support = np.full((5, len(payoffs.agents)), np.nan)
    strategy[:] = 0.0
    strategy[places] = equilibrium(part.advantage)
    rating[places] = part.advantage @ strategy[places]
    if draws:
        rng, both = np.random.default_rng(seed), (part.middle - part.middle.T, part.error + part.error.T)
        middle, error = (np.nan_to_num(half / 2) for half in both)
        noisy = (np.triu(middle + error * rng.standard_normal(error.shape), 1) for _ in range(draws))
        drawn = np.array([equilibrium(np.clip(upper - upper.T, -0.5, 0.5)) for upper in noisy])
        low[places], high[places] = percentile_interval(drawn, part.level)
        support[places] = (drawn > 0).mean(axis=0)
    return NashAverage(payoffs.agents, strategy, rating, low, high, support, float(np.nanmax(rating)), left_out)


@dataclass(frozen=True)
class Cycle:
    """A ring in which each agent beats the next one, the last the first.

    Attributes:
        agents: Three agents or more; the first by name begins.
        scores: Score of each agent against the next.
        lows: Lower bounds of those scores, all above 1/2.
    """

    agents: tuple[str, ...]
    scores: tuple[float, ...]
    lows: tuple[float, ...]

    @property
    def weakest(self) -> float:
        """Smallest of the scores; rings are ordered by it."""
        return min(self.scores)

    def __str__(self) -> str:
        arrows = "".join(
            f" beats {other} {100 * score:.0f} %"
            for other, score in zip((*self.agents[1:], self.agents[0]), self.scores, strict=True)
        )
        return self.agents[0] + arrows


def cycles(payoffs: Payoffs, level: float = 0.95, *, longest: int = 6, most: int = 10_000) -> tuple[Cycle, ...]:
    """Return all rings without chords, the shortest first, of one length those with the best weakest link first.

    Args:
        payoffs: the matrix.
        level: level of the intervals, pair by pair. A pair without difference is taken for one with an arrow in a share
            `1 - level` of cases; a false ring needs a false arrow beside true ones that fit.
        longest: largest number of agents in a ring.
        most: largest number of rings to look at; a field of `most` stronger rings needs no more.

    Raises:
        ValueError: a level or a length out of range.
    """
    if longest < 3:
        raise InputError("longest", "rings of 3 agents or more", f"longest={longest}")
    import networkx

    low, found = payoffs.interval(level)[0], []
    graph = networkx.DiGraph(np.argwhere(low > 0.5).tolist())
    for ring in islice(networkx.chordless_cycles(graph, length_bound=longest), most):
        start = ring.index(min(ring))
        ring = [*ring[start:], *ring[:start]]
        links = list(pairwise([*ring, ring[0]]))
        scores, lows = (tuple(float(matrix[link]) for link in links) for matrix in (payoffs.score, low))
        found.append(Cycle(tuple(payoffs.agents[k] for k in ring), scores, lows))
    return tuple(sorted(found, key=lambda cycle: (len(cycle.agents), -cycle.weakest, cycle.agents)))

"""Ratings of agents from the games they played: Bradley-Terry with ties, on the Elo scale.

Ratings, payoffs and tests of an order take games as comparisons of two agents each. A game of two is compared by its
outcome. A game of more is compared by the order of its final scores, every two seats of different agents at a time;
equal scores are ties, also where the outcome says more: two players who both lose with the same score are level there.

Model (Davidson 1970, "On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments",
JASA 65). Agent i has a strength p_i > 0, and all share one tie parameter nu >= 0:

    P(i beats j) = p_i / Z,   P(draw) = nu sqrt(p_i p_j) / Z,   Z = p_i + p_j + nu sqrt(p_i p_j)

Divided by sqrt(p_i p_j), the three weights are exp(d/2), exp(-d/2) and nu, with d = log p_i - log p_j. So it is a
multinomial logit: its log-likelihood is concave in (log p, log nu), and Newton's method climbs it.

Prior: every agent plays virtual games, half won and half lost, against one virtual opponent in the middle of the field
(where that opponent scores exactly one half). That is symmetric, does not depend on the scale, and keeps all strengths
finite: of an agent that won every game, of groups that never met, and nu where every game was drawn.

Letters: `R` data sets fitted at once, `K` agents.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from cellgames.arena.records.record_lines import Record
from cellgames.utils.errors import InputError, check_at_least, check_level, shown
from cellgames.utils.statistics import FloatArray, expanded_percentiles

Outcome = Literal["first", "second", "draw", "both_lose"]

_POINTS = {"win": 1.0, "draw": 0.5, "loss": 0.0}


class PairResult(NamedTuple):
    """The result of one game, or of two seats of a game, between two agents.

    Attributes:
        first: Name of the agent in the earlier seat.
        second: Name of the other agent.
        cluster: Number of a set of games that depend on each other, such as the two games from one opening with seats
            swapped. Numbers are local to the pair, unless `rate` gets `shared_clusters`.
        outcome: Who won. Where both lose, the game counts as played and leaves the ratings alone.
    """

    first: str
    second: str
    cluster: int
    outcome: Outcome


def comparisons(record: Record, cluster: int | None = None, *, by_score: bool | None = None) -> Iterator[PairResult]:
    """Yield a result for every two seats of different agents in a game.

    Args:
        record: The game.
        cluster: Its cluster; None for its opening in the match or run that it belongs to.
        by_score: Whether to compare final scores, not outcomes; None for games of more than two.

    Raises:
        ValueError: The game has no pairing and `cluster` is None, or it is compared by the outcome and has more than
            two seats.
    """
    cluster = opening_of(record) if cluster is None else cluster
    for one, other, outcome in compare_seats(record, by_score=by_score):
        yield PairResult(record.agents[one], record.agents[other], cluster, outcome)


def opening_of(record: Record) -> int:
    """Return the opening of a game in its run; raise an `InputError` for a game without a pairing."""
    if record.pairing is None:
        raise InputError("records", "a game of a run", f"one of {', '.join(record.agents)} without a pairing")
    return record.pairing.opening


def places(scores: Sequence[float]) -> tuple[float, ...]:
    """Return the place of each seat, 1 the best; seats with equal scores share the mean of the places they take up."""
    return tuple(1 + sum(other > own for other in scores) + (scores.count(own) - 1) / 2 for own in scores)


def standing_points(record: Record) -> list[float]:
    """Return the share of the other seats that each seat finished ahead of, a tie half, from 0 to 1.

    They follow the order of the final scores. Seats that forfeit are behind all others, which are level.
    """
    scores, forfeit = record.result.scores, record.result.forfeit
    if forfeit is not None:
        scores = tuple(float(seat not in forfeit.seats) for seat in range(len(scores)))
    return [(len(scores) - place) / (len(scores) - 1) for place in places(scores)]


def compare_seats(record: Record, *, by_score: bool | None = None) -> Iterator[tuple[int, int, Outcome]]:
    """Yield every two seats of different agents with who of the two is ahead; see `comparisons`.

    By score, who forfeits is behind all others; these are not compared with each other, since their game was stopped.
    """
    agents, result = record.agents, record.result
    by_score = len(agents) > 2 if by_score is None else by_score
    if not by_score:
        if len(agents) != 2:
            raise InputError("records", "a game of two agents", f"one of {', '.join(agents)}")
        first, second = (_POINTS[end] for end in result.outcome)
        if agents[0] != agents[1]:
            level: Outcome = "both_lose" if first == 0 else "draw"
            yield 0, 1, level if first == second else "first" if first > second else "second"
        return
    failed = () if result.forfeit is None else result.forfeit.seats
    merits = [seat not in failed for seat in range(len(agents))] if failed else result.scores
    same: Outcome = "both_lose" if failed else "draw"
    for one, other in combinations(range(len(agents)), 2):
        ours, theirs = merits[one], merits[other]
        if agents[one] != agents[other] and not (failed and ours and theirs):
            yield one, other, same if ours == theirs else "first" if ours > theirs else "second"


# ---------------------------------------------------------------- the fit

_MAX_NEWTON_STEPS = 100
_MAX_HALVINGS = 40
# A longer step is shortened: far from the maximum, curvature tells nothing of what lies beyond.
_LONGEST_STEP = 4.0
# A step is the last when its decrement (about twice what the log-likelihood still lacks) is this small;
# rounding doubles that for this many games. Without a prior such a step may still be long: then the maximum
# lies at infinity, on the way to which steps stay near 1 for ever.
_SMALL_DECREMENT, _GAMES_OF_ROUNDING, _FINITE_STEP = 1e-12, 1e4, 1e-3


def outcome_probabilities(d: FloatArray, nu: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return P(win), P(loss), P(draw) and log Z of the weights exp(d/2), exp(-d/2), nu; shapes broadcast."""
    m = np.abs(d) / 2
    win, loss, draw = np.exp(d / 2 - m), np.exp(-d / 2 - m), nu * np.exp(-m)
    z = win + loss + draw
    return win / z, loss / z, draw / z, m + np.log(z)


class Likelihood:
    """The log-likelihood of R tables of results, and its derivatives.

    Parameters are [R, K + 1]: K log strengths, then log nu, which has no effect in a row without draws. The
    virtual opponent is agent K of tables one larger; its log strength stays 0 and is no parameter.

    Args:
        wins: [R, K, K], games that the row's agent won against the column's.
        draws: [R, K, K], symmetric.
        virtual: [R, K, 2], virtual games that each agent won and lost.
    """

    def __init__(self, wins: FloatArray, draws: FloatArray, virtual: FloatArray) -> None:
        k = self.agents = wins.shape[1]
        pad = ((0, 0), (0, 1), (0, 1))
        won, drawn = np.pad(wins, pad), np.pad(draws, pad)
        won[:, :k, k], won[:, k, :k] = virtual[:, :, 0], virtual[:, :, 1]
        self.games = won + won.swapaxes(1, 2) + drawn  # [R, K + 1, K + 1], diagonal 0
        self.decided, self.drawn = won.sum(axis=(1, 2)), drawn.sum(axis=(1, 2)) / 2  # [R]
        # The log-likelihood is linear . params - (sum over pairs of games * log Z).
        balance = (won.sum(axis=2) - won.sum(axis=1))[:, :k] / 2
        self.linear = np.concatenate([balance, self.drawn[:, None]], axis=1)
        self.prior = float(virtual.min())

    def start(self) -> FloatArray:
        """Return parameters of equal strengths, with the nu that they would need for this share of draws."""
        params = np.zeros_like(self.linear)
        params[:, -1] = np.log(np.where(self.drawn > 0, 2 * self.drawn / np.maximum(self.decided, 0.5), 1.0))
        return params

    def tie(self, params: FloatArray) -> FloatArray:
        """Return nu, [R]; 0 in a row without draws."""
        return np.where(self.drawn > 0, np.exp(params[:, -1]), 0.0)

    def value(self, params: FloatArray) -> FloatArray:
        """Return the log-likelihood, [R]."""
        log_z = self.probabilities(params)[3]
        return np.asarray((self.linear * params).sum(axis=1) - (self.games * log_z).sum(axis=(1, 2)) / 2)

    def derivatives(self, params: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient, [R, K + 1], and minus the Hessian, [R, K + 1, K + 1]: covariances of the outcomes."""
        k, games = self.agents, self.games
        win, loss, draw, _ = self.probabilities(params)
        lead = (win - loss) / 2
        gradient = self.linear.copy()
        gradient[:, :k] -= (games * lead).sum(axis=2)[:, :k]
        gradient[:, k] -= (games * draw).sum(axis=(1, 2)) / 2
        edges = games * (win * loss + draw * (win + loss) / 4)  # the variance of lead, without cancellation
        curvature = np.empty((len(games), k + 1, k + 1))
        # Without a prior a common shift of all strengths changes nothing; the 1 keeps the equations regular.
        curvature[:, :k, :k] = float(self.prior == 0) - edges[:, :k, :k]
        curvature[:, range(k), range(k)] += edges.sum(axis=2)[:, :k]
        curvature[:, :k, k] = curvature[:, k, :k] = -(games * lead * draw).sum(axis=2)[:, :k]
        curvature[:, k, k] = np.where(self.drawn > 0, (games * draw * (win + loss)).sum(axis=(1, 2)) / 2, 1.0)
        diagonal = np.einsum("rii->ri", curvature)
        diagonal += 1e-15 * diagonal.max(axis=1, keepdims=True)  # below rounding, but never singular
        return gradient, curvature

    def probabilities(self, params: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return P(win), P(loss), P(draw) of the row and log Z, [R, K + 1, K + 1] each."""
        theta = np.pad(params[:, :-1], ((0, 0), (0, 1)))
        return outcome_probabilities(theta[:, :, None] - theta[:, None, :], self.tie(params)[:, None, None])


def maximise(
    likelihood: Likelihood, start: FloatArray | None = None, free: FloatArray | None = None
) -> tuple[FloatArray, BoolArray]:
    """Find the maximum by Newton's method with backtracking.

    Every row has its own steps and stops by itself, so that a batch equals its tables alone.

    Args:
        likelihood: the tables.
        start: parameters to begin with, [R, K + 1]; None for equal strengths.
        free: directions, [K + 1, D]; only parameters `start + free x` are looked at. None for all.

    Returns:
        Parameters [R, K + 1] (see `Likelihood`), and whether each row converged [R].
    """
    params = likelihood.start() if start is None else start
    value = likelihood.value(params)
    games = likelihood.games.sum(axis=(1, 2)) / 2
    small = _SMALL_DECREMENT * (1 + games / _GAMES_OF_ROUNDING)
    active, converged = np.ones(len(params), dtype=np.bool_), np.zeros(len(params), dtype=np.bool_)
    for _ in range(_MAX_NEWTON_STEPS):
        gradient, curvature = likelihood.derivatives(params)
        if free is None:
            step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        else:
            step = np.linalg.solve(free.T @ curvature @ free, (gradient @ free)[:, :, None])[:, :, 0] @ free.T
        step *= active[:, None]
        size, decrement = np.abs(step).max(axis=1), (step * gradient).sum(axis=1)
        last = active & (decrement <= small)
        converged |= last if likelihood.prior > 0 else last & (size < _FINITE_STEP)
        length = _LONGEST_STEP / np.maximum(size, _LONGEST_STEP)
        for _ in range(_MAX_HALVINGS):
            trial = params + length[:, None] * step
            trial_value = likelihood.value(trial)
            # 1e-4 is Armijo's share of the predicted gain; the last term allows for rounding.
            good = trial_value >= value + 1e-4 * length * decrement - 1e-14 * games
            length = np.where(good | last | ~active, length, length / 2)
            if (good | last | ~active).all():
                break
        params, value = trial, trial_value
        active &= ~last
        if not active.any():
            break
    return params, converged


BoolArray: TypeAlias = NDArray[np.bool_]

ELO_PER_LOG = 400.0 / math.log(10.0)
"""Elo points of a factor e between two strengths."""

_LEAST_WEIGHT = 1e-6  # of a virtual game; what lies beyond is no part of any quantile of interest


@dataclass(frozen=True, eq=False)
class Ratings:
    """A table of ratings; arrays are [K], in the order of `agents`.

    Attributes:
        agents: Names, sorted.
        elo: float64, 400 / ln 10 * log p, shifted to the anchor.
        low: float64, lower bound of the bootstrap interval (see `rate`); that of the anchor has no width. NaN when
            there were no resamples.
        high: float64, the upper bound. Of an agent that won every game it says little but how weak the prior is.
        games: int64, games that each agent played.
        wins: int64.
        draws: int64.
        losses: int64, also games that both lost.
        score: float64, (wins + draws / 2) / games.
        level: Coverage that the intervals aim at.
        tie: Davidson's nu.
        anchor: The agent whose rating is fixed, or None where the mean of all agents is.
        components: Groups of agents linked by games that were decided or drawn. Ratings compare within a group;
            between groups only the prior speaks.
    """

    agents: tuple[str, ...]
    elo: FloatArray
    low: FloatArray
    high: FloatArray
    games: NDArray[np.int64]
    wins: NDArray[np.int64]
    draws: NDArray[np.int64]
    losses: NDArray[np.int64]
    score: FloatArray
    level: float
    tie: float
    anchor: str | None
    components: tuple[tuple[str, ...], ...]

    @property
    def connected(self) -> bool:
        """True if games link all agents."""
        return len(self.components) == 1


def rate(
    results: Iterable[PairResult],
    *,
    anchor: str | None = None,
    prior: float = 1.0,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    shared_clusters: bool = False,
) -> Ratings:
    """Rate all agents that appear in `results`, with bootstrap intervals over clusters of games.

    The bootstrap is Rubin's (1981, "The Bayesian Bootstrap", The Annals of Statistics 9): in each resample every
    cluster, of its pair or of all pairs at once, has an exponential weight, and the virtual games won and lost have
    weights of Gamma's distribution with the prior's shape. For one agent's independent games without draws that is
    the posterior under Jeffreys' prior, Beta(won + 1/2, lost + 1/2), which keeps its coverage where one side wins
    nearly always; counts drawn with replacement would have no width there. The quantiles that bound an interval are
    those of Hesterberg's expanded percentile interval, for few clusters.

    The order of the records and the numbers of the clusters do not matter: clusters enter as a count of each
    distinct tally.

    Args:
        results: games, in any order.
        anchor: the agent whose rating is 0; None puts the mean of all agents there.
        prior: virtual games per agent (see the module).
        resamples: bootstrap resamples, fitted as one stack; 0 for ratings without intervals.
        level: coverage of the intervals, between 0 and 1.
        seed: seed of the generator that only this call consumes.
        shared_clusters: whether a number is the same cluster in all pairs, as one game of many seats gives results
            to many pairs; else every pair has its own.
    """
    check_level(level)
    check_at_least(0, resamples=resamples)
    pairs = tally_results(results)
    if not pairs:
        raise InputError("wins", "at least one game", "none", "were the results consumed already?")
    agents = tuple(sorted({name for pair in pairs for name in pair}))
    if anchor is not None and anchor not in agents:
        raise InputError("anchor", f"one of {list(agents)}", shown(anchor), "did it play no game?")
    import networkx  # type: ignore[import-untyped]  # it has no types of its own

    index = {name: k for k, name in enumerate(agents)}
    rng = np.random.default_rng(seed)
    # Row 0 holds the games as played, every other row a resample.
    wins, draws, both_lose = np.zeros((3, resamples + 1, len(agents), len(agents)))
    # The virtual games, won and lost, are weighed anew like any others: half a game is half the shape.
    virtual = np.full((resamples + 1, len(agents), 2), prior / 2)
    if prior > 0:
        virtual[1:] = np.maximum(rng.gamma(prior / 2, size=virtual[1:].shape), _LEAST_WEIGHT)
    ordered = sorted(pairs)
    for group in [ordered] if shared_clusters else [[pair] for pair in ordered]:
        totals = _resampled([pairs[pair] for pair in group], resamples, rng)
        for (a, b), total in zip(group, totals, strict=True):
            i, j = index[a], index[b]
            wins[:, i, j], wins[:, j, i] = total[:, 0], total[:, 1]
            draws[:, i, j] = draws[:, j, i] = total[:, 2]
            both_lose[:, i, j] = both_lose[:, j, i] = total[:, 3]

    linked = networkx.connected_components(networkx.from_numpy_array(wins[0] + draws[0] > 0))
    groups = sorted(map(sorted, linked))
    if prior == 0 and len(groups) > 1:
        raise InputError("prior", "games that link all agents", "separate groups", "let them meet or set prior > 0")
    likelihood = Likelihood(wins, draws, virtual)
    params, converged = maximise(likelihood)
    if not converged.all():
        cause = "did an agent never win, or never lose? A prior near 1 keeps its rating finite"
        raise InputError("prior", "a finite maximum", f"none with prior={prior:g}", cause)
    theta = params[:, :-1]
    elo = ELO_PER_LOG * (theta - theta.mean(axis=1, keepdims=True))  # [R + 1, K]
    if anchor is not None:
        elo = elo - elo[:, [index[anchor]]]
    low, high = np.full((2, len(agents)), np.nan)
    if resamples:
        for k, name in enumerate(agents):
            met = [pairs[pair] for pair in pairs if name in pair]
            numbers = [number for clusters in met for number in clusters]
            count = len({*numbers} if shared_clusters else numbers)
            low[k], high[k] = np.quantile(elo[1:, k], expanded_percentiles(level, count))
    won, lost, drawn, none = (x.sum(axis=1).astype(np.int64) for x in (wins[0], wins[0].T, draws[0], both_lose[0]))
    games = won + lost + drawn + none
    return Ratings(
        agents=agents,
        elo=elo[0],
        low=low,
        high=high,
        games=games,
        wins=won,
        draws=drawn,
        losses=games - won - drawn,
        score=(won + drawn / 2) / games,
        level=level,
        tie=float(likelihood.tie(params)[0]),
        anchor=anchor,
        components=tuple(tuple(agents[k] for k in group) for group in groups),
    )


def tally_results(results: Iterable[PairResult]) -> dict[tuple[str, str], dict[int, list[int]]]:
    """Count outcomes by pair (a < b) and cluster: [a won, b won, draws, both lost]."""
    column = {outcome: k for k, outcome in enumerate(get_args(Outcome))}
    pairs: dict[tuple[str, str], dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0, 0, 0]))
    for first, second, cluster, outcome in results:
        if first == second:
            cause = "give copies own names"
            raise InputError("agents", "two different agents", f"{shown(first)} against itself", cause)
        if outcome not in column:
            raise InputError("outcome", f"one of {list(column)}", shown(outcome), "agents' names do not go here")
        k = column[outcome]
        if first > second and k < 2:
            k = 1 - k
        pairs[min(first, second), max(first, second)][cluster][k] += 1
    return pairs


def _resampled(group: list[dict[int, list[int]]], resamples: int, rng: np.random.Generator) -> FloatArray:
    """Resample clusters of pairs, one number together: outcomes [pairs, R + 1, 4], first those that were played."""
    numbers = {number for clusters in group for number in clusters}
    rows = [[count for clusters in group for count in clusters.get(number, (0, 0, 0, 0))] for number in numbers]
    # [T, 4 * pairs] distinct tallies, [T] clusters that have each.
    tallies, counts = np.unique(np.array(rows), axis=0, return_counts=True)
    # A cluster's weight is exponential, so that of `c` equal ones together has Gamma's distribution with shape c.
    weights = np.vstack([counts, rng.gamma(counts, size=(resamples, len(counts)))])
    totals = weights.astype(np.float64) @ tallies.astype(np.float64)  # exact, and faster than with integers
    return np.asarray(totals.reshape(resamples + 1, len(group), 4).swapaxes(0, 1))

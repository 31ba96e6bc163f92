"""Ratings of agents from the games they played: Bradley-Terry with ties, on the Elo scale.

Model (Davidson 1970, "On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison
Experiments", JASA 65). Agent i has a strength p_i > 0, and all share one tie parameter nu >= 0:

    P(i beats j) = p_i / Z,   P(draw) = nu sqrt(p_i p_j) / Z,   Z = p_i + p_j + nu sqrt(p_i p_j)

Divided by sqrt(p_i p_j), the three weights are exp(d/2), exp(-d/2) and nu, with d = log p_i - log p_j. So it
is a multinomial logit: its log-likelihood is concave in (log p, log nu), and Newton's method climbs it.

Prior: every agent plays `prior` virtual games, half won and half lost, against one virtual opponent in the
middle of the field (where that opponent scores exactly one half). That is symmetric, does not depend on the
scale, and keeps all ratings finite: of an agent that won every game, of groups that never met, and nu where
every game was drawn.

Letters: `R` data sets fitted at once, `K` agents.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Fit",
    "Outcome",
    "PairResult",
    "Ratings",
    "expected_score",
    "fit",
    "rate",
    "student_t",
    "win_probability_interval",
]

Outcome = Literal["first", "second", "draw", "both_lose"]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

ELO_PER_LOG = 400.0 / math.log(10.0)
_MAX_NEWTON_STEPS = 100
_MAX_HALVINGS = 40
# A longer step is shortened: far from the maximum, curvature tells nothing of what lies beyond.
_LONGEST_STEP = 4.0
# A step is the last when its decrement (about twice what the log-likelihood still lacks) is this small;
# rounding doubles that for this many games. Without a prior such a step may still be long: then the maximum
# lies at infinity, on the way to which steps stay near 1 for ever.
_LEAST_WEIGHT = 1e-6  # of a virtual game; what lies beyond is no part of any quantile of interest
_SMALL_DECREMENT, _GAMES_OF_ROUNDING, _FINITE_STEP = 1e-12, 1e4, 1e-3


class PairResult(NamedTuple):
    """One game between two agents.

    first, second: names of the agents, in order of their seats.
    cluster: games of one pair with the same number are resampled together, such as the two games from one
        opening with seats swapped. Numbers are local to the pair, unless `rate` is told that they are shared.
    outcome: who won. Where both lose, the game counts as played and leaves the ratings alone.
    """

    first: str
    second: str
    cluster: int
    outcome: Outcome


class Fit(NamedTuple):
    """Maximum-likelihood strengths; the leading `R` is absent where one [K, K] table was given.

    log_strength: [R, K] float64, log p, mean 0 over the agents.
    tie:          [R] float64, nu; 0 where no game was drawn.
    games:        [R, K] float64, games each agent played, also those that both lost.
    connected:    [R] bool, whether decided or drawn games link all agents. If not, only the prior compares
                  the groups.
    """

    log_strength: FloatArray
    tie: FloatArray
    games: FloatArray
    connected: BoolArray


@dataclass(frozen=True, eq=False)
class Ratings:
    """A table of ratings; arrays are [K], in the order of `agents`.

    agents: names, sorted.
    elo:    float64, 400 / ln 10 * log p, shifted to the anchor.
    low, high: float64, bounds of the bootstrap interval (see `rate`); those of the anchor have no width. Of an agent
        that won every game the upper one says little but how weak the prior is. NaN when there were no resamples.
    games, wins, draws, losses: int64; games that both lost are in `games` and in `losses`.
    score:  float64, (wins + draws / 2) / games.
    level:  coverage that the intervals aim at.
    tie:    Davidson's nu.
    anchor: the agent whose rating is fixed, or None where the mean of all agents is.
    components: groups of agents linked by games that were decided or drawn. Ratings compare within a group;
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
        """Whether games link all agents."""
        return len(self.components) == 1


def fit(
    wins: ArrayLike,
    draws: ArrayLike | None = None,
    both_lose: ArrayLike | None = None,
    *,
    prior: float = 1.0,
) -> Fit:
    """Fit strengths to one table of results, or to a stack of tables at once.

    Args:
        wins: [K, K] or [R, K, K]; wins[..., i, j] games that i won against j.
        draws: the same shape, symmetric; None for none. Without any draw nu is 0 and left out of the fit.
        both_lose: the same shape, symmetric; None for none. Counted in `games` only.
        prior: virtual games per agent (see the module); 0 for plain maximum likelihood.

    Raises:
        ValueError: tables that no games can give, or no finite maximum, with `prior` 0 or next to nothing.
    """
    won = np.asarray(wins, dtype=np.float64)
    if won.ndim not in (2, 3) or won.shape[-1] != won.shape[-2]:
        raise ValueError(f"wins must have shape [K, K] or [R, K, K], got {won.shape}; is a row or a column missing?")
    if won.shape[-1] < 2:
        raise ValueError(f"expected at least 2 agents, got {won.shape[-1]}; one agent alone has no rating")
    if not (math.isfinite(prior) and prior >= 0):
        raise ValueError(f"prior must be a finite number of games >= 0, got {prior}")
    drawn = np.zeros_like(won) if draws is None else np.asarray(draws, dtype=np.float64)
    lost = np.zeros_like(won) if both_lose is None else np.asarray(both_lose, dtype=np.float64)
    _check_table("wins", won, won.shape, symmetric=False)
    _check_table("draws", drawn, won.shape, symmetric=True)
    _check_table("both_lose", lost, won.shape, symmetric=True)
    virtual = np.full((*won.shape[:-1], 2), prior / 2)
    return _fit(won, drawn, lost, virtual)


def _fit(won: FloatArray, drawn: FloatArray, lost: FloatArray, virtual: FloatArray) -> Fit:
    """As `fit`; virtual games are [K, 2] or [R, K, 2], those that each agent won and lost."""
    rated = won + won.swapaxes(-1, -2) + drawn
    games = (rated + lost).sum(axis=-1)
    if not (games.sum(axis=-1) > 0).all():
        raise ValueError("expected at least one game, got none; are the tables all zero?")
    connected = _reachable(rated > 0).all(axis=(-2, -1))
    prior = float(virtual.min())
    if prior == 0 and not connected.all():
        raise ValueError(
            "prior=0 needs games that link all agents, got separate groups; let them meet or set prior > 0"
        )
    stack = (-1, *won.shape[-2:])
    likelihood = _Likelihood(won.reshape(stack), drawn.reshape(stack), virtual.reshape(-1, won.shape[-1], 2))
    theta, tie, converged = _maximise(likelihood)
    if not converged.all():
        raise ValueError(
            f"expected a finite maximum, got none with prior={2 * prior:g}; did an agent never win, or never "
            "lose? A prior near 1 keeps its rating finite"
        )
    theta -= theta.mean(axis=1, keepdims=True)
    return Fit(theta.reshape(games.shape), tie.reshape(games.shape[:-1]), games, np.asarray(connected))


def rate(
    results: Iterable[PairResult],
    *,
    anchor: str | None = None,
    anchor_elo: float = 0.0,
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
        anchor: the agent whose rating is `anchor_elo`; None puts the mean of all agents there.
        anchor_elo: where the scale is fixed, in Elo points.
        prior: virtual games per agent (see the module).
        resamples: bootstrap resamples, fitted as one stack; 0 for ratings without intervals.
        level: coverage of the intervals, between 0 and 1.
        seed: of the generator that only this call consumes.
        shared_clusters: whether a number is the same cluster in all pairs, as one game of many seats gives results
            to many pairs; else every pair has its own.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}; write 0.95 for 95 %")
    if resamples < 0:
        raise ValueError(f"resamples must be >= 0, got {resamples}")
    pairs = _tally(results)
    if not pairs:
        raise ValueError("expected at least one game, got none; were the results consumed already?")
    agents = tuple(sorted({name for pair in pairs for name in pair}))
    if anchor is not None and anchor not in agents:
        raise ValueError(f"anchor must be one of {list(agents)}, got {anchor!r}; did it play no game?")
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

    fitted = _fit(wins, draws, both_lose, virtual)
    elo = ELO_PER_LOG * fitted.log_strength  # [R + 1, K]
    if anchor is not None:
        elo = elo - elo[:, [index[anchor]]]
    elo = elo + anchor_elo
    low, high = np.full((2, len(agents)), np.nan)
    if resamples:
        for k, name in enumerate(agents):
            met = [pairs[pair] for pair in pairs if name in pair]
            count = len({number for clusters in met for number in clusters}) if shared_clusters else sum(map(len, met))
            low[k], high[k] = np.quantile(elo[1:, k], _expanded(level, count))
    games, won, drawn = (x.astype(np.int64) for x in (fitted.games[0], wins[0].sum(1), draws[0].sum(1)))
    reach = _reachable(wins[0] + wins[0].T + draws[0] > 0)
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
        tie=float(fitted.tie[0]),
        anchor=anchor,
        components=tuple(tuple(agents[k] for k in np.flatnonzero(row)) for row in np.unique(reach, axis=0)[::-1]),
    )


def expected_score(elo_difference: ArrayLike, tie: ArrayLike = 0.0) -> FloatArray:
    """Expected score (a win 1, a draw 1/2) against an opponent `elo_difference` points weaker.

    tie is Davidson's nu (`Ratings.tie`); with 0 this is Elo's own curve. Shapes broadcast.
    """
    nu = np.asarray(tie, dtype=np.float64)
    if not (nu >= 0).all():
        raise ValueError(f"tie must be >= 0, got {tie!r}; is it a logarithm?")
    win, _, draw, _ = _probabilities(np.asarray(elo_difference, dtype=np.float64) / ELO_PER_LOG, nu)
    return np.asarray(win + draw / 2)


def win_probability_interval(wins: float, draws: float, games: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson score interval for the share (wins + draws / 2) / games.

    It is made for independent games without draws; a draw varies less than a win or a loss, so that draws
    make the interval wider than it need be. (Wilson 1927, "Probable Inference, the Law of Succession, and
    Statistical Inference", JASA 22)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}; write 0.95 for 95 %")
    if not (games > 0 and wins >= 0 and draws >= 0 and wins + draws <= games):
        raise ValueError(
            f"expected games > 0 and 0 <= wins + draws <= games, got wins={wins}, draws={draws}, "
            f"games={games}; are draws counted in wins too?"
        )
    share = (wins + draws / 2) / games
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    middle = (share + z2 / (2 * games)) / (1 + z2 / games)
    half = math.sqrt(z2 * (share * (1 - share) / games + z2 / (4 * games**2))) / (1 + z2 / games)
    return max(0.0, middle - half), min(1.0, middle + half)


def student_t(level: float, freedom: float) -> float:
    """The quantile of Student's t that a share of `level` lies within, of both signs, for 1, 2, 4 or more degrees.

    Exact for 1 and 2; then the expansion of Cornish and Fisher, right to 1 % (Abramowitz and Stegun, 26.7.5).
    """
    if freedom <= 1:
        return math.tan(math.pi * level / 2)
    if freedom <= 2:
        return level * math.sqrt(2 / (1 - level**2))
    z = NormalDist().inv_cdf((1 + level) / 2)
    series = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term / freedom**power for power, term in enumerate(series))


def _expanded(level: float, clusters: int) -> tuple[float, float]:
    """Which quantiles of the resamples to take, since few clusters vary less among themselves than anew.

    Hesterberg's expanded percentile interval (2015, "What Teachers Should Know about the Bootstrap", The American
    Statistician 69): as far out as Student's t, times sqrt(n / (n - 1)), is in a normal distribution.
    """
    count = max(clusters, 2)
    tail = NormalDist().cdf(-math.sqrt(count / (count - 1)) * student_t(level, count - 1))
    return tail, 1 - tail


def _tally(results: Iterable[PairResult]) -> dict[tuple[str, str], dict[int, list[int]]]:
    """Count outcomes by pair (a < b) and cluster: [a won, b won, draws, both lost]."""
    column = {outcome: k for k, outcome in enumerate(get_args(Outcome))}
    pairs: dict[tuple[str, str], dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0, 0, 0]))
    for first, second, cluster, outcome in results:
        if first == second:
            raise ValueError(f"expected two different agents, got {first!r} against itself; give copies own names")
        if outcome not in column:
            raise ValueError(f"outcome must be one of {list(column)}, got {outcome!r}; agents' names do not go here")
        k = column[outcome]
        if first > second and k < 2:
            k = 1 - k
        pairs[min(first, second), max(first, second)][cluster][k] += 1
    return pairs


def _resampled(group: list[dict[int, list[int]]], resamples: int, rng: np.random.Generator) -> FloatArray:
    """Outcomes of pairs whose clusters of one number are drawn together: [pairs, R + 1, 4], first those played."""
    numbers = {number for clusters in group for number in clusters}
    rows = [[count for clusters in group for count in clusters.get(number, (0, 0, 0, 0))] for number in numbers]
    # [T, 4 * pairs] distinct tallies, [T] clusters that have each.
    tallies, counts = np.unique(np.array(rows), axis=0, return_counts=True)
    # The weight of a cluster is exponential, so that of `c` clusters is of Gamma's distribution with shape c.
    weights = np.vstack([counts, rng.gamma(counts, size=(resamples, len(counts)))])
    totals = weights.astype(np.float64) @ tallies.astype(np.float64)  # exact, and faster than with integers
    return np.asarray(totals.reshape(resamples + 1, len(group), 4).swapaxes(0, 1))


def _check_table(name: str, table: FloatArray, shape: tuple[int, ...], *, symmetric: bool) -> None:
    if table.shape != shape:
        raise ValueError(f"{name} must have the shape of wins, {shape}, got {table.shape}")
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError(f"{name} must be finite counts >= 0, got {table.min()} to {table.max()}; are these net wins?")
    if np.diagonal(table, axis1=-2, axis2=-1).any():
        raise ValueError(f"the diagonal of {name} must be 0, got an agent playing itself; give copies own rows")
    if symmetric and not np.array_equal(table, table.swapaxes(-1, -2)):
        raise ValueError(f"{name}[i, j] must equal {name}[j, i], got different counts; is only one half filled in?")


def _reachable(met: BoolArray) -> BoolArray:
    """Whether a chain of meetings leads from i to j; [..., K, K] to [..., K, K], true on the diagonal."""
    reach = (met | np.eye(met.shape[-1], dtype=np.bool_)).astype(np.float64)
    for _ in range(met.shape[-1].bit_length()):  # each squaring doubles the length of the chains
        reach = np.minimum(reach @ reach, 1.0)
    return np.asarray(reach > 0)


def _probabilities(d: FloatArray, nu: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """P(win), P(loss), P(draw) and log Z of the weights exp(d/2), exp(-d/2), nu."""
    m = np.abs(d) / 2
    win, loss, draw = np.exp(d / 2 - m), np.exp(-d / 2 - m), nu * np.exp(-m)
    z = win + loss + draw
    return win / z, loss / z, draw / z, m + np.log(z)


class _Likelihood:
    """Log-likelihood of R tables [R, K, K], and its derivatives.

    Parameters are [R, K + 1]: K log strengths, then log nu, which has no effect in a row without draws. The
    virtual opponent is agent K of tables one larger; its log strength stays 0 and is no parameter.
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
        """Equal strengths, and the nu that they would need for this share of draws."""
        params = np.zeros_like(self.linear)
        params[:, -1] = np.log(np.where(self.drawn > 0, 2 * self.drawn / np.maximum(self.decided, 0.5), 1.0))
        return params

    def tie(self, params: FloatArray) -> FloatArray:
        return np.where(self.drawn > 0, np.exp(params[:, -1]), 0.0)

    def value(self, params: FloatArray) -> FloatArray:
        log_z = self._model(params)[3]
        return np.asarray((self.linear * params).sum(axis=1) - (self.games * log_z).sum(axis=(1, 2)) / 2)

    def derivatives(self, params: FloatArray) -> tuple[FloatArray, FloatArray]:
        """[R, K + 1] gradient, and [R, K + 1, K + 1] minus the Hessian: covariances of the outcomes."""
        k, games = self.agents, self.games
        win, loss, draw, _ = self._model(params)
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

    def _model(self, params: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        theta = np.pad(params[:, :-1], ((0, 0), (0, 1)))
        return _probabilities(theta[:, :, None] - theta[:, None, :], self.tie(params)[:, None, None])


def _maximise(likelihood: _Likelihood) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Newton's method with backtracking: log strengths [R, K], nu [R], and whether each row converged [R].

    Every row has its own steps and stops by itself, so that a batch equals its tables alone.
    """
    params = likelihood.start()
    value = likelihood.value(params)
    games = likelihood.games.sum(axis=(1, 2)) / 2
    small = _SMALL_DECREMENT * (1 + games / _GAMES_OF_ROUNDING)
    active, converged = np.ones(len(params), dtype=np.bool_), np.zeros(len(params), dtype=np.bool_)
    for _ in range(_MAX_NEWTON_STEPS):
        gradient, curvature = likelihood.derivatives(params)
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0] * active[:, None]
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
    return params[:, :-1], likelihood.tie(params), converged

"""Ratings: the fit against closed forms and a slow second implementation, errors, and bounds that cover the truth."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from drawn_results import tournament
from numpy.typing import NDArray
from refusals import refused
from slow import slow_except
from store_games import game

from cellgames.arena.records.record_lines import Record
from cellgames.arena.stats.ratings import (
    Likelihood,
    Outcome,
    PairResult,
    Ratings,
    comparisons,
    maximise,
    outcome_probabilities,
    rate,
)
from cellgames.utils.statistics import student_t, wilson_interval

Array = NDArray[np.float64]
ELO = 400 / math.log(10)


def tables(rng: np.random.Generator, agents: int, high: int = 12) -> tuple[Array, Array]:
    wins = rng.integers(0, high, (agents, agents)).astype(np.float64)
    draws = np.triu(rng.integers(0, high, (agents, agents)), 1).astype(np.float64)
    return wins * (1 - np.eye(agents)), draws + draws.T


def fit(wins: Any, draws: Any = None, prior: float = 1.0) -> tuple[Array, Array]:
    """Return log strengths, mean 0, and nu of a table or of a stack of tables."""
    won = np.asarray(wins, dtype=np.float64)
    drawn = np.zeros_like(won) if draws is None else np.asarray(draws, dtype=np.float64)
    stack = (-1, *won.shape[-2:])
    virtual = np.full((won.reshape(stack).shape[0], won.shape[-1], 2), prior / 2)
    likelihood = Likelihood(won.reshape(stack), drawn.reshape(stack), virtual)
    params, converged = maximise(likelihood)
    assert converged.all()
    theta, tie = params[:, :-1], likelihood.tie(params)
    return (theta - theta.mean(axis=1, keepdims=True)).reshape(won.shape[:-1]), tie.reshape(won.shape[:-2])


def slow_fit(wins: Array, draws: Array, prior: float) -> tuple[list[float], float]:
    """Gradient ascent by plain loops, from the formulas in p and nu. The virtual opponent is agent k."""
    k = len(wins)
    pairs = [(i, j, wins[i, j], wins[j, i], draws[i, j]) for i in range(k) for j in range(i)]
    pairs += [(i, k, prior / 2, prior / 2, 0.0) for i in range(k)]
    pace = 2 / sum(won + lost + tied for _, _, won, lost, tied in pairs)
    theta, delta = [0.0] * (k + 1), 0.0
    for _ in range(15_000):
        slope, slope_of_nu = [0.0] * (k + 1), 0.0
        for i, j, won, lost, tied in pairs:
            p, q = math.exp(theta[i]), math.exp(theta[j])
            tie = math.exp(delta) * math.sqrt(p * q)
            games, z = won + lost + tied, p + q + tie
            # Each slope is a count minus its expectation; a draw counts half for both.
            slope[i] += won + tied / 2 - games * (p + tie / 2) / z
            slope[j] += lost + tied / 2 - games * (q + tie / 2) / z
            slope_of_nu += tied - games * tie / z
        slope[k] = 0.0
        theta = [t + pace * s for t, s in zip(theta, slope, strict=True)]
        delta += pace * slope_of_nu
    mean = sum(theta[:k]) / k
    return [t - mean for t in theta[:k]], math.exp(delta)


@pytest.mark.parametrize(("won", "lost", "tied"), [(9, 4, 6), (50, 1, 3), (1, 1, 500), (200, 300, 1)])
def test_two_agents_with_draws_have_davidsons_closed_form(won: int, lost: int, tied: int) -> None:
    """Two parameters for two free shares fit exactly: p_1 / p_2 = won / lost, nu = tied / sqrt(won lost)."""
    strength, tie = fit([[0, won], [lost, 0]], [[0, tied], [tied, 0]], prior=0)
    assert strength[0] - strength[1] == pytest.approx(math.log(won / lost), abs=1e-9)
    assert float(tie) == pytest.approx(tied / math.sqrt(won * lost), rel=1e-9)


@pytest.mark.parametrize(("seed", "prior"), [(0, 0.5), (1, 3.0)])
def test_equals_a_slow_gradient_ascent(seed: int, prior: float) -> None:
    wins, draws = tables(np.random.default_rng(seed), agents=4)
    strength, tie = fit(wins, draws, prior=prior)
    slow_strength, slow_tie = slow_fit(wins, draws, prior)
    np.testing.assert_allclose(strength, slow_strength, atol=1e-8)
    assert float(tie) == pytest.approx(slow_tie, rel=1e-8)


@pytest.mark.parametrize("prior", [1e-3, 1.0])
def test_lopsided_tables_of_up_to_ten_million_games_have_a_fit(prior: float) -> None:
    """At the maximum every agent has the points that the model expects of it, virtual games included."""
    rng, agents = np.random.default_rng(9), 6
    for density in (0.1, 0.5, 1.0):
        wins = np.floor(10 ** rng.uniform(-2, 7, (30, agents, agents))) * (1 - np.eye(agents))
        draws = np.floor(np.triu(10 ** rng.uniform(-2, 7, wins.shape), 1)) * (rng.random(wins.shape) < 0.7)
        wins *= rng.random(wins.shape) < density
        wins[:, 0, 1] += 1
        draws += draws.swapaxes(1, 2)
        strength, tie = fit(wins, draws, prior=prior)
        games = (wins + wins.swapaxes(1, 2) + draws).sum(axis=2)
        win, _, draw, _ = outcome_probabilities(strength[:, :, None] - strength[:, None, :], tie[:, None, None])
        score = win + draw / 2
        surplus = (wins + draws / 2 - (wins + wins.swapaxes(1, 2) + draws) * score).sum(axis=2)
        # A virtual game, half won and half lost, makes up for half a point at most.
        assert (np.abs(surplus) <= prior / 2 + 1e-8 * games.sum()).all()
        assert np.isfinite(tie).all()


def test_only_draws_make_equals_with_a_finite_tie() -> None:
    strength, tie = fit(np.zeros((2, 2)), [[0, 50], [50, 0]], prior=1.0)
    np.testing.assert_allclose(strength, 0, atol=1e-9)
    # Both virtual games are decided: nu / (2 + nu) = 50 / 52.
    assert float(tie) == pytest.approx(50.0, rel=1e-6)


def test_separate_groups_are_finite_and_reported() -> None:
    records = [
        PairResult("a", "b", 0, "first"),
        PairResult("c", "d", 0, "second"),
        PairResult("a", "d", 0, "both_lose"),
    ]
    ratings = rate(records, resamples=20)
    assert ratings.components == (("a", "b"), ("c", "d"))
    assert not ratings.connected
    np.testing.assert_allclose(ratings.elo, ratings.elo[0] * np.array([1, -1, -1, 1]), atol=1e-9)
    assert np.isfinite([ratings.low, ratings.high]).all()
    assert rate([*records, PairResult("b", "c", 0, "draw")], resamples=0).connected


def test_both_lose_counts_as_a_game_and_changes_no_rating() -> None:
    outcomes: tuple[Outcome, ...] = ("first", "first", "second", "draw")
    records = [PairResult("a", "b", c, outcome) for c, outcome in enumerate(outcomes)]
    plain, more = rate(records), rate([*records, PairResult("b", "a", 9, "both_lose")])
    np.testing.assert_array_equal(plain.elo, more.elo)
    assert more.games.tolist() == [5, 5]
    assert (more.wins.tolist(), more.draws.tolist(), more.losses.tolist()) == ([2, 1], [1, 1], [2, 3])
    assert more.score.tolist() == [2.5 / 5, 1.5 / 5]


def test_the_anchor_has_its_rating_and_no_width() -> None:
    records = tournament(np.random.default_rng(2), {"ann": 0.5, "bob": 0.0, "cy": -0.5}, 10, tie=0.3)
    free, anchored = rate(records, resamples=50), rate(records, anchor="bob", resamples=50)
    assert free.elo.mean() == pytest.approx(0, abs=1e-9)
    assert (anchored.elo[1], anchored.low[1], anchored.high[1]) == (0, 0, 0)
    np.testing.assert_allclose(np.diff(anchored.elo), np.diff(free.elo), atol=1e-9)


@pytest.mark.parametrize(("level", "z"), [(0.95, 1.96), (0.5, 0.674)])
def test_bounds_are_those_of_the_normal_approximation(level: float, z: float) -> None:
    """One game per cluster, no draws: the log odds have the variance 1 / won + 1 / lost."""
    records = [PairResult("a", "b", c, "first" if c < 600 else "second") for c in range(1000)]
    ratings = rate(records, anchor="b", resamples=4000, level=level)
    half = z * ELO * math.sqrt(1 / 600 + 1 / 400)
    assert ratings.low[0] == pytest.approx(ratings.elo[0] - half, abs=0.08 * half)
    assert ratings.high[0] == pytest.approx(ratings.elo[0] + half, abs=0.08 * half)


def test_games_of_one_cluster_are_not_counted_as_independent() -> None:
    """The same games twice in the same clusters say no more; in clusters of their own, the width shrinks."""
    once = tournament(np.random.default_rng(4), {"bob": -0.3, "ann": 0.3}, 200, tie=0.4)
    copies = [r._replace(cluster=r.cluster + 1000) for r in once]
    width, same, apart = ((r.high - r.low)[0] for r in (rate(once), rate(once + once, prior=2), rate(once + copies)))
    assert same == pytest.approx(width, rel=0.01)  # but for the weights of the virtual games
    assert apart == pytest.approx(width / math.sqrt(2), rel=0.15)


def test_same_seed_same_result_whatever_the_order_of_the_records() -> None:
    records = tournament(np.random.default_rng(6), {"ann": 0.5, "bob": 0.1, "cy": -0.6}, 20, tie=0.5)
    shuffled = random.Random(0).sample(records, len(records))
    swap: dict[Outcome, Outcome] = {"first": "second", "second": "first"}
    mirrored = [PairResult(r.second, r.first, -r.cluster, swap.get(r.outcome, r.outcome)) for r in shuffled]
    first = rate(records, seed=7)
    for again in (rate(records, seed=7), rate(shuffled, seed=7), rate(iter(mirrored), seed=7)):
        for name in ("elo", "low", "high", "games", "wins", "draws", "losses", "score"):
            np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    other = rate(records, seed=8)
    np.testing.assert_array_equal(first.elo, other.elo)
    assert (first.low != other.low).any()


def test_a_batch_equals_its_tables_alone() -> None:
    rng = np.random.default_rng(8)
    wins, draws = (np.stack(x) for x in zip(*(tables(rng, 5, high) for high in (2, 3, 5, 40, 1000)), strict=True))
    draws[1] = 0  # without draws
    wins[2] = np.triu(wins[2], 1)  # the upper row wins always
    draws[3, 0] = draws[3, :, 0] = wins[3, 0] = wins[3, :, 0] = 0  # one agent plays nobody
    batch = fit(wins, draws)
    assert (batch[1] == 0).tolist() == [False, True, False, False, False]
    for r in range(len(wins)):
        for whole, alone in zip(batch, fit(wins[r], draws[r]), strict=True):
            np.testing.assert_allclose(whole[r], alone, rtol=1e-12, atol=1e-12)


def test_wilson_interval() -> None:
    # The worked bounds of 5 of 10 at 95 %, and no bound outside [0, 1].
    assert wilson_interval(0.5, 10) == pytest.approx((0.23659, 0.76341), abs=1e-5)
    low, high = wilson_interval(1.0, 10)
    assert (low, high) == pytest.approx((0.72247, 1.0), abs=1e-5)
    assert wilson_interval(0.0, 10) == pytest.approx((1 - high, 1 - low), abs=1e-12)
    # The bounds solve (share - p)^2 = z^2 p (1 - p) / games, by which Wilson defines them.
    for p in wilson_interval(33.5 / 90, 90, level=0.9):
        assert (33.5 / 90 - p) ** 2 == pytest.approx(1.6448536269514722**2 * p * (1 - p) / 90)


@pytest.mark.parametrize(
    ("pairs", "options", "refusal"),
    [
        ([], {}, ("wins", "none")),
        ([("a", "a")], {}, ("agents", "'a' against itself")),
        ([("a", "b")], {"level": 95}, ("level", "95")),
        ([("a", "b")], {"resamples": -1}, ("resamples", "-1")),
        ([("a", "b")], {"prior": 0, "resamples": 0}, ("prior", "none with prior=0")),
        ([("a", "b"), ("c", "d")], {"prior": 0, "resamples": 0}, ("prior", "separate groups")),
    ],
)
def test_errors_say_what_was_expected_and_what_came(
    pairs: list[tuple[str, str]], options: dict[str, Any], refusal: tuple[str, ...]
) -> None:
    with refused(*refusal):
        rate([PairResult(*pair, 0, "first") for pair in pairs], **options)


# Intervals cover the truth as often as they say.


def named(strength: Array) -> dict[str, float]:
    return {f"a{number}": float(log) for number, log in enumerate(strength)}


def covered(rated: Ratings, strength: Array) -> Array:
    """Of each agent, whether its rating lies in the interval."""
    truth = ELO * (strength - strength.mean())
    return np.asarray((rated.low <= truth) & (truth <= rated.high), dtype=float)


def check(inside: Sequence[Array], least: float = 0.95, most: float = 1.0) -> None:
    """The share is between these, or as far off as chance allows (3 standard errors over whole tournaments)."""
    shares = np.array([found.mean() for found in inside])
    slack = 3 * max(shares.std() / math.sqrt(len(shares)), 0.005)
    assert least - slack <= shares.mean() <= most, f"covered {shares.mean():.3f}, allowed {slack:.3f} off"


@pytest.mark.parametrize(
    ("agents", "openings", "std", "tie", "alike"),
    slow_except(
        [(3, (10,), 0.7, 1.5, 0.3)],
        [
            (2, (25,), 0.5, 0.5, 0.0),
            (2, (25,), 1.0, 0.0, 0.8),
            (3, (10,), 0.7, 1.5, 0.3),
            (4, (5, 30, 12), 0.7, 0.5, 0.5),
            (8, (4, 20), 1.0, 0.3, 0.5),
        ],
    ),
)
def test_tournaments_of_known_strengths(
    agents: int, openings: Sequence[int], std: float, tie: float, alike: float
) -> None:
    """Many tournaments each: few and many agents, unequal numbers of games, with and without draws and copies."""
    rng = np.random.default_rng(agents)
    inside = []
    for trial in range(80):
        strength = rng.normal(0, std, agents)
        results = tournament(rng, named(strength), *openings, tie=tie, alike=alike)
        inside.append(covered(rate(results, resamples=150, seed=trial), strength))
    check(inside, least=0.94, most=0.99)  # 150 resamples cost about one in a hundred


def test_few_openings_and_great_differences() -> None:
    """Where clusters drawn with replacement covered 67 to 85 %: ten openings, one side far better, no draws."""
    rng = np.random.default_rng(1)
    strength = np.array([1.5, -1.5])
    inside, swept = [], 0
    for trial in range(80):
        rated = rate(tournament(rng, named(strength), 10), resamples=200, seed=trial)
        inside.append(covered(rated, strength))
        swept += rated.wins.max() == 20
    assert swept > 16  # in many the better one won every game, and has a width all the same
    check(inside, least=0.93)


def orders(rng: np.random.Generator, strength: Array, seats: int, games: int) -> list[Record]:
    """Finishing orders after Plackett and Luce: log strength plus Gumbel's noise, sorted."""
    records = []
    for number in range(games):
        who = rng.choice(len(strength), size=seats, replace=False)
        scores = tuple((strength[who] + rng.gumbel(size=seats)).tolist())
        agents = [f"a{k}" for k in who]
        records.append(game(2 * number, agents, tuple("draw" for _ in agents), scores=scores))
    return records


@pytest.mark.parametrize(("agents", "seats", "games"), slow_except([(4, 4, 30)], [(4, 4, 30), (6, 4, 60), (8, 8, 25)]))
def test_tables_of_many_with_known_strengths(agents: int, seats: int, games: int) -> None:
    """Pairs of a game depend on each other, so that games are resampled whole."""
    rng = np.random.default_rng(agents)
    inside = []
    for trial in range(60):
        strength = rng.normal(0, 0.7, agents)
        results = [result for record in orders(rng, strength, seats, games) for result in comparisons(record)]
        rated = rate(results, resamples=150, seed=trial, shared_clusters=True)
        inside.append(covered(rated, strength))
    check(inside, least=0.94, most=0.99)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
def test_quantiles_of_students_t(level: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    for freedom in (1, 2, 3, 4, 7, 20, 1000):
        assert student_t(level, freedom) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), rel=0.01)

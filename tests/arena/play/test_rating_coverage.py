"""Intervals of ratings cover the truth as often as they say, on games drawn from known strengths."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from drawn_results import tournament
from numpy.typing import NDArray
from slow import slow_except
from store_games import game

from cellgames.arena.records.record_lines import Outcome, Record
from cellgames.arena.stats.comparisons import comparisons
from cellgames.arena.stats.ratings import Ratings, rate
from cellgames.utils.statistics import student_t

ELO = 400 / math.log(10)
LEVEL = 0.95
Floats = NDArray[np.float64]


def named(strength: Floats) -> dict[str, float]:
    return {f"a{number}": float(log) for number, log in enumerate(strength)}


def covered(rated: Ratings, strength: Floats) -> Floats:
    """Of each agent, whether its rating lies in the interval."""
    truth = ELO * (strength - strength.mean())
    return np.asarray((rated.low <= truth) & (truth <= rated.high), dtype=float)


def check(inside: Sequence[Floats], least: float = LEVEL, most: float = 1.0) -> None:
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


def orders(rng: np.random.Generator, strength: Floats, seats: int, games: int) -> list[Record]:
    """Finishing orders after Plackett and Luce: log strength plus Gumbel's noise, sorted."""
    level: tuple[Outcome, ...] = tuple("draw" for _ in range(seats))
    records = []
    for number in range(games):
        who = rng.choice(len(strength), size=seats, replace=False)
        scores = strength[who] + rng.gumbel(size=seats)
        records.append(game(2 * number, [f"a{k}" for k in who], level, scores=tuple(map(float, scores))))
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

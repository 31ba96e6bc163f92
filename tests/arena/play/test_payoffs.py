"""The payoff matrix, its two solutions and its rings, against other ways to the same numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from slow import slow_except
from store_games import game

from cellgames.arena import PairResult, Payoffs, cycles, nash, payoffs, payoffs_of
from cellgames.arena.records.record_lines import Outcome, Record
from cellgames.arena.report.rating_tables import payoff_section
from cellgames.arena.stats.payoffs import equilibrium

pytest.importorskip("scipy", reason="Nash averaging needs SciPy: pip install 'cellgames[research]'")

Matrix = NDArray[np.float64]

RING = np.array([[0.0, 0.5, -0.5], [-0.5, 0.0, 0.5], [0.5, -0.5, 0.0]])


def games(
    win: Matrix, openings: int, rng: np.random.Generator, names: tuple[str, ...] | None = None
) -> Iterator[PairResult]:
    """Two independent games from each opening, by the probability that the row wins."""
    names = names or tuple("abcdefghij"[: len(win)])
    for i, j in itertools.combinations(range(len(win)), 2):
        for opening, won in enumerate(rng.random((openings, 2)) < win[i, j]):
            for first in won:
                yield PairResult(names[i], names[j], opening, "first" if first else "second")


def test_scores_and_games_by_hand() -> None:
    found = payoffs(
        [
            game(0, ("a", "b"), ("win", "loss")),
            game(1, ("b", "a"), ("draw", "draw")),
            game(2, ("b", "a"), ("win", "loss")),
            game(3, ("c", "a"), ("loss", "loss")),
            game(4, ("c", "c"), ("win", "loss")),
        ]
    )
    assert found.agents == ("a", "b", "c")
    np.testing.assert_array_equal(found.games, [[0, 3, 1], [3, 0, 0], [1, 0, 0]])
    np.testing.assert_allclose(found.score, [[np.nan, 0.5, 0.0], [0.5, np.nan, np.nan], [0.0, np.nan, np.nan]])
    np.testing.assert_allclose(found.advantage[0], [0, 0, 0])  # both lost: nobody has an advantage
    assert np.isnan(found.low[1, 2])
    assert found.low[0, 1] < 0.5 < found.high[0, 1]


def test_two_runs_that_count_openings_alike_are_two_sets_of_openings() -> None:
    def run(seed: int) -> list[Record]:
        ends: list[tuple[Outcome, Outcome]] = [("win", "loss"), ("loss", "win")]
        return [game(k, ("a", "b"), ends[k % 3 == 0], seed=seed + k // 2) for k in range(20)]

    once, twice = payoffs(run(0)), payoffs(run(0) + run(100))
    assert twice.games[0, 1] == 40
    assert twice.score[0, 1] == once.score[0, 1]
    width = [p.high[0, 1] - p.low[0, 1] for p in (once, twice)]
    assert width[1] < 0.8 * width[0]


def test_the_order_of_the_games_does_not_matter() -> None:
    found = list(games(np.full((4, 4), 0.4), 9, np.random.default_rng(0)))
    turned = [PairResult(b, a, c, "second" if o == "first" else "first") for a, b, c, o in reversed(found)]
    one, other = payoffs_of(found), payoffs_of(turned)
    for name in ("score", "games", "middle", "error", "clusters"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("chance", [0.5, 0.7, 0.93])
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("openings", slow_except([12], [12, 100]))
def test_intervals_cover_as_often_as_they_say(chance: float, alike: bool, openings: int) -> None:
    """Two games of an opening are independent, or always end alike; 400 matches of each kind."""
    rng = np.random.default_rng(1)
    inside = 0
    trials = 400
    for _ in range(trials):
        won = rng.random((openings, 2)) < chance
        if alike:
            won[:, 1] = won[:, 0]
        ends = [PairResult("a", "b", k, "first" if w else "second") for k, pair in enumerate(won) for w in pair]
        found = payoffs_of(ends)
        inside += bool(found.low[0, 1] <= chance <= found.high[0, 1])
    # Not below 95 % by more than chance allows (3 standard deviations); wider than asked in small, lopsided samples.
    assert inside / trials >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / trials)
    assert inside / trials <= (0.975 if openings == 100 and chance < 0.9 else 1.0)


def test_a_few_odd_openings_are_not_certainty() -> None:
    """Where each side wins every opening from one seat, only the openings won twice tell anything."""

    def surely(odd: int) -> bool:
        ends = [PairResult("a", "b", k, o) for k in range(50) for o in ("first", "first" if k < odd else "second")]
        return bool(payoffs_of(ends).low[0, 1] > 0.5)

    assert not surely(4)  # a sign test: 2 * 0.5^4 = 0.125
    assert surely(8)  # 2 * 0.5^8 = 0.008


def by_slsqp(matrix: Matrix) -> Matrix:
    """The same program by another method, from the middle."""
    from scipy.optimize import minimize

    count = len(matrix)
    found = minimize(
        lambda p: float((p * np.log(np.maximum(p, 1e-300))).sum()),
        np.full(count, 1 / count),
        jac=lambda p: np.log(np.maximum(p, 1e-300)) + 1,
        bounds=[(0, 1)] * count,
        constraints=[{"type": "eq", "fun": lambda p: p.sum() - 1}, {"type": "ineq", "fun": lambda p: -matrix @ p}],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    return np.asarray(found.x)


def drawn_matrix(kind: int, rng: np.random.Generator) -> Matrix:
    count = int(rng.integers(2, 9))
    if kind == 0:
        raw = rng.standard_normal((count, count))
    elif kind == 1:  # many equilibria
        raw = rng.integers(-1, 2, (count, count)).astype(float)
    elif kind == 2:  # copies
        few = rng.standard_normal((3, 3))
        raw = few[np.ix_(*[rng.integers(0, 3, count)] * 2)]
        raw = raw - raw.T
    else:  # strengths in an order, and a few upsets
        raw = np.subtract.outer(np.arange(count), np.arange(count)) + 2 * rng.standard_normal((count, count))
    upper = np.triu(raw, 1)
    return upper - upper.T


@pytest.mark.parametrize("kind", range(4))
def test_equilibria_are_equilibria_and_of_greatest_entropy(kind: int) -> None:
    rng = np.random.default_rng(kind)
    mixed = agreed = 0
    for _ in range(12):
        matrix = drawn_matrix(kind, rng)
        p = equilibrium(matrix)
        assert (p >= 0).all()
        assert p.sum() == pytest.approx(1, abs=1e-12)
        assert (matrix @ p).max() < 1e-9  # nobody gains against it
        assert p @ matrix @ p == pytest.approx(0, abs=1e-9)
        other = by_slsqp(matrix)
        entropies = [-(q[q > 0] * np.log(q[q > 0])).sum() for q in (p, other)]
        assert entropies[0] >= entropies[1] - 1e-6
        agreed += np.allclose(p, other, atol=2e-3)
        mixed += int((p > 0).sum() > 1)
    assert mixed > 1
    assert agreed >= 10  # the other method stops early now and then, with less entropy


@pytest.mark.parametrize("seed", range(10))
def test_copies_change_no_rating(seed: int) -> None:
    matrix = drawn_matrix(3, np.random.default_rng(seed))
    places = [*range(len(matrix)), 0, 0, 1]
    p, q = equilibrium(matrix), equilibrium(matrix[np.ix_(places, places)])
    np.testing.assert_allclose(np.bincount(places, weights=q), p, atol=1e-8)
    np.testing.assert_allclose((matrix[np.ix_(places, places)] @ q)[: len(p)], matrix @ p, atol=1e-8)


def test_lopsided_and_tiny_advantages() -> None:
    rng = np.random.default_rng(2)
    for scale in (1e-6, 1e-3, 1e3):
        matrix = drawn_matrix(0, rng)
        np.testing.assert_allclose(equilibrium(scale * matrix), equilibrium(matrix), atol=1e-7)
    tilted = np.array([[0, 1e-4, -1], [-1e-4, 0, 1], [1, -1, 0]])
    np.testing.assert_allclose(equilibrium(tilted), np.array([1, 1, 1e-4]) / 2.0001, atol=1e-9)


def test_nash_averaging_of_games() -> None:
    win = 0.5 + np.array([[0, 0.3, -0.3, 0.4], [-0.3, 0, 0.3, 0.4], [0.3, -0.3, 0, 0.4], [-0.4, -0.4, -0.4, 0]])
    found = payoffs_of(games(win, 300, np.random.default_rng(0)))
    average = nash(found, draws=40)
    assert average.agents == ("a", "b", "c", "d")
    assert average.strategy[3] == 0
    assert average.strategy.sum() == pytest.approx(1)
    assert np.abs(average.strategy[:3] - 1 / 3).max() < 0.06
    assert (average.low[:3] < 1 / 3).all()
    assert (average.high[:3] > 1 / 3).all()
    np.testing.assert_array_equal(average.support, [1, 1, 1, 0])
    np.testing.assert_allclose(average.rating[:3], 0, atol=1e-9)
    assert average.rating[3] == pytest.approx(-0.4, abs=0.05)
    assert abs(average.value) < 1e-9
    assert average.left_out == ()
    again = nash(found, draws=40)
    np.testing.assert_array_equal(average.low, again.low)
    bare = nash(found, draws=0)
    np.testing.assert_array_equal(bare.strategy, average.strategy)
    assert np.isnan(bare.low).all()


def test_agents_that_have_not_met_all_are_left_out_and_named() -> None:
    ends = list(games(0.5 + RING[:3, :3] * 0.8, 40, np.random.default_rng(0)))
    ends += [PairResult("late", "a", k, "first") for k in range(20)]
    found = payoffs_of(ends)
    assert found.complete() == ("a", "b", "c")
    average = nash(found, draws=0)
    assert average.left_out == ("late",)
    assert np.isnan(average.rating[3])
    assert average.strategy[3] == 0
    np.testing.assert_array_equal(average.strategy[:3], nash(payoffs_of(ends[:-20]), draws=0).strategy)
    assert "Left out, since they have not met all others: late" in payoff_section(found).text


def known(score: Matrix, width: float = 0.05) -> Payoffs:
    names = tuple("abcdefgh"[: len(score)])
    score = score.copy()
    np.fill_diagonal(score, np.nan)
    error = np.where(np.isnan(score), np.nan, width / 1.96)
    count = np.where(np.isnan(score), 0, 10_000)
    return Payoffs(names, score, count, score, error, count)


def test_rock_paper_scissors_is_found_in_games_and_told() -> None:
    win = 0.5 + 0.5 * RING
    found = payoffs_of(games(win, 50, np.random.default_rng(3), ("rock", "scissors", "paper")))
    (ring,) = cycles(found)
    assert ring.agents == ("paper", "rock", "scissors")  # by name first, then winner to loser
    assert min(ring.lows) > 0.5
    assert ring.weakest == min(ring.scores)
    first, second, third = (f"{100 * score:.0f} %" for score in ring.scores)
    assert str(ring) == f"paper beats rock {first} beats scissors {second} beats paper {third}"


def slow_rings(arrows: NDArray[np.bool_], longest: int) -> set[tuple[int, ...]]:
    """Every tuple of agents, looked at: a ring, and no arrow between agents that are no neighbours in it."""
    found = set()
    for length in range(3, longest + 1):
        for ring in itertools.permutations(range(len(arrows)), length):
            steps = {(ring[k], ring[(k + 1) % length]) for k in range(length)}
            inside = {(i, j) for i in ring for j in ring if arrows[i, j]}
            if ring[0] == min(ring) and inside == steps:
                found.add(ring)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_all_rings_without_chords_and_no_others(seed: int) -> None:
    rng = np.random.default_rng(seed)
    score = np.full((7, 7), 0.5)
    for i, j in itertools.combinations(range(7), 2):
        lead = rng.choice([0, 0.2, 0.3], p=[0.4, 0.3, 0.3]) * rng.choice([-1, 1])
        score[i, j], score[j, i] = 0.5 + lead, 0.5 - lead
    matrix = known(score)
    found = cycles(matrix)
    index = {name: k for k, name in enumerate(matrix.agents)}
    rings = {tuple(index[a] for a in ring.agents) for ring in found}
    assert rings == slow_rings(score > 0.5, 6)
    assert len(found) == len(rings)
    keys = [(len(ring.agents), -ring.weakest) for ring in found]
    assert keys == sorted(keys)


def test_a_ring_of_four_without_a_shorter_one() -> None:
    score = np.full((4, 4), 0.5)
    for i in range(4):
        score[i, (i + 1) % 4], score[(i + 1) % 4, i] = 0.8, 0.2
    assert [ring.agents for ring in cycles(known(score))] == [("a", "b", "c", "d")]
    assert cycles(known(score), longest=3) == ()
    assert cycles(known(score, width=0.4)) == ()  # not certain

"""Deviation ratings against games solved by hand, and what copies and dominated agents may not change."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from cellgames.arena.records.record_lines import Forfeit, Record, Result
from cellgames.arena.stats import deviation
from cellgames.arena.stats.comparisons import PairResult, standing_points
from cellgames.arena.stats.deviation import deviation_ratings
from cellgames.arena.stats.payoffs import nash, payoffs_of

pytest.importorskip("scipy", reason="deviation ratings need SciPy: pip install 'cellgames[research]'")

Matrix = NDArray[np.float64]

ROCK_PAPER_SCISSORS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def game_ratings(payoffs: ArrayLike) -> list[Matrix]:
    """The ratings of the choices of each player, from the gain of every deviation; payoffs are [P, K_1, ..., K_P]."""
    table = np.asarray(payoffs, dtype=np.float64)
    gains = [
        (np.take(own, [choice], axis=player) - own).ravel()
        for player, own in enumerate(table)
        for choice in range(own.shape[player])
    ]
    return np.split(deviation._least_gains(np.array(gains)), np.cumsum(table.shape[1:])[:-1])


def zero_sum(matrix: Matrix) -> list[Matrix]:
    return game_ratings(np.stack([matrix, -matrix]))


def as_tensor(agents: int, seats: int, payoff: Callable[[int, tuple[int, ...]], float]) -> Matrix:
    found = np.zeros((seats, *[agents] * seats))
    for choice in itertools.product(range(agents), repeat=seats):
        for seat in range(seats):
            found[seat, *choice] = payoff(choice[seat], tuple(sorted(choice[:seat] + choice[seat + 1 :])))
    return found


def test_rock_paper_scissors_are_level_and_a_fourth_that_loses_to_all_is_below() -> None:
    for found in zero_sum(ROCK_PAPER_SCISSORS):
        np.testing.assert_allclose(found, 0, atol=1e-8)
    worse = np.zeros((4, 4))
    worse[:3, :3] = ROCK_PAPER_SCISSORS
    worse[3, :3], worse[:3, 3] = -1, 1
    for found in zero_sum(worse):
        np.testing.assert_allclose(found, [0, 0, 0, -1], atol=1e-8)


def test_chicken_by_hand() -> None:
    # With shares b and c of (swerve, dare) and (dare, swerve) the gains are -c, -2b for the row and -b, -2c for the
    # column (the other two outcomes only raise gains), so b = c = 1/2 has the least largest gain.
    found = game_ratings([[[6, 2], [7, 0]], [[6, 7], [2, 0]]])
    np.testing.assert_allclose(found, [[-0.5, -1], [-0.5, -1]], atol=1e-8)


def test_three_players_in_the_minority_by_hand() -> None:
    # Whoever is alone gets 1. At the tables aab and abb, a half of the time each, the one who is alone may leave, a
    # third of the seats, which loses 1 at one of the two tables: -1/6 for both choices, and less is not to be had.
    def alone(agent: int, others: tuple[int, ...]) -> float:
        return float(agent not in others)

    np.testing.assert_allclose(game_ratings(as_tensor(2, 3, alone)), -1 / 6, atol=1e-8)


def test_players_with_different_numbers_of_choices() -> None:
    # The second player has one choice, so the first one takes its best: 3, the others lose 2 and 3.
    first, second = game_ratings([[[1.0], [3.0], [0.0]], [[0.0], [0.0], [0.0]]])
    np.testing.assert_allclose(first, [-2, 0, -3], atol=1e-8)
    np.testing.assert_allclose(second, [0], atol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_copies_change_nothing_between_two(seed: int) -> None:
    rng = np.random.default_rng(seed)
    payoffs = rng.normal(size=(2, 4, 3))  # not zero-sum
    plain = game_ratings(payoffs)
    rows, columns = [0, 1, 1, 2, 3, 1], [2, 0, 1, 2]
    copied = game_ratings(payoffs[:, rows][:, :, columns])
    np.testing.assert_allclose(copied[0], plain[0][rows], atol=1e-7)
    np.testing.assert_allclose(copied[1], plain[1][columns], atol=1e-7)
    whole = rng.integers(-1, 2, size=(5, 5)).astype(np.float64)  # with ties, where equilibria are many
    found, again = zero_sum(whole - whole.T), zero_sum((whole - whole.T)[:, [0, 1, 2, 3, 4, 4]][[0, 1, 2, 3, 4, 4]])
    np.testing.assert_allclose(again[0], found[0][[0, 1, 2, 3, 4, 4]], atol=1e-7)


def test_copies_stay_within_the_intervals_of_sampled_games() -> None:
    rng = np.random.default_rng(3)
    chances = np.array([[0.5, 0.75, 0.3, 0.8], [0.25, 0.5, 0.7, 0.7], [0.7, 0.3, 0.5, 0.6], [0.2, 0.3, 0.4, 0.5]])

    def games(kinds: list[int]) -> list[PairResult]:
        return [
            PairResult(f"{chr(97 + kinds[i])}{i}", f"{chr(97 + kinds[j])}{j}", opening, "first" if won else "second")
            for i, j in itertools.combinations(range(len(kinds)), 2)
            for opening, won in enumerate(rng.random(600) < chances[kinds[i], kinds[j]])
        ]

    truth = zero_sum(chances - 0.5)[0]
    for kinds in ([0, 1, 2, 3], [0, 1, 2, 3, 1, 1]):
        found = deviation_ratings(payoffs_of(games(kinds)))
        expected = truth[kinds]
        order = np.argsort([f"{chr(97 + kind)}{place}" for place, kind in enumerate(kinds)])
        assert (found.low - 0.02 <= expected[order]).all()
        assert (expected[order] <= found.high + 0.02).all()
        np.testing.assert_allclose(found.rating, expected[order], atol=0.06)
        assert found.rating.argmin() == len(kinds) - 1  # d, which all others beat


def test_nash_ratings_where_there_is_one_equilibrium() -> None:
    beats = [("rock", "scissors", 0.7), ("scissors", "paper", 0.9), ("paper", "rock", 0.6), ("rock", "well", 0.8)]
    beats += [("well", "paper", 0.4), ("scissors", "well", 0.55)]
    matrix = payoffs_of(
        PairResult(a, b, k, "first" if k < 100 * share else "second") for a, b, share in beats for k in range(100)
    )
    np.testing.assert_allclose(deviation_ratings(matrix, draws=0).rating, nash(matrix, draws=0).rating, atol=1e-7)
    assert matrix.deviation.players == 2


def test_who_has_not_met_all_is_left_out() -> None:
    games = [PairResult(a, b, k, "first") for a, b in ("ab", "bc", "ac", "cd") for k in range(5)]
    found = deviation_ratings(payoffs_of(games))
    assert found.left_out == ("d",)
    assert np.isnan(found.rating[3])
    np.testing.assert_allclose(found.rating[:3], [0, -0.5, -0.5], atol=1e-8)
    assert (found.low[1:3] <= found.high[1:3]).all()


def record(agents: str, scores: tuple[float, ...], forfeit: Forfeit | None = None) -> Record:
    result = Result(tuple("draw" for _ in scores), scores, 1, False, forfeit=forfeit)
    return Record(
        game="toroidal-cup-v0",
        version="1",
        parameters={},
        seed=0,
        agents=tuple(agents),
        opening=0,
        moves=(),
        result=result,
    )


def test_points_follow_the_order_of_scores_and_forfeits_come_last() -> None:
    assert standing_points(record("abc", (5, 2, 2))) == [1, 0.25, 0.25]
    assert standing_points(record("abc", (5, 2, 9), Forfeit(2, "an error"))) == [0.75, 0.75, 0]

"""Deviation ratings against games solved by hand, and what copies and dominated agents may not change."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from cellgames.arena.play.free_for_all import every_table
from cellgames.arena.records.record_lines import Forfeit, Record, Result, read_records
from cellgames.arena.report.payoff_sections import deviation_csv, payoff_data, payoff_section
from cellgames.arena.stats import deviation
from cellgames.arena.stats.comparisons import PairResult
from cellgames.arena.stats.deviation import (
    TablePayoffs,
    count_tables,
    deviation_ratings,
    mean_table_payoffs,
    standing_points,
    table_payoffs,
    table_ratings,
)
from cellgames.arena.stats.payoffs import nash, payoffs_of
from cellgames.cli.main import main

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


def tabled(agents: int, seats: int, payoff: Callable[[int, tuple[int, ...]], float]) -> TablePayoffs:
    """A symmetric game with one game at each table; `payoff` gets an agent and the sorted others."""
    counts = count_tables(agents, seats)
    points = np.full(counts.shape, np.nan)
    for table, own in zip(points, counts, strict=True):
        for agent in np.flatnonzero(own):
            others = [a for a, n in enumerate(own.tolist()) for _ in range(n - (a == agent))]
            table[agent] = payoff(int(agent), tuple(others))
    names = tuple("abcdefgh"[:agents])
    return TablePayoffs(names, seats, counts, points, np.arange(len(counts)))


def as_tensor(agents: int, seats: int, payoff: Callable[[int, tuple[int, ...]], float]) -> Matrix:
    found = np.zeros((seats, *[agents] * seats))
    for choice in itertools.product(range(agents), repeat=seats):
        for seat in range(seats):
            found[seat, *choice] = payoff(choice[seat], tuple(sorted(choice[:seat] + choice[seat + 1 :])))
    return found


def drawn(agents: int, seats: int, seed: int) -> Callable[[int, tuple[int, ...]], float]:
    rng = np.random.default_rng(seed)
    known: dict[tuple[int, tuple[int, ...]], float] = {}
    for others in itertools.combinations_with_replacement(range(agents), seats - 1):
        for agent in range(agents):
            known[agent, others] = float(rng.normal())
    return lambda agent, others: known[agent, others]


# ---------------------------------------------------------------- by hand


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

    np.testing.assert_allclose(table_ratings(tabled(2, 3, alone), draws=0).rating, -1 / 6, atol=1e-8)
    np.testing.assert_allclose(game_ratings(as_tensor(2, 3, alone)), -1 / 6, atol=1e-8)


def test_players_with_different_numbers_of_choices() -> None:
    # The second player has one choice, so the first one takes its best: 3, the others lose 2 and 3.
    first, second = game_ratings([[[1.0], [3.0], [0.0]], [[0.0], [0.0], [0.0]]])
    np.testing.assert_allclose(first, [-2, 0, -3], atol=1e-8)
    np.testing.assert_allclose(second, [0], atol=1e-8)


# ---------------------------------------------------------------- copies


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


@pytest.mark.parametrize(("agents", "seats"), [(2, 5), (3, 3), (3, 4)])
def test_tables_of_counts_are_the_whole_game_and_copies_change_nothing(agents: int, seats: int) -> None:
    payoff = drawn(agents, seats, seed=agents + 10 * seats)
    plain = table_ratings(tabled(agents, seats, payoff), draws=0).rating
    for of_player in game_ratings(as_tensor(agents, seats, payoff)):
        np.testing.assert_allclose(of_player, plain, atol=1e-7)

    def copied(agent: int, others: tuple[int, ...]) -> float:  # the last agent plays as the first
        return payoff(agent % agents, tuple(sorted(other % agents for other in others)))

    found = table_ratings(tabled(agents + 1, seats, copied), draws=0).rating
    np.testing.assert_allclose(found, [*plain, plain[0]], atol=1e-7)


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


# ---------------------------------------------------------------- mistakes


def test_too_many_tables_are_refused() -> None:
    with pytest.raises(ValueError, match=r"11 agents in 8 seats make 43,758 tables, more than 25,000; .*at most 10"):
        count_tables(11, 8)


# ---------------------------------------------------------------- recorded games


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


def test_payoffs_of_tables_are_means_by_hand() -> None:
    games = [record("aab", (3, 1, 2)), record("baa", (1, 2, 3)), record("bbb", (0, 0, 1)), record("aba", (1, 1, 1))]
    found = table_payoffs(games)
    assert found.counts.tolist() == [[3, 0], [2, 1], [1, 2], [0, 3]]
    assert found.games.tolist() == [0, 3, 0, 1]
    assert not found.complete
    means = mean_table_payoffs(found)
    np.testing.assert_allclose(means[1], [(0.5 + 0.75 + 0.5) / 3, (0.5 + 0 + 0.5) / 3])
    np.testing.assert_allclose(means[3], [np.nan, 0.5])
    with pytest.raises(ValueError, match=r"all 4 tables of 2 agents in 3 seats, got none at 2; .*--all-tables"):
        table_ratings(found)


def test_every_table_comes_once_in_a_round() -> None:
    counts = {tuple(row) for row in count_tables(3, 4).tolist()}
    seated = every_table(3, 4, 32, seed=5)
    assert len(seated) == 32
    for half in (seated[:15], seated[15:30]):
        assert {tuple(row.count(agent) for agent in range(3)) for row in half} == counts
    assert seated[:15] != seated[15:30]
    assert every_table(3, 4, 20, seed=5) == seated[:20]  # a run grows


def test_a_run_of_all_tables_rates_the_whole_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parameters = {"rows": 12, "cols": 64, "teams": 4, "pattern": "randys", "shapes": 2, "max_generations": 5}
    given = [word for name, value in parameters.items() for word in ("--param", f"{name}={value}")]
    line = [
        "free-for-all",
        "toroidal-cup-v0",
        *given,
        "--agents",
        "random",
        "arena_bots:First",
        "--no-store",
        "--quiet",
        "--in-process",
    ]
    assert main([*line, "--all-tables", "--games", "4", "--out", str(tmp_path / "few")]) == 2
    assert "at least 5 games, so that each of the 5 tables of 2 agents in 4 seats is played" in capsys.readouterr().err
    assert main([*line, "--all-tables", "--games", "10", "--out", str(tmp_path / "all")]) == 0
    assert "Deviation ratings of the game of 4 over all tables:" in capsys.readouterr().out
    expected = table_ratings(table_payoffs(read_records(tmp_path / "all" / "games.jsonl").records))
    with (tmp_path / "all" / "deviation_ratings.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    agents = ("arena_bots:First", "random")
    assert [(row["agent"], row["players"]) for row in rows] == [
        (agent, players) for players in "24" for agent in agents
    ]
    np.testing.assert_allclose([float(row["rating"]) for row in rows[2:]], expected.rating, atol=1e-6)
    assert all(float(row["low"]) <= float(row["high"]) <= 0 for row in rows)
    data = json.loads((tmp_path / "all" / "ratings.json").read_text())
    assert data["run"]["all_tables"] is True
    assert [line["agent"] for line in data["payoffs"]["deviation_tables"]] == ["arena_bots:First", "random"]
    assert main([*line, "--games", "4", "--out", str(tmp_path / "even")]) == 0
    assert "over all tables" not in capsys.readouterr().out
    assert "all_tables" not in json.loads((tmp_path / "even" / "run.json").read_text())


@pytest.mark.parametrize("agents", ["ab", "abc"])
def test_without_scipy_reports_have_the_rest(agents: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # One agent beats all others, so Nash averaging needs no linear program and is there all the same.
    def missing(who: str) -> None:
        raise ImportError(f'{who} SciPy: pip install "cellgames[research]"')

    monkeypatch.setattr(deviation, "optimize", missing)
    matrix = payoffs_of(PairResult(a, b, k, "first") for a, b in itertools.combinations(agents, 2) for k in range(9))
    data = payoff_data(matrix)
    assert data["deviation"] is None
    assert data["nash"][0]["share"] == 1
    assert deviation_csv(matrix) is None
    assert "deviation rating" not in str(payoff_section(matrix).parts)
    with pytest.raises(ImportError, match="deviation ratings need SciPy"):
        deviation_ratings(matrix)

"""Meta-solvers: games whose solution is known."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from cellgames.arena import PairResult, payoffs_of
from cellgames.lab import coarse_correlated_equilibrium, effective_dimension, effective_members, meta_strategy
from cellgames.lab.populations.meta_solvers import number_of_tables, seat_shares, tables_of

RPS = [PairResult(one, other, 0, "first") for one, other in (("rock", "scissors"), ("paper", "rock"))]
RPS += [PairResult("scissors", "paper", 0, "first")]
CHAIN = [PairResult("a", "b", 0, "first"), PairResult("a", "c", 0, "first"), PairResult("b", "c", 0, "first")]


def test_pairs_by_name() -> None:
    for solver in ("nash", "uniform"):
        assert meta_strategy(payoffs_of(RPS), solver) == pytest.approx([1 / 3] * 3, abs=1e-6)
    assert meta_strategy(payoffs_of(CHAIN), "nash") == pytest.approx([1, 0, 0])
    assert meta_strategy(payoffs_of(CHAIN), "uniform") == pytest.approx([1 / 3] * 3)


def test_a_mixture_of_some_is_the_safest_against_all() -> None:
    # Scissors may not play, but rock and paper prepare for it: at worst they lose 1/6, against paper and scissors.
    table = payoffs_of(RPS)
    assert list(table.agents) == ["paper", "rock", "scissors"]
    assert meta_strategy(table, "nash", ["rock", "paper"]) == pytest.approx([2 / 3, 1 / 3, 0], abs=1e-6)
    assert meta_strategy(table, "uniform", ["rock", "paper"]) == pytest.approx([1 / 2, 1 / 2, 0])
    assert meta_strategy(payoffs_of(CHAIN), "nash", ["b"]) == pytest.approx([0, 1, 0])


def test_wrong_names_and_missing_pairs_are_refused() -> None:
    with refused("solver", "'best'"):
        meta_strategy(payoffs_of(RPS), "best")
    with refused("players", "'nobody'"):
        meta_strategy(payoffs_of(RPS), "nash", ["nobody"])
    with refused("payoffs", "one with pairs missing"):
        meta_strategy(payoffs_of([*CHAIN, PairResult("a", "d", 0, "first")]), "nash")


def minority(table: tuple[int, ...]) -> dict[int, float]:
    """Return 1 for whoever is alone with a choice, the only one at the table."""
    return {member: float(table.count(member) == 1) for member in {*table}}


def gain(payoffs: dict[tuple[int, ...], dict[int, float]], weights: np.ndarray, member: int) -> float:
    """Return what a player gains by always sending one member."""
    total = 0.0
    for (table, own), weight in zip(payoffs.items(), weights, strict=True):
        for out in table:
            rest = list(table)
            rest.remove(out)
            there = payoffs[tuple(sorted([*rest, member]))]
            total += weight * (there[member] - own[out]) / len(table)
    return total


def test_nobody_gains_in_a_coarse_correlated_equilibrium() -> None:
    chance = np.random.default_rng(0)
    for seats, members in ((3, 2), (3, 4), (4, 3)):
        tables = tables_of(members, seats)
        assert len(tables) == number_of_tables(members, seats)
        payoffs = {table: {member: float(chance.random()) for member in sorted({*table})} for table in tables}
        weights = coarse_correlated_equilibrium(payoffs, members)
        assert weights.sum() == pytest.approx(1)
        assert max(gain(payoffs, weights, member) for member in range(members)) < 2e-3
        assert seat_shares(tables, weights, members).sum() == pytest.approx(1)


def test_symmetric_games_are_mixed_evenly_and_dominance_decides() -> None:
    tables = tables_of(2, 3)
    even = coarse_correlated_equilibrium({table: minority(table) for table in tables}, 2)
    assert even == pytest.approx([1 / 8, 3 / 8, 3 / 8, 1 / 8], abs=1e-4)  # every seat by a coin: the most entropy
    better = {table: {member: float(member) for member in {*table}} for table in tables}
    assert coarse_correlated_equilibrium(better, 2)[-1] > 0.99
    with refused("tables", "3"):
        coarse_correlated_equilibrium({table: minority(table) for table in tables[:-1]}, 2)


def test_dimensions_count_cycles() -> None:
    ring = payoffs_of(RPS).advantage
    assert effective_dimension(ring) == pytest.approx(2)
    two = np.zeros((6, 6))
    two[:3, :3] = two[3:, 3:] = ring
    assert effective_dimension(two) == pytest.approx(4)
    assert effective_dimension(np.zeros((3, 3))) == 0
    assert effective_members(np.array([0.5, 0.5, 0.0])) == pytest.approx(2)

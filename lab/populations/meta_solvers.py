"""Meta-solvers: how much each member of a population counts, from the results of games between them.

`uniform` and `nash` (the equilibrium of greatest entropy) take a payoff matrix of pairs. `cce`, for more
than two seats, takes the payoffs of whole tables. It is a coarse correlated equilibrium: the distribution over tables
of greatest entropy in which nobody gains by always sending one and the same member (Marris and others 2021,
"Multi-Agent Training beyond Zero-Sum with Correlated Equilibrium Meta-Solvers", ICML).

Letters: `K` members, `T` tables, `P` seats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cellgames.arena.stats.payoffs import Payoffs, equilibrium, gibbs, optimize
from cellgames.utils.errors import InputError, shown

FloatArray: TypeAlias = NDArray[np.float64]
Seating: TypeAlias = tuple[int, ...]
"""The members at a table, ascending; a member that has several seats comes several times."""

META_SOLVERS = ("nash", "uniform", "cce")

_SLACK = 1e-3  # of the largest difference of payoffs, by which an equilibrium may be missed


def meta_strategy(payoffs: Payoffs, solver: str, players: Sequence[str] = ()) -> FloatArray:
    """Return the weight of each agent of a payoff matrix, float64 [K] in the order of `payoffs.agents`, sum 1.

    Args:
        payoffs: all pairs have met.
        solver: `nash` or `uniform`.
        players: agents that may get a weight, at least one of them in the matrix; empty for all.
            Then `nash` is the mixture of players that scores best against the agent, of all, that is worst for it.

    Raises:
        ValueError: another solver, players that are not in the matrix, or pairs that have not met.
        ImportError: SciPy is missing, which `nash` needs.
    """
    if solver not in META_SOLVERS or solver == "cce":
        known = ", ".join(name for name in META_SOLVERS if name != "cce")
        raise InputError("solver", f"a meta-solver for pairs out of {known}", shown(solver))
    if len(payoffs.complete()) < len(payoffs.agents):
        raise InputError("payoffs", "a matrix in which all pairs have met", "one with pairs missing")
    if unknown := [name for name in players if name not in payoffs.agents]:
        raise InputError("players", f"players out of {', '.join(payoffs.agents)}", shown(unknown[0]))
    playing = np.array([not players or name in players for name in payoffs.agents])
    if solver == "uniform":
        return np.asarray(playing / playing.sum())
    if playing.all():
        found = equilibrium(payoffs.advantage)
    else:
        found = np.zeros(len(playing))
        found[playing] = _safest(payoffs.advantage[playing])
    found = np.where(found < 1e-9, 0.0, found)
    return np.asarray(found / found.sum())


def _safest(advantage: FloatArray) -> FloatArray:
    """Return the mixture of rows whose least advantage over the columns is greatest, float64 [rows].

    It is read off the equilibrium of a symmetric game in which each side may take a row, a column, or a last action
    that loses to rows and beats columns (von Neumann's symmetrization; the value of the game must be positive for it).
    """
    rows, columns = advantage.shape
    matrix = np.zeros((rows + columns + 1, rows + columns + 1))
    matrix[:rows, rows:-1] = advantage - advantage.min() + 1
    matrix[:rows, -1], matrix[rows:-1, -1] = -1.0, 1.0
    matrix -= matrix.T
    return equilibrium(matrix)[:rows]


# ---------------------------------------------------------------- tables of more than two


def number_of_tables(members: int, seats: int) -> int:
    """Return the number of tables, the order of the seats left aside."""
    return comb(members + seats - 1, seats)


def tables_of(members: int, seats: int) -> list[Seating]:
    """Return all tables, the order of the seats left aside."""
    return list(combinations_with_replacement(range(members), seats))


def coarse_correlated_equilibrium(payoffs: Mapping[Seating, Mapping[int, float]], members: int) -> FloatArray:
    """Return a distribution over tables, float64 [T] in the order of `payoffs`: the equilibrium of greatest entropy.

    A table is drawn, and all its seats in a random order. In a coarse correlated equilibrium nobody who is to take one
    of the seats, drawn at random, gains by sending any member there instead, before the table is known. There always
    is one, also where the payoffs do not add up to a constant.

    Args:
        payoffs: mean payoff of a seat of each member, for every table of `tables_of`.
        members: `K`.

    Raises:
        ImportError: SciPy is missing.
        ValueError: tables are missing.
    """
    tables = list(payoffs)
    seats = len(tables[0])
    if set(tables) != set(tables_of(members, seats)):
        raise InputError("tables", f"payoffs of {number_of_tables(members, seats)} tables", len(tables))
    gain = np.zeros((members, len(tables)))  # of a deviation to each member from each table
    for place, table in enumerate(tables):
        for out in table:
            rest = list(table)
            rest.remove(out)
            for member in range(members):
                there = tuple(sorted([*rest, member]))
                gain[member, place] += (payoffs[there][member] - payoffs[table][out]) / seats
    orders = np.array([factorial(seats) / prod(factorial(table.count(k)) for k in set(table)) for table in tables])
    return _most_entropy(gain, orders / orders.sum())


def _most_entropy(gain: FloatArray, prior: FloatArray) -> FloatArray:
    """Return the distribution p nearest to a prior (by relative entropy) with gain @ p <= slack, float64 [T].

    With Lagrange's multipliers t >= 0 it is proportional to prior * exp(-t' gain), where t minimises
    log sum prior exp(-t' gain) + slack sum t: a smooth convex function. The slack is a thousandth of the scale, so that
    the minimum is at finite t where the equilibria are at the edge of what is possible.
    """
    scale = float(np.abs(gain).max())
    if scale == 0:
        return prior
    gain, log_prior = gain / scale, np.log(prior)

    def dual(t: FloatArray) -> tuple[float, FloatArray]:
        value, p = gibbs(t, gain, log_prior)
        return value + _SLACK * float(t.sum()), -(gain @ p) + _SLACK

    found = optimize("meta-solvers need").minimize(
        dual,
        np.zeros(len(gain)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * len(gain),
        options={"maxiter": 5_000, "maxfun": 20_000, "ftol": 0.0, "gtol": 1e-7},
    )
    return gibbs(found.x, gain, log_prior)[1]


def seat_shares(tables: Sequence[Seating], weights: FloatArray, members: int) -> FloatArray:
    """Return the share of the seats that each member has under a distribution over tables, float64 [K]."""
    found = np.zeros(members)
    for table, weight in zip(tables, weights, strict=True):
        for member in table:
            found[member] += weight / len(table)
    return found


# ---------------------------------------------------------------- diversity


def effective_dimension(advantage: FloatArray) -> float:
    """Return the number of independent directions of the payoffs: the participation ratio of their singular values.

    It is (sum s^2)^2 / sum s^4. A population in which strength is one number has 2, the least for an antisymmetric
    matrix; each cycle of strategies that is independent of the others adds up to 2. It is 0 where nobody gains.
    """
    squares = np.linalg.svd(np.asarray(advantage, dtype=np.float64), compute_uv=False) ** 2
    total = float((squares**2).sum())
    return float(squares.sum() ** 2 / total) if total > 0 else 0.0


def effective_members(weights: FloatArray) -> float:
    """Return the exponential of the entropy of weights: how many equally likely members would be as mixed."""
    positive = weights[weights > 0]
    return float(np.exp(-(positive * np.log(positive)).sum()))

"""The equilibrium of greatest entropy of a symmetric zero-sum game, for Nash averaging (`payoffs.nash`).

Letters: `K` choices, which are agents there.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cellgames.utils.errors import InputError

FloatArray: TypeAlias = NDArray[np.float64]

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
    found = linear_program(
        "Nash averaging needs",
        np.r_[np.zeros(count), -1.0],
        A_ub=np.vstack([np.column_stack([matrix, np.zeros(count)]), below]),
        b_ub=np.zeros(2 * count),
        A_eq=np.r_[np.ones(count), 0.0][None],
        b_eq=[1.0],
        bounds=[(0, 1)] * count + [(0, None)],
    )
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


def linear_program(who: str, costs: FloatArray, **constraints: Any) -> Any:
    """Return the least costs under constraints (`scipy.optimize.linprog`); `who` needs SciPy (`optimize`)."""
    limits = {"primal_feasibility_tolerance": _FEASIBLE, "dual_feasibility_tolerance": _FEASIBLE}
    found = optimize(who).linprog(costs, **constraints, method="highs", options=limits)
    if found.x is None:
        raise ArithmeticError(f"the linear program failed that {who}: {found.message}")
    return found

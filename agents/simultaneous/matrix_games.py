"""Zero-sum games of one simultaneous move, solved by regret matching plus.

Tammelin, "Solving large imperfect information games using CFR+", 2014; Hart, Mas-Colell, "A simple adaptive procedure
leading to correlated equilibrium", 2000. Letters: `L` games, `R` actions of the row player, `C` of the column player.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

ITERATIONS = 500
"""Iterations of `solve_matrix` by default."""


class MatrixSolution(NamedTuple):
    """Mixed strategies of both players of `L` matrix games.

    Attributes:
        row: float [L, R], the probabilities of the row player.
        column: float [L, C], those of the column player.
        value: float [L], expected payoff of the row player.
    """

    row: Tensor
    column: Tensor
    value: Tensor


def solve_matrix(payoff: Tensor, iterations: int = ITERATIONS) -> MatrixSolution:
    """Return approximate equilibria of zero-sum matrix games.

    The players take turns in adjusting to the other's latest strategy, and the result is the mean of their
    strategies, later ones counting more. `exploitability` measures how far it is from an equilibrium.

    Args:
        payoff: float [L, R, C], gains of the row player and losses of the column player.
        iterations: adjustments of each player.
    """
    payoff = payoff.float()
    row_regret, column_regret = torch.zeros_like(payoff[:, :, 0]), torch.zeros_like(payoff[:, 0])
    row_sum, column_sum = torch.zeros_like(row_regret), torch.zeros_like(column_regret)
    row, column = matched(row_regret), matched(column_regret)
    for iteration in range(1, iterations + 1):
        gain = torch.bmm(payoff, column[:, :, None]).squeeze(2)
        row_regret, row = _adjusted(row_regret, row, gain)
        gain = -torch.bmm(row[:, None], payoff).squeeze(1)
        column_regret, column = _adjusted(column_regret, column, gain)
        row_sum += iteration * row
        column_sum += iteration * column
    row, column = (total / total.sum(1, keepdim=True) for total in (row_sum, column_sum))
    value = torch.einsum("lr,lrc,lc->l", row, payoff, column)
    return MatrixSolution(row, column, value)


def exploitability(payoff: Tensor, solution: MatrixSolution) -> Tensor:
    """Return the sum of both players' gains by best responses, float [L]; 0 in an equilibrium.

    Args:
        payoff: float [L, R, C], as in `solve_matrix`.
        solution: strategies of all actions.
    """
    best_row = torch.bmm(payoff, solution.column[:, :, None]).squeeze(2).amax(1)
    best_column = torch.bmm(solution.row[:, None], payoff).squeeze(1).amin(1)
    return best_row - best_column


def matched(regret: Tensor, available: Tensor | None = None) -> Tensor:
    """Return the strategy of regret matching, float [..., K]: actions in proportion to their positive regrets.

    Where no regret is positive, all actions are equally likely; `available`, bool [..., K], leaves out others.
    """
    known = torch.ones_like(regret, dtype=torch.bool) if available is None else available
    positive = torch.where(known, regret, 0.0).clamp(min=0.0)
    total = positive.sum(-1, keepdim=True)
    uniform = known.to(regret.dtype)
    uniform = uniform / uniform.sum(-1, keepdim=True).clamp(min=1.0)
    return torch.where(total > 0, positive / total.clamp(min=1e-30), uniform)


def _adjusted(regret: Tensor, strategy: Tensor, gain: Tensor) -> tuple[Tensor, Tensor]:
    """Return regrets, float [L, K], after gains against the other's strategy, and the strategy that follows."""
    regret = (regret + gain - (strategy * gain).sum(1, keepdim=True)).clamp(min=0.0)
    return regret, matched(regret)

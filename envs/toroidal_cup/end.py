"""The end of a game of the Toroidal Cup: when the leader's share of the live cells has stopped changing.

Rules: "Ending the Game" of the Toroidal Cup rules on the Golly.Life wiki. With v(g) the leader's percentage of the
live cells in generation g and A(g) its mean over the last 240 generations, a game is over at the first g >= 243 at
which the teams are not level and either A's relative change stayed below the tolerance in the last two steps and
none of the three averages is 50, or only one team has cells left.

Letters: `B` games, `k` teams.
"""

from __future__ import annotations

import torch
from torch import Tensor

WINDOW = 240
FIRST_END = 243
HISTORY = WINDOW + 2  # shares of the last generations, of which the three averages are made


def leaders(counts: Tensor) -> Tensor:
    """Return the number, from 1, of the team with the most live cells, 0 where teams are level: int64 [...]."""
    most, team = counts.max(-1)
    level = counts.eq(most.unsqueeze(-1)).sum(-1) > 1
    return torch.where(level, 0, team + 1)


def shares(counts: Tensor) -> Tensor:
    """Return the victory percentage, the leader's share of the live cells, float64 [...]; 0 if none is live."""
    return counts.amax(-1).double() * 100 / counts.sum(-1).clamp(min=1)


def ended(counts: Tensor, history: Tensor, tolerance: float) -> Tensor:
    """Return a mask of the games that fulfil the rule, bool [B], in a generation from `FIRST_END` on.

    Args:
        counts: int64 [B, k], live cells of each team.
        history: float64 [HISTORY, B], the shares up to this generation.
        tolerance: largest change, relative to the average.
    """
    alone = (counts > 0).sum(-1) == 1
    change = (history[WINDOW:] - history[:-WINDOW]).abs() / WINDOW  # of the average, whose running sum would drift
    small = (change <= tolerance * 100).all(0)  # no average is more, so this is needed; and rare
    if small.any():
        averages = _averages(history)
        half = (averages - 50).abs() <= tolerance * 50
        small &= (change < tolerance * averages[:-1]).all(0) & ~half.any(0)
    return (leaders(counts) > 0) & (alone | small)


def _averages(history: Tensor) -> Tensor:
    """Return the means of all windows of shares, float64 [3, B]; the order of the sums is that of native code."""
    sums = history
    for apart in (1, 2, 4, 8):
        sums = sums[:-apart] + sums[apart:]  # of 2, 4, 8 and 16
    starts = len(history) - WINDOW + 1
    total = sums[:starts]
    for part in range(16, WINDOW, 16):
        total = total + sums[part : part + starts]
    return total / WINDOW

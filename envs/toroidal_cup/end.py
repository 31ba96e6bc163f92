"""The end of a game of the Toroidal Cup: when the leader's share of the live cells has stopped changing.

Rules: "Ending the Game" of the Toroidal Cup rules on the Golly.Life wiki. With v(g) the leader's percentage of the
live cells in generation g and A(g) its mean over the last 240 generations, a game is over at the first g >= 243 at
which the teams are not level and either A's relative change stayed below the tolerance in the last two steps and
none of the three averages is 50, or only one team has cells left.

Letters: `k` teams, `W` slots, `T` generations of a block.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["BLOCK", "FIRST_END", "WINDOW", "EndRule", "leaders", "shares"]

WINDOW = 240
FIRST_END = 243
BLOCK = 48  # generations between two looks at the end; so the window is a whole number of blocks

_KEPT = WINDOW + 2 * BLOCK  # shares that the three averages before any generation of a block are made of


def leaders(counts: Tensor) -> Tensor:
    """Return the number, from 1, of the team with the most live cells, 0 where teams are level: int64 [...]."""
    most, team = counts.max(-1)
    level = counts.eq(most.unsqueeze(-1)).sum(-1) > 1
    return torch.where(level, 0, team + 1)


def shares(counts: Tensor) -> Tensor:
    """Return the victory percentage, the leader's share of the live cells, float64 [...]; 0 if none is live."""
    return counts.amax(-1).double() * 100 / counts.sum(-1).clamp(min=1)


class EndRule:
    """The end rule of many games, which looks at a block of generations at a time.

    A game may begin in a slot at any block: what a game before it left in the history is never looked at, since
    nothing ends before generation 243.
    """

    def __init__(self, num_slots: int, tolerance: float, device: torch.device) -> None:
        self._tolerance = tolerance
        self._shares = torch.zeros(_KEPT, num_slots, dtype=torch.float64, device=device)

    def keep(self, slots: Tensor) -> None:
        """Go on with some of the slots, int64 [n], in that order."""
        self._shares = self._shares[:, slots]

    def done(self, counts: Tensor, ages: Tensor) -> Tensor:
        """Return which generations of the next block fulfil the rule, bool [T, W].

        Args:
            counts: int64 [T, W, k], live cells of each team.
            ages: int64 [W], generations that each slot's game had played before the block.
        """
        self._shares = torch.cat((self._shares[BLOCK:], shares(counts)))
        generation = ages + torch.arange(1, BLOCK + 1, device=ages.device).unsqueeze(1)
        ripe = (generation >= FIRST_END) & (leaders(counts) > 0)
        return ripe & ((counts > 0).sum(-1).eq(1) | self._settled(ripe))

    def _settled(self, ripe: Tensor) -> Tensor:
        """Return whether the average has stopped changing, bool [T, W]; only looked at where `ripe`."""
        now, before = self._shares[-BLOCK - 1 :], self._shares[-BLOCK - 1 - WINDOW : -WINDOW]
        change = (now - before).abs() / WINDOW  # of the average, whose running sum would drift
        small = change <= self._tolerance * 100  # no average is more, so this is needed; and rare
        slots = (ripe & small[1:] & small[:-1]).any(0).nonzero().squeeze(1)
        settled = torch.zeros_like(ripe)
        if len(slots):
            averages = _averages(self._shares[-BLOCK - 1 - WINDOW :, slots])
            half = (averages - 50).abs() <= self._tolerance * 50
            still = change[:, slots] < self._tolerance * averages[:-1]
            settled[:, slots] = still[1:] & still[:-1] & ~(half[2:] | half[1:-1] | half[:-2])
        return settled


def _averages(shares: Tensor) -> Tensor:
    """Return the means of all windows of shares, float64 [..., W]; the order of the sums is that of native code."""
    sums = shares
    for apart in (1, 2, 4, 8):
        sums = sums[:-apart] + sums[apart:]  # of 2, 4, 8 and 16
    starts = len(shares) - WINDOW + 1
    total = sums[:starts]
    for part in range(16, WINDOW, 16):
        total = total + sums[part : part + starts]
    return total / WINDOW

"""Greedy Torus: play where one's own cheap winning cycles and the opponent's meet, by the cells that they still need.

Letters: `L` observations, `Q` positions, `n` the size, `N = 2 n^2` cells, `M = 2 n` kinds of cycles (below).

**The search.** White's goal is Black's after a quarter turn with colours exchanged, so positions are turned
until Black is the one who wants to win. Black's cycles go down at least once, so each visits an octagon of
row 0. From every octagon of row 0 the cheapest walks to all cells are found on the unrolled board: an own
cell costs 0, a free one 1, the opponent's are closed. With F the cost of a walk (its end included, its start
not), the cheapest cycle of class w = (h, v) through the start s and a cell x costs

    F(x) + F(x - w) + price(s) - price(x)

since the way on from x to s + w is, moved by -w and walked backwards, one from s to x - w. All positions and
all starts are relaxed at once, in bytes, until nothing changes.

**What it proves.** A cost is never below the true number of stones. It is the true number but for: cycles of
other classes than (0, 1) and (1, 1), which need twice the way; cycles that leave the window of the unrolled
board that is searched; and cycles that cross themselves in one free octagon, which is then counted twice (the
author's figure 6: an l-helix and a bracelet that meet in one cell hold a ring).
"""

from __future__ import annotations

from itertools import product

import torch
from torch import Tensor

from cellgames.agents.base import BaseAgent
from cellgames.agents.connection.greedy import greatest, values
from cellgames.agents.connection.walks import CLOSED, Ways, as_ways, prices, shortened
from cellgames.envs.native.operators import table
from cellgames.envs.torus.geometry import sources

_CLASSES = ((0, 1), (1, 1))  # windings right and down
_MARGIN = 2  # rows of the window beyond what the classes need; columns have n // 2
_CHUNK = 1 << 19  # bytes of the window, so that it stays in a core's cache


def cycle_costs(observation: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cost of the cheapest winning cycle through each cell.

    Args:
        observation: int8 [L, 5, n, n], as Torus shows it to the player who asks.

    Returns:
        For the player and for the opponent, uint8 [L, M, N]: the stones still needed for the cheapest winning
        cycle through a cell, for each kind of cycle (class, and octagon of row 0, or of column 0 for White,
        that it passes). `CLOSED` or more without a cycle; the opponent's cells are closed.
    """
    batch, size = len(observation), observation.shape[-1]
    own, opponent = observation[:, 0:2].to(torch.uint8), observation[:, 2:4].to(torch.uint8)
    price = torch.cat((prices(own, opponent), prices(opponent, own)))  # [2L, 2, n, n]
    black = observation[:, 4, 0, 0] == 1
    black = torch.cat((black, ~black))
    turns = sources(size, observation.device)[:: size * size]  # about octagon (0, 0), by quarters
    price = torch.where(black.view(-1, 1, 1, 1), price, price.flatten(1)[:, turns[1]].view_as(price))
    _, _, rows, cols = _window(size)
    costs = torch.cat([_search(part) for part in price.split(max(1, _CHUNK // (2 * rows * cols * size)))]).flatten(2)
    costs = torch.where(black.view(-1, 1, 1), costs, costs[:, :, turns[3]])
    return costs[:batch], costs[batch:]


def stones_to_win(observation: Tensor) -> Tensor:
    """Return the stones that player and opponent still need, uint8 [L, 2]; `CLOSED` or more: cannot win.

    0 for a position that is won. An upper bound, see the module.
    """
    return torch.stack([costs.amin((1, 2)) for costs in cycle_costs(observation)], dim=1)


def _window(size: int) -> tuple[int, int, int, int]:
    """Return row and column of a start in the part of the unrolled board that is searched, and its rows and columns."""
    up = size * max(v for _, v in _CLASSES) + _MARGIN
    left = size * max(h for h, _ in _CLASSES) + size // 2
    return up, left, 2 * up + 1, 2 * left + 1


def _search(price: Tensor) -> Tensor:
    """Return costs uint8 [Q, M, 2, n, n] for the prices of cells for Black's goal, uint8 [Q, 2, n, n]."""
    size, device = price.shape[-1], price.device
    up, left, rows, cols = _window(size)
    # Positions go innermost, so that a shift along the board moves long runs of bytes.
    price = price.permute(1, 2, 3, 0).contiguous()
    starts = torch.arange(size, device=device)
    row = (torch.arange(rows, device=device) - up) % size
    col = (torch.arange(cols, device=device)[:, None] + starts - left) % size  # each start has its own window
    unrolled = price[:, row][:, :, col]  # [2, rows, cols, n, Q]
    walks = torch.full_like(unrolled, CLOSED)
    first = price[0, 0]  # [n, Q], of the starts
    walks[0, up, left] = torch.where(first == CLOSED, CLOSED, 0).to(torch.uint8)
    first = first.clamp(max=1)  # sums stay below 256: 2 * CLOSED + 1
    shape = walks.shape
    walks, unrolled = walks.view(2 * rows * cols, 1, -1), unrolled.reshape(2 * rows * cols, -1)
    walks = shortened(walks, unrolled, _window_ways(rows, cols, device)).view(shape)
    # Back from the window to the board: row and column of a cell, as counted from each start.
    row = (starts + up) % size
    col = (starts[:, None] - starts + left) % size  # [n columns, n starts]
    costs = []
    for h, v in _CLASSES:
        down, right = v * size, h * size
        both = walks[:, down:, right:] + walks[:, : rows - down, : cols - right]
        both = _fold(_fold(both, size, 1), size, 2)  # [2, n, n, n, Q]
        costs.append(both[:, row][:, :, col, starts] + first - price[:, :, :, None])
    return torch.cat(costs, dim=3).permute(4, 3, 0, 1, 2)


@table
def _window_ways(rows: int, cols: int, device: torch.device) -> Ways:
    """Return the ways on a window, whose octagons come first, row by row, then the squares at their places."""
    near = list[list[int]]()
    for kind, row, col in product(range(2), range(rows), range(cols)):
        # A square touches the octagons at its place and to the right of, below, and diagonally below that.
        corners = [(1 - kind, row + down, col + right) for down, right in product((kind - 1, kind), repeat=2)]
        inside = row < rows - 1 and col < cols - 1 if kind else row > 0 and col > 0
        found = corners if inside else []
        if kind == 0:
            found += [(0, row + down, col + right) for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0))]
        near.append([(part * rows + r) * cols + c for part, r, c in found if 0 <= r < rows and 0 <= c < cols])
    return as_ways(near, [[]] * len(near), device)


def _fold(costs: Tensor, size: int, dim: int) -> Tensor:
    """Return the least over places that are a multiple of `size` apart along `dim`."""
    folded, *others = torch.split(costs, size, dim)
    folded = folded.clone()
    for other in others:
        part = folded.narrow(dim, 0, other.shape[dim])
        torch.minimum(part, other, out=part)
    return folded


class TorusGreedy(BaseAgent):
    """An agent that wins at once if one stone does it, else stops an opponent who could, else plays by potentials.

    The potential of a cell counts all kinds of winning cycles through it, by their costs (`cycle_costs`). The agent
    plays the cell with the greatest sum of both players' potentials: what helps itself and hurts the opponent most.
    Counting all kinds of cycles beats looking at the cheapest alone in 8 or 9 of 10 games. It keeps no memory; ties are
    broken by the generator, and a game does not depend on the batch around it.
    """

    name = "greedy"
    memoryless = True

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose one cell in each game, int64 [L]."""
        return greatest(values(*cycle_costs(observation), action_mask), generator)

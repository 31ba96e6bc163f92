"""The cheapest walks across a board of Hex or Y, by the free cells that they need.

A walk goes from cell to neighbour and, where that is allowed, across bridges: to a cell that shares two free
neighbours with the last one, since if the opponent takes one of the two, the other one connects. An own cell costs 0, a
free one 1, the opponent's are closed. A walk's cost has its last cell in it.

Letters: `L` observations, `Q` positions of a player, `N` cells, `T` beginnings of walks, `S` sides of a goal,
`K` kinds of cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from cellgames.envs.connection.board_tables import cell_places
from cellgames.envs.connection.boards import Board
from cellgames.envs.native import Library, Operator
from cellgames.envs.native.native_library import threads
from cellgames.envs.native.operators import table

CLOSED = 120
"""A cost from here on means that there is no such walk."""

_WALKS_A_THREAD = 128  # of native code: starting a thread takes as long as some dozens of walks


def prices(own: Tensor, opponent: Tensor) -> Tensor:
    """Return the prices of cells for a player, uint8, for its stones and the opponent's, uint8."""
    return 1 - own + (CLOSED - 1) * opponent


class Ways(NamedTuple):
    """The ways on from the cells of a board.

    Attributes:
        near: int32 [N, most], neighbours; the cell itself in the place of missing ones.
        bridges: int32 [N, most, 3], the other end of each bridge and the two cells between; thrice the cell itself in
            the place of missing ones.
    """

    near: Tensor
    bridges: Tensor


@Operator
def shortened(walks: Tensor, price: Tensor, ways: Ways) -> Tensor:
    """Return walks, uint8 [N, T, Q], shortened until none can be shortened, for the prices of cells, uint8 [N, Q]."""
    rounds, price = 0, price[:, None]
    while True:
        best = walks
        for ring in ways.near.unbind(1):
            best = torch.minimum(best, walks[ring] + price)
        for bridge in ways.bridges.unbind(1):
            end, one, two = bridge.unbind(1)
            free = (price[one] & price[two]) == 1
            best = torch.where(free, torch.minimum(best, walks[end] + price), best)
        best = best.clamp(max=CLOSED)
        rounds += 1
        if rounds % 2 == 0 and torch.equal(best, walks):  # looking costs about as much as a neighbour
            return best
        walks = best


@shortened.native
def _native_shortened(native: Library, walks: Tensor, price: Tensor, ways: Ways) -> Tensor:
    """Return `shortened`, by `sources/connection_walks.cpp`."""
    shorter = walks.clone(memory_format=torch.contiguous_format)
    (cells, beginnings, positions), most = walks.shape, (ways.near.shape[1], ways.bridges.shape[1])
    number = threads(beginnings * positions, _WALKS_A_THREAD)
    native.cellgames_connection_walks(cells, *most, beginnings, positions, number, *ways, price, shorter)
    return shorter


def as_ways(
    near: Sequence[Sequence[int]], bridges: Sequence[Sequence[tuple[int, int, int]]], device: torch.device
) -> Ways:
    """Return lists of different lengths as tables."""
    most, most_bridges = max(map(len, near)), max(map(len, bridges))
    filled = [[*some, *[cell] * (most - len(some))] for cell, some in enumerate(near)]
    across = [[*some, *[(cell,) * 3] * (most_bridges - len(some))] for cell, some in enumerate(bridges)]
    table = torch.tensor(across, dtype=torch.int32, device=device).view(len(near), most_bridges, 3)
    return Ways(torch.tensor(filled, dtype=torch.int32, device=device), table)


@table
def plain_ways(layout: Board, device: torch.device) -> Ways:
    """Return the ways from cell to neighbour."""
    return as_ways(layout.neighbours, [[]] * layout.cells, device)


@table
def bridged_ways(layout: Board, device: torch.device) -> Ways:
    """Return the ways with bridges, on a board with a cell more for each of the sides 1, 2, 4 and 8."""
    near = [[*some] for some in layout.neighbours] + [list[int]() for _ in range(4)]
    for cell, number in product(range(layout.cells), range(4)):
        if layout.sides[cell] & 1 << number:
            near[cell].append(layout.cells + number)
            near[layout.cells + number].append(cell)
    bridges = [list[tuple[int, int, int]]() for _ in near]
    for cell, other in combinations(range(len(near)), 2):
        if other not in near[cell]:
            for one, two in combinations([both for both in near[cell] if both in near[other]], 2):
                bridges[cell].append((other, one, two))
                bridges[other].append((cell, one, two))
    for side in range(layout.cells, len(near)):  # walks begin there and do not return
        near[side], bridges[side] = [], []
    return as_ways(near, bridges, device)


def walk_planes(layout: Board, stones: Tensor) -> Tensor:
    """Return planes of the costs of walks across bridges for Black and White, float [L, (2 S + 4) K, n, n].

    Of each player: 2^(-cost / 2) of the walks from each side of its goal, 2^-(stones more than the fewest) of the
    connections that meet in a cell, and 2^(-fewest / 2) everywhere.

    Args:
        layout: the board.
        stones: bool or numbers [L, 2 K, n, n], Black's stones and White's.
    """
    batch, cells, places = len(stones), layout.cells, cell_places(layout, stones.device)
    of_cells = stones.flatten(2).view(batch, 2, -1).index_select(2, places)
    of_cells = of_cells.permute(2, 1, 0).to(torch.uint8)  # [N, 2, L]
    price = functional.pad(prices(of_cells, of_cells.flip(1)), (0, 0, 0, 0, 0, 4), value=CLOSED)
    goals = [[number for number in range(4) if goal & 1 << number] for goal in layout.goals]
    sides = len(goals[0])
    walks = price.new_full((cells + 4, sides, 2, batch), CLOSED)
    for seat, beginning in product(range(2), range(sides)):
        walks[cells + goals[seat][beginning], beginning, seat] = 0
    ways = bridged_ways(layout, stones.device)
    costs = shortened(walks.flatten(2), price.flatten(1), ways).view_as(walks)[:cells]
    meeting = costs.sum(1, dtype=torch.int16) - (sides - 1) * price[:cells]
    fewest = meeting.amin(0, keepdim=True)
    numbers = torch.cat((costs / 2, (meeting - fewest)[:, None], (fewest / 2).expand_as(meeting)[:, None]), 1)
    found = numbers.new_zeros((layout.kinds * layout.size**2, *numbers.shape[1:]))
    found.index_copy_(0, places, torch.exp2(-numbers))
    return found.permute(3, 2, 1, 0).reshape(batch, -1, layout.size, layout.size)

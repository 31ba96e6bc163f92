"""The board of Torus as pictures show it, and the closed path that won, found from the board alone.

Game by Mark Steere.

A board is given as its cells by index, 0 free, 1 Black, 2 White (see `geometry` for the indices). A path is
a list of steps (cell, right, down): the cell, and how often the path has wound to the right and downward when
it gets there; this tells on which copy of the board a step lies when the torus is unrolled on the plane. The
last step of a closed path is its first cell again, with the windings (h, v) of the whole path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.envs.core.drawing import Point
from cellgames.envs.stones.joining import choose
from cellgames.envs.stones.stone_view import Form
from cellgames.utils.errors import InputError

from . import rules
from .geometry import Edge, neighbours

Cells: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
Step: TypeAlias = tuple[int, int, int]
PathName: TypeAlias = Literal["ring", "bracelet", "r-helix", "l-helix"]

STRIP = 0.8
"""So much of the other side, in cells, a page repeats around the board."""
FADED = "#efe9de"
"""The colour that the repeated cells' colours come near."""


def winning_class(path: Sequence[Step]) -> PathName:
    """Return the name of a closed path around the torus in the rules, by the windings (h, v) of its last step."""
    _, right, down = path[-1]
    if right == 0:
        return "ring"
    if down == 0:
        return "bracelet"
    return "r-helix" if right * down > 0 else "l-helix"


def _wins(right: int, down: int, winner: int) -> bool:
    return bool(rules.goal(right, down, winner + 1, choose))


def winning_path(cells: Cells, *, size: int, winner: int) -> list[Step]:
    """Return a closed path, of as few steps as there is, that wins for `winner` (0 Black, 1 White).

    A cell may appear more than once, on different copies of the board (figure 6 of the rule sheet). Rings
    and r-helices are given downward, bracelets and l-helices to the right. Made for pictures: a search in
    plain Python, some milliseconds at size 8.

    Raises:
        ValueError: the winner has no such path.
    """
    ours = _winning_groups(cells, size, winner)
    if not ours:
        raise InputError("winner", "a player with a closed path that wins", ("Black", "White")[winner])
    edges = [[e for e in around if e.cell in ours] for around in neighbours(size)]
    # A winning path of Black crosses the bottom seam, one of White the right seam: start only there.
    axis = 2 if winner == 0 else 1
    best: list[Step] = []
    for start in sorted(ours):
        if any(edge[axis] > 0 for edge in edges[start]):
            found = _closed_path(edges, start, winner, len(best) - 2 if best else None)
            best = found or best
    right, down = best[-1][1:]
    if (right, down)[axis - 1] < 0:
        best = [(cell, x - right, y - down) for cell, x, y in reversed(best)]
    return best


def _closed_path(edges: Sequence[Sequence[Edge]], start: int, winner: int, limit: int | None) -> list[Step]:
    """Return a shortest winning path through `start` of at most `limit` steps, breadth first; empty if none is.

    Without a limit there has to be one: nothing else ends the search.
    """
    first = (start, 0, 0)
    came_from: dict[Step, Step] = {first: first}
    front, steps = [first], 0
    while front and (limit is None or steps < limit):
        ahead: list[Step] = []
        steps += 1
        for here in front:
            cell, x, y = here
            for other, right, down in edges[cell]:
                there = (other, x + right, y + down)
                if there in came_from:
                    continue
                came_from[there] = here
                if other == start and _wins(there[1], there[2], winner):
                    path = [there]
                    while path[-1] != first:
                        path.append(came_from[path[-1]])
                    return path[::-1]
                ahead.append(there)
        front = ahead
    return []


def _winning_groups(board: Cells, size: int, winner: int) -> set[int]:
    """Return the winner's stones in all groups that hold a winning path.

    Each group is unrolled from one of its stones. An edge that leads to another copy of a stone than the
    unrolled one closes a path; all windings of the group are sums of such paths' windings. Two that are not
    parallel make up every kind of winding.
    """
    table, ours, seen = neighbours(size), set[int](), set[int]()
    for root, owner in enumerate(board):
        if owner != winner + 1 or root in seen:
            continue
        copy, stack, classes = {root: (0, 0)}, [root], set[tuple[int, int]]()
        while stack:
            cell = stack.pop()
            x, y = copy[cell]
            for other, right, down in table[cell]:
                if board[other] != owner:
                    continue
                x1, y1 = copy.setdefault(other, (x + right, y + down))
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
                classes.add((x + right - x1, y + down - y1))
        classes.discard((0, 0))
        if any(_wins(*h, winner) or h[0] * k[1] != h[1] * k[0] for h in classes for k in classes):
            ours |= copy.keys()
    return ours


@cache
def form(size: int) -> Form:
    """Return the board as it is cut open, with each cell once."""
    return Form(tuple((kind, row, col) for kind in range(2) for row in range(size) for col in range(size)))


def lines(size: int, path: Sequence[Step]) -> Iterator[tuple[Point, Point]]:
    """Yield the lines of a path by `winning_path`; one across the seam is drawn half at each side."""
    centre = form(size).centre
    for (cell, right, down), (other, right_then, down_then) in pairwise(path):
        across, below = size * (right_then - right), size * (down_then - down)
        (x, y), (x1, y1) = centre(cell), centre(other)
        yield (x, y), ((x + x1 + across) / 2, (y + y1 + below) / 2)
        yield ((x + x1 - across) / 2, (y + y1 - below) / 2), (x1, y1)

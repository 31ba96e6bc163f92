"""The sides of boards of Hex and Y as pictures show them, and the stones that won."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cellgames.envs.core.drawing import Point, Polyline, Shape
from cellgames.envs.stones.stone_view import INK
from cellgames.utils.errors import InputError

from .boards import Board

SIDE = ("#8a7a5c", "#25282d", "#ffffff")
"""Colours of sides: both players', Black's, White's."""

Link = tuple[int, int]
"""Two cells that touch; a cell twice where a stone alone reaches a side."""


def sides(board: Board) -> list[tuple[Point, Point, int]]:
    """Return the outer edges of the board, and who connects them: 1 Black, 2 White, 0 both."""
    edges = []
    for cell in range(board.cells):
        corners = board.form.outline(cell)
        for place, near in enumerate(board.rings[cell]):
            if near is None:
                side = board.across(cell, place)
                owner = 0 if board.goals[0] == board.goals[1] else 1 if board.goals[0] & side else 2
                edges.append((corners[place], corners[(place + 1) % len(corners)], owner))
    return edges


def draw_sides(board: Board) -> Iterator[Shape]:
    """Yield the outer edges of the board in the colours of those who connect them."""
    edges = sides(board)
    yield from (Polyline((start, end), INK, 0.3) for start, end, _ in edges)
    yield from (Polyline((start, end), SIDE[owner], 0.22) for start, end, owner in edges)


def winning_path(board: Board, cells: Sequence[int], winner: int) -> list[Link]:
    """Return the links of ways, of as few stones as there are, that connect all sides of the winner's goal.

    Args:
        board: the board.
        cells: 0 free, 1 Black, 2 White, by cell index.
        winner: 0 Black, 1 White.

    Raises:
        ValueError: the winner connects them nowhere.
    """
    ours = {cell for cell, owner in enumerate(cells) if owner == winner + 1}
    goal = board.goals[winner]
    ways = [_ways(board, ours, side) for side in (1, 2, 4, 8) if goal & side]
    meeting = set.intersection(*(set(way) for way in ways))
    if not meeting:
        raise InputError("winner", "a player with a group that connects its sides", ("Black", "White")[winner])
    centre = min(meeting, key=lambda cell: (sum(way[cell][0] for way in ways), cell))
    links: dict[Link, None] = {}
    for way in ways:
        cell = centre
        while way[cell][1] is not None:
            before = way[cell][1]
            assert before is not None
            links[cell, before] = None
            cell = before
    return list(links) or [(centre, centre)]


def _ways(board: Board, ours: set[int], side: int) -> dict[int, tuple[int, int | None]]:
    """Return for each stone that a side reaches how many steps away it is, and the stone before it on the way."""
    front = [cell for cell in sorted(ours) if board.sides[cell] & side]
    found: dict[int, tuple[int, int | None]] = dict.fromkeys(front, (0, None))
    steps = 0
    while front:
        steps += 1
        ahead = []
        for cell in front:
            for near in board.neighbours[cell]:
                if near in ours and near not in found:
                    found[near] = steps, cell
                    ahead.append(near)
        front = ahead
    return found

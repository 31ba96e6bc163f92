"""The sides of boards of Hex and Y as pictures show them."""

from __future__ import annotations

from collections.abc import Iterator

from cellgames.envs.core.drawing import Point, Polyline, Shape
from cellgames.envs.stones.stone_view import INK

from .boards import Board

SIDE = ("#8a7a5c", "#25282d", "#ffffff")
"""Colours of sides: both players', Black's, White's."""


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

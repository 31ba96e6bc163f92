"""The board of Torus as pictures show it, and the lines of its winning paths. Game by Mark Steere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from cellgames.envs.core.drawing import Point
from cellgames.envs.stones.stone_view import Form

from .winning_path import Step

STRIP = 0.8
"""So much of the other side, in cells, a page repeats around the board."""
FADED = "#efe9de"
"""The colour that the repeated cells' colours come near."""


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

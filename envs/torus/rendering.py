"""Pictures of a Torus board. Game by Mark Steere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product

from typing_extensions import override

from cellgames.envs.core.drawing import Inset, Picture, Point, Polyline, Rectangle, Shape, Text, fitted, mix
from cellgames.envs.stones.stone_view import INK, PAPER, StoneView
from cellgames.utils.errors import InputError

from .geometry import num_cells
from .winning_path import check_cells


@dataclass(frozen=True, eq=False)
class View(StoneView):
    """A board of Torus and what is marked on it; `path` has steps as `winning_path` gives them.

    Attributes:
        size: octagons in a row.

    Raises:
        ValueError: cells of another shape or with other values, or a mark off the board.
    """

    size: int = field(kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", check_cells(self.cells, self.size))
        for cell in [*([] if self.last_move is None else [self.last_move]), *self.through]:
            if not 0 <= cell < num_cells(self.size):
                raise InputError("cell", f"a cell from 0 to {num_cells(self.size) - 1} (size {self.size})", cell)

    @override
    def draw(self) -> Picture:
        """Return one board, and around it a strip that repeats the other side's cells in pale colours.

        A dashed line is the seam where opposite sides of the board meet; each cell lies once inside it. Columns
        are lettered and rows numbered as in the names of moves.
        """
        return _draw(self)

    @override
    def spot(self, cell: int) -> Point:
        square, place = divmod(cell, self.size * self.size)
        return _ORIGIN + place % self.size + square / 2, _ORIGIN + place // self.size + square / 2

    @override
    def outline(self, cell: int, centre: Point) -> tuple[Point, ...]:
        x, y = centre
        return tuple((x + dx, y + dy) for dx, dy in (_SQUARE if self.small(cell) else _OCTAGON))

    @override
    def copies(self, cell: int) -> Iterator[tuple[Point, bool]]:
        """Yield the centres of all copies of a cell that are in sight, each with whether it is the one on the board."""
        x, y = self.spot(cell)
        for right, down in product((-1, 0, 1), repeat=2):
            point = x + right * self.size, y + down * self.size
            if _in_sight(point, self.size):
                yield point, right == down == 0

    @override
    def pale(self, colour: str, inside: bool) -> str:
        return colour if inside else mix(colour, FADED, _FADE)

    @override
    def border(self) -> Iterator[Shape]:
        return _draw_seam(self.size)

    @override
    def lines(self) -> list[tuple[bool, tuple[Point, Point]]]:
        size = self.size
        steps = {
            (cell, other, right - from_right, down - from_down)
            for (cell, from_right, from_down), (other, right, down) in pairwise(self.path)
        }
        lines: list[tuple[bool, tuple[Point, Point]]] = []
        for (cell, other, right, down), copy in product(steps, product((-1, 0, 1), repeat=2)):
            (x0, y0), (x1, y1) = self.spot(cell), self.spot(other)
            start = x0 + copy[0] * size, y0 + copy[1] * size
            end = x1 + (copy[0] + right) * size, y1 + (copy[1] + down) * size
            if _in_sight(start, size) or _in_sight(end, size):
                inside = copy in ((0, 0), (-right, -down))  # a line through the seam is drawn in full on both sides
                lines.append((inside, (start, end)))
        return sorted(lines)

    @override
    def small(self, cell: int) -> bool:
        return cell >= self.size * self.size

    @property
    @override
    def rows(self) -> Sequence[Sequence[Sequence[int]]]:
        n = self.size
        return [[range(first, first + n) for first in range(kind * n * n, (kind + 1) * n * n, n)] for kind in range(2)]

    @property
    @override
    def through(self) -> set[int]:
        return {step[0] for step in self.path}


# ---------------------------------------------------------------- drawn
#
# In units of one cell: octagons lie on the points of the unit lattice and are 1 across; each square lies half
# a unit to the right of and below its octagon. All sides of cells are sqrt(2) - 1 long, so half a square's
# diagonal and half an octagon's side add up to one half.

STRIP = 0.8
"""So much of the other side, in cells, is repeated around the board."""
FADED = "#efe9de"
"""The colour that the repeated cells' colours come near."""
_ORIGIN = 0.5 + STRIP  # the first octagon's centre, from the left and from above
_HALF_SIDE = (2**0.5 - 1) / 2
_HALF_DIAGONAL = 0.5 - _HALF_SIDE
_QUARTERS = ((1, 0), (0, 1), (-1, 0), (0, -1))
_SQUARE = tuple((x * _HALF_DIAGONAL, y * _HALF_DIAGONAL) for x, y in _QUARTERS)
_OCTAGON = tuple((x / 2 - y * end, y / 2 + x * end) for x, y in _QUARTERS for end in (-_HALF_SIDE, _HALF_SIDE))

_FADE = 0.6  # how near the strip's colours come to `FADED`


def _draw(view: View) -> Picture:
    size, title = view.size, view.title
    units = size + 2 * STRIP
    scale = view.side * max(1 / units, 0.075)
    frame = Rectangle(0, 0, units, units, None, view.pale(INK, False), 0.05)
    inset = Picture(units, units, PAPER, (*view.marks(), *view.above, frame))

    side, margin = units * scale, 12.0
    left, top = (26.0, 26.0) if view.labels else (margin, margin)
    top += 28 if title else 0
    around: list[Shape] = [Inset(left, top, inset, scale)]
    if title:
        around.append(Text(left + side / 2, 27, title, fitted(title, 17.0, side + left), INK, "middle", bold=True))
    for i in range(size if view.labels else 0):
        at = (_ORIGIN + i) * scale
        around.append(Text(left + at, top - 8, chr(ord("a") + i), 14, INK, "middle"))
        around.append(Text(left - 7, top + at + 5, str(i + 1), 14, INK, "end"))
    stones = sum(map(bool, view.cells))
    spoken = title or f"Torus, {size} x {size} octagons and squares, stones placed: {stones}"
    return Picture(left + side + margin, top + side + margin, PAPER, tuple(around), spoken)


def _in_sight(point: Point, size: int) -> bool:
    """Return True if any part of a cell with this centre is in sight."""
    return all(-0.5 < at < size + 2 * STRIP + 0.5 for at in point)


def _draw_seam(size: int) -> Iterator[Shape]:
    """Yield the border of the board along edges of cells; its lower and right sides repeat the upper and left ones.

    Left of and above the board it leaves out the squares, which belong to the other end of the row.
    """
    steps = ((-_HALF_SIDE, -0.5), (_HALF_SIDE, -0.5), (0.5, -_HALF_SIDE))
    top = [(_ORIGIN + i + along, _ORIGIN + across) for i in range(size) for along, across in steps]
    left = [(y, x) for x, y in top]
    bottom = [(x, y + size) for x, y in top]
    right = [(x + size, y) for x, y in left]
    around = (*reversed(left), *top, *right[1:], *reversed(bottom))
    yield Polyline(around, PAPER, 0.045)
    yield Polyline(around, INK, 0.045, dash=(0.1, 0.1))

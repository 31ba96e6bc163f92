"""Pictures of boards of Hex and Y."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import cos, pi, sin

from typing_extensions import override

from cellgames.envs.core.drawing import Inset, Picture, Point, Polyline, Shape, Text, fitted
from cellgames.envs.stones.stone_view import INK, PAPER, StoneView

from .boards import Board


@dataclass(frozen=True, eq=False)
class View(StoneView):
    """A board of Hex or Y and what is marked on it; `path` has links between stones as `winning_path` gives them.

    Attributes:
        board: the board.
    """

    board: Board = field(kw_only=True)

    @override
    def draw(self) -> Picture:
        """Return one board. Its sides have the colours of those who connect them; the winner's way is a line.

        Columns are lettered and rows numbered as in the names of moves.
        """
        return _draw(self)

    @override
    def spot(self, cell: int) -> Point:
        return spot(self.board, cell)

    @override
    def outline(self, cell: int, centre: Point) -> tuple[Point, ...]:
        x, y = centre
        return tuple((x + dx, y + dy) for dx, dy in form(self.board, cell))

    @override
    def lines(self) -> list[tuple[bool, tuple[Point, Point]]]:
        return [(True, (self.spot(one), self.spot(other))) for one, other in self.path if one != other]

    @override
    def small(self, cell: int) -> bool:
        return bool(self.board.spots[cell][0])

    @property
    @override
    def rows(self) -> Sequence[Sequence[Sequence[int]]]:
        return self.board.rows

    @property
    @override
    def through(self) -> set[int]:
        return {cell for link in self.path for cell in link}

    @property
    @override
    def slanted(self) -> bool:
        return self.board.tiling == "hexagons"


# ---------------------------------------------------------------- drawn
#
# In units of one cell: neighbours in a row are 1 apart. Hexagons stand on a corner, and each row begins half a unit to
# the right of the one above. Octagons lie on the points of the unit lattice, and each square half a unit to the right
# of and below its octagon, as on the board of Torus.

_BEFORE, _BEHIND = 1.35, 0.8  # between the centres of the outermost cells and the edges of the picture
_SLOPE = 3**0.5 / 2  # the distance of rows of hexagons
_HALF_DIAGONAL = (2 - 2**0.5) / 2  # of a square

SIDE = ("#8a7a5c", "#25282d", "#ffffff")
"""Colours of sides: both players', Black's, White's."""


def _draw(view: View) -> Picture:
    board, title = view.board, view.title
    width, height = extent(board)
    scale = max(view.side / max(width, height), 24.0)
    shapes = [*_draw_sides(board), *view.marks()]
    if view.labels:
        shapes += (Text(x, y + 0.14, label, 0.4, INK, "middle") for (x, y), label in labels(board))
    inset = Picture(width, height, PAPER, (*shapes, *view.above))
    top = 34.0 if title else 6.0
    around: list[Shape] = [Inset(6, top, inset, scale)]
    if title:
        around.append(Text(6 + width * scale / 2, 26, title, fitted(title, 17.0, width * scale), INK, "middle", True))
    stones = sum(map(bool, view.cells))
    spoken = title or f"A board of {board.cells} cells, stones placed: {stones}"
    return Picture(width * scale + 12, height * scale + top + 6, PAPER, tuple(around), spoken)


def extent(board: Board) -> tuple[float, float]:
    """Return width and height of the drawn board in cells."""
    spots = [spot(board, cell) for cell in range(board.cells)]
    return max(x for x, _ in spots) + _BEHIND, max(y for _, y in spots) + _BEHIND


def spot(board: Board, cell: int) -> Point:
    """Return the centre of a cell on the drawn board, in cells."""
    kind, row, col = board.spots[cell]
    if board.tiling == "hexagons":
        return _BEFORE + col + row / 2, _BEFORE + row * _SLOPE
    return _BEFORE + col + kind / 2, _BEFORE + row + kind / 2


def form(board: Board, cell: int) -> list[Point]:
    """Return the corners of a cell around its centre; between corner i and the next lies the edge to place i."""
    if board.tiling == "hexagons":
        angles, radius = [pi / 3 * (i - 0.5) for i in range(6)], 1 / 3**0.5
    elif board.spots[cell][0] == 0:
        angles, radius = [pi / 4 * (i - 0.5) for i in range(8)], 0.5 / cos(pi / 8)
    else:
        angles, radius = [pi / 2 * (i + 2) for i in range(4)], _HALF_DIAGONAL
    return [(radius * cos(angle), radius * sin(angle)) for angle in angles]


def outline(board: Board, cell: int) -> tuple[Point, ...]:
    """Return the corners of a cell on the drawn board."""
    x, y = spot(board, cell)
    return tuple((x + dx, y + dy) for dx, dy in form(board, cell))


def sides(board: Board) -> list[tuple[Point, Point, int]]:
    """Return the outer edges of the board, and who connects them: 1 Black, 2 White, 0 both."""
    edges = []
    for cell in range(board.cells):
        corners = outline(board, cell)
        for place, near in enumerate(board.rings[cell]):
            if near is None:
                side = board.across(cell, place)
                owner = 0 if board.goals[0] == board.goals[1] else 1 if board.goals[0] & side else 2
                edges.append((corners[place], corners[(place + 1) % len(corners)], owner))
    return edges


def labels(board: Board) -> list[tuple[Point, str]]:
    """Return letters and numbers of columns and rows, and the points in the middle of them."""
    found = []
    for cell, (kind, row, col) in enumerate(board.spots):
        x, y = spot(board, cell)
        if kind == 0 and row == 0:
            found.append(((x - (0.25 if board.tiling == "hexagons" else 0.0), y - 0.92), chr(ord("a") + col)))
        if kind == 0 and col == 0:
            found.append(((x - 0.95, y), str(row + 1)))
    return found


def _draw_sides(board: Board) -> Iterator[Shape]:
    """Yield the outer edges of the board in the colours of those who connect them."""
    edges = sides(board)
    for start, end, _ in edges:
        yield Polyline((start, end), INK, 0.3)
    for start, end, owner in edges:
        yield Polyline((start, end), SIDE[owner], 0.22)

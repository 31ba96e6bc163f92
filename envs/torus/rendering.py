"""Pictures of a Torus board: drawn, and as text. Game by Mark Steere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product

from cellgames.envs.core.drawing import (
    Circle,
    Inset,
    Picture,
    Point,
    Polygon,
    Polyline,
    Rectangle,
    Shape,
    Text,
    fitted,
    mix,
)

from .geometry import num_cells
from .winning_path import Cells, Step, check_cells

__all__ = ["View", "colour", "draw", "spot", "text"]


@dataclass(frozen=True, eq=False)
class View:
    """A board and what is marked on it.

    Attributes:
        cells: [2 * size**2] integers by cell index, 0 free, 1 Black, 2 White.
        size: octagons in a row.
        last_move: a cell to mark with a ring.
        path: steps of a path through the cells to draw, as `winning_path` gives them.
        title: a line above the board, such as "Black wins by a ring, 61 plies".
        labels: True to write the letters and numbers around the board.
        fills: colours of cells that are to have others than the usual ones.
        above: shapes to draw over the cells, in their units (see `spot`).
        side: about the side of the drawn board in units of the picture; more on large boards.

    Raises:
        ValueError: cells of another shape or with other values, or a mark off the board.
    """

    cells: Cells
    size: int
    last_move: int | None = None
    path: Sequence[Step] = ()
    title: str = ""
    labels: bool = True
    fills: Mapping[int, str] = field(default_factory=dict)
    above: Sequence[Shape] = ()
    side: float = 400.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", check_cells(self.cells, self.size))
        for cell in [*([] if self.last_move is None else [self.last_move]), *(step[0] for step in self.path)]:
            if not 0 <= cell < num_cells(self.size):
                raise ValueError(f"expected a cell from 0 to {num_cells(self.size) - 1} (size {self.size}), got {cell}")

    def ground(self, cell: int) -> str:
        """Return the colour of a cell when it is free."""
        return colour(cell, 0, self.size)

    def spot(self, cell: int) -> Point:
        """Return the centre of a cell on the drawn board, in cells."""
        return spot(cell, self.size)

    def small(self, cell: int) -> bool:
        """Return True for squares."""
        return cell >= self.size * self.size

    def drawn(self, title: str, fills: Mapping[int, str], above: Sequence[Shape], side: float) -> Picture:
        """Return the board without the path, with some cells in other colours and shapes above them."""
        return draw(replace(self, title=title, path=(), fills=fills, above=above, side=side))


# ---------------------------------------------------------------- drawn
#
# In units of one cell: octagons lie on the points of the unit lattice and are 1 across; each square lies half
# a unit to the right of and below its octagon. All sides of cells are sqrt(2) - 1 long, so half a square's
# diagonal and half an octagon's side add up to one half.

_STRIP = 0.8  # how much of the other side is repeated around the board
_ORIGIN = 0.5 + _STRIP  # the first octagon's centre, from the left and from above
_HALF_SIDE = (2**0.5 - 1) / 2
_HALF_DIAGONAL = 0.5 - _HALF_SIDE
_QUARTERS = ((1, 0), (0, 1), (-1, 0), (0, -1))
_SQUARE = tuple((x * _HALF_DIAGONAL, y * _HALF_DIAGONAL) for x, y in _QUARTERS)
_OCTAGON = tuple((x / 2 - y * end, y / 2 + x * end) for x, y in _QUARTERS for end in (-_HALF_SIDE, _HALF_SIDE))

_PAPER, _INK = "#fffdf8", "#5b5348"
_FILL = ("#ead9b8", "#25282d", "#ffffff")  # free, Black, White
_FREE_SQUARE = "#e0cba3"
_EDGE = ("#b9a37b", "#70757d", "#6b6459")
_EDGE_WIDTH = (0.03, 0.05, 0.05)
_PATH = "#d55e00"  # vermillion: told from black, white and sand in every kind of colour vision
_MARK = ("#000000", "#6fc3f2", "#0072b2")  # the last move, on Black and on White
_FADED, _FADE = "#efe9de", 0.6  # the colour that the strip's colours come near, and how near


def draw(view: View) -> Picture:
    """Return one board, and around it a strip that repeats the other side's cells in pale colours.

    A dashed line is the seam where opposite sides of the board meet; each cell lies once inside it. Columns
    are lettered and rows numbered as in the names of moves.
    """
    board, size, title = list(view.cells), view.size, view.title
    shapes = [*_draw_cells(board, size, view.fills), *_draw_seam(size), *_draw_path(view.path, size)]
    if view.last_move is not None:
        shapes += _draw_mark(view.last_move, board[view.last_move], size)
    units = size + 2 * _STRIP
    scale = view.side * max(1 / units, 0.075)
    frame = Rectangle(0, 0, units, units, None, _pale(_INK, False), 0.05)
    inset = Picture(units, units, _PAPER, (*shapes, *view.above, frame))

    side, margin = units * scale, 12.0
    left, top = (26.0, 26.0) if view.labels else (margin, margin)
    top += 28 if title else 0
    around: list[Shape] = [Inset(left, top, inset, scale)]
    if title:
        around.append(Text(left + side / 2, 27, title, fitted(title, 17.0, side + left), _INK, "middle", bold=True))
    for i in range(size if view.labels else 0):
        at = (_ORIGIN + i) * scale
        around.append(Text(left + at, top - 8, chr(ord("a") + i), 14, _INK, "middle"))
        around.append(Text(left - 7, top + at + 5, str(i + 1), 14, _INK, "end"))
    stones = sum(1 for owner in board if owner)
    spoken = title or f"Torus, {size} x {size} octagons and squares, stones placed: {stones}"
    return Picture(left + side + margin, top + side + margin, _PAPER, tuple(around), spoken)


def spot(cell: int, size: int) -> Point:
    """Return the centre of a cell on the drawn board, in cells: octagons are 1 across."""
    square, place = divmod(cell, size * size)
    return _ORIGIN + place % size + square / 2, _ORIGIN + place // size + square / 2


def _in_sight(point: Point, size: int) -> bool:
    """Return True if any part of a cell with this centre is in sight."""
    return all(-0.5 < at < size + 2 * _STRIP + 0.5 for at in point)


def _copies(cell: int, size: int) -> Iterator[tuple[Point, bool]]:
    """Yield the centres of all copies of a cell that are in sight, each with whether it is the one on the board."""
    x, y = spot(cell, size)
    for right, down in product((-1, 0, 1), repeat=2):
        point = x + right * size, y + down * size
        if _in_sight(point, size):
            yield point, right == down == 0


def _pale(colour: str, inside: bool) -> str:
    return colour if inside else mix(colour, _FADED, _FADE)


def _outline(cell: int, centre: Point, size: int) -> tuple[Point, ...]:
    x, y = centre
    return tuple((x + dx, y + dy) for dx, dy in (_OCTAGON if cell < size * size else _SQUARE))


def _draw_cells(board: Sequence[int], size: int, fills: Mapping[int, str]) -> Iterator[Shape]:
    """Yield all cells: the repeated ones first, and free cells before stones, whose edges are darker."""
    seen = [(inside, owner, cell, centre) for cell, owner in enumerate(board) for centre, inside in _copies(cell, size)]
    for inside, owner, cell, centre in sorted(seen):
        fill = fills.get(cell, colour(cell, owner, size))
        edge = _pale(_EDGE[owner], inside)
        yield Polygon(_outline(cell, centre, size), _pale(fill, inside), edge, _EDGE_WIDTH[owner])


def colour(cell: int, owner: int, size: int) -> str:
    """Return the colour of a cell that nobody owns (0), or Black (1) or White (2)."""
    return _FREE_SQUARE if owner == 0 and cell >= size * size else _FILL[owner]


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
    yield Polyline(around, _PAPER, 0.045)
    yield Polyline(around, _INK, 0.045, dash=(0.1, 0.1))


def _draw_path(path: Sequence[Step], size: int) -> Iterator[Shape]:
    """Yield the edges of the path's cells, and a line through their centres, wherever they are in sight."""
    for cell in sorted({step[0] for step in path}):
        for centre, inside in _copies(cell, size):
            yield Polygon(_outline(cell, centre, size), None, _pale(_PATH, inside), 0.07)
    steps = {
        (cell, other, right - from_right, down - from_down)
        for (cell, from_right, from_down), (other, right, down) in pairwise(path)
    }
    lines: list[tuple[bool, tuple[Point, Point]]] = []
    for (cell, other, right, down), copy in product(steps, product((-1, 0, 1), repeat=2)):
        (x0, y0), (x1, y1) = spot(cell, size), spot(other, size)
        start = x0 + copy[0] * size, y0 + copy[1] * size
        end = x1 + (copy[0] + right) * size, y1 + (copy[1] + down) * size
        if _in_sight(start, size) or _in_sight(end, size):
            inside = copy in (
                (0, 0),
                (-right, -down),
            )  # a line through the seam is drawn in full on both sides
            lines.append((inside, (start, end)))
    lines.sort()
    for shown in (False, True):
        for colour, width in ((_PAPER, 0.23), (_PATH, 0.15)):
            for inside, ends in lines:
                if inside == shown:
                    yield Polyline(ends, _pale(colour, inside), width)


def _draw_mark(cell: int, owner: int, size: int) -> Iterator[Shape]:
    radius = 0.17 if cell < size * size else 0.12
    for (x, y), inside in _copies(cell, size):
        yield Circle(x, y, radius, _pale(_FILL[owner], inside), _pale(_MARK[owner], inside), 0.07)


# ---------------------------------------------------------------- as text


def text(view: View, *, colour: bool = False) -> str:
    """Return one board in ASCII: rows of octagons, and between them, half a cell to the right, rows of squares.

    `x` is Black, `o` White, `.` a free octagon, `,` a free square; the path's cells are capitals, the last
    move stands in brackets. With `colour` a terminal shows the path in bold yellow and free cells dimmed.
    """
    size, ways = view.size, {step[0] for step in view.path}

    def sign(cell: int) -> str:
        square, owner = cell >= size * size, view.cells[cell]
        shown = (",xo" if square else ".xo")[owner]
        style = "2" if owner == 0 else ""
        if cell in ways:
            shown, style = shown.upper(), "1;33"
        if colour and style:
            shown = f"\x1b[{style}m{shown}\x1b[0m"
        return f"[{shown}]" if cell == view.last_move else f" {shown} "

    lines = ["   " + " ".join(f" {chr(ord('a') + col)} " for col in range(size))]
    for row in range(size):
        octagons = range(row * size, (row + 1) * size)
        lines.append(f"{row + 1:2} " + " ".join(map(sign, octagons)))
        lines.append("     " + " ".join(sign(size * size + cell) for cell in octagons))
    return "\n".join(line.rstrip() for line in lines)

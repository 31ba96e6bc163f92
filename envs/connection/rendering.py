"""Pictures of boards of Hex and Y: drawn, and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import cos, pi, sin

from cellgames.envs.core.drawing import (
    Circle,
    Inset,
    Picture,
    Point,
    Polygon,
    Polyline,
    Shape,
    Text,
    fitted,
)

from .boards import Board
from .winning_path import Link

__all__ = ["View", "colour", "draw", "extent", "form", "labels", "outline", "sides", "spot", "text"]


@dataclass(frozen=True, eq=False)
class View:
    """A board and what is marked on it.

    Attributes:
        cells: by cell index, 0 free, 1 Black, 2 White.
        board: the board.
        last_move: a cell to mark with a ring.
        path: links between stones to draw, as `winning_path` gives them.
        title: a line above the board, such as "Black wins, 61 turns".
        labels: True to write the letters and numbers around the board.
        fills: colours of cells that are to have others than the usual ones.
        above: shapes to draw over the cells, in their units (see `spot`).
        side: about the larger side of the drawn board in units of the picture; more on large boards.
    """

    cells: Sequence[int]
    board: Board
    last_move: int | None = None
    path: Sequence[Link] = ()
    title: str = ""
    labels: bool = True
    fills: Mapping[int, str] = field(default_factory=dict)
    above: Sequence[Shape] = ()
    side: float = 400.0

    def ground(self, cell: int) -> str:
        """Return the colour of a cell when it is free."""
        return colour(self.board, cell, 0)

    def spot(self, cell: int) -> Point:
        """Return the centre of a cell on the drawn board, in cells."""
        return spot(self.board, cell)

    def small(self, cell: int) -> bool:
        """Return True for squares."""
        return bool(self.board.spots[cell][0])

    def drawn(self, title: str, fills: Mapping[int, str], above: Sequence[Shape], side: float) -> Picture:
        """Return the board without the path, with some cells in other colours and shapes above them."""
        return draw(replace(self, title=title, path=(), fills=fills, above=above, side=side))


# ---------------------------------------------------------------- drawn
#
# In units of one cell: neighbours in a row are 1 apart. Hexagons stand on a corner, and each row begins half a unit to
# the right of the one above. Octagons lie on the points of the unit lattice, and each square half a unit to the right
# of and below its octagon, as on the board of Torus.

_BEFORE, _BEHIND = 1.35, 0.8  # between the centres of the outermost cells and the edges of the picture
_SLOPE = 3**0.5 / 2  # the distance of rows of hexagons
_HALF_DIAGONAL = (2 - 2**0.5) / 2  # of a square

_PAPER, _INK = "#fffdf8", "#5b5348"
_FILL = ("#ead9b8", "#25282d", "#ffffff")  # free, Black, White
_FREE_SQUARE = "#e0cba3"
_EDGE = ("#b9a37b", "#70757d", "#6b6459")
_EDGE_WIDTH = (0.03, 0.05, 0.05)
_PATH = "#d55e00"  # vermillion: told from black, white and sand in every kind of colour vision
_MARK = ("#000000", "#6fc3f2", "#0072b2")  # the last move, on Black and on White
_SIDE = ("#8a7a5c", "#25282d", "#ffffff")  # both players', Black's, White's


def draw(view: View) -> Picture:
    """Return one board. Its sides have the colours of those who connect them; the winner's way is a line.

    Columns are lettered and rows numbered as in the names of moves.
    """
    board, title = view.board, view.title
    width, height = extent(board)
    scale = max(view.side / max(width, height), 24.0)
    shapes = [*_draw_sides(board), *_draw_cells(view), *_draw_path(view)]
    if view.last_move is not None:
        x, y = spot(board, view.last_move)
        owner = view.cells[view.last_move]
        radius = 0.12 if board.spots[view.last_move][0] else 0.17
        shapes.append(Circle(x, y, radius, _FILL[owner], _MARK[owner], 0.07))
    if view.labels:
        shapes += (Text(x, y + 0.14, label, 0.4, _INK, "middle") for (x, y), label in labels(board))
    inset = Picture(width, height, _PAPER, (*shapes, *view.above))
    top = 34.0 if title else 6.0
    around: list[Shape] = [Inset(6, top, inset, scale)]
    if title:
        around.append(Text(6 + width * scale / 2, 26, title, fitted(title, 17.0, width * scale), _INK, "middle", True))
    stones = sum(1 for owner in view.cells if owner)
    spoken = title or f"A board of {board.cells} cells, stones placed: {stones}"
    return Picture(width * scale + 12, height * scale + top + 6, _PAPER, tuple(around), spoken)


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


def colour(board: Board, cell: int, owner: int) -> str:
    """Return the colour of a cell that nobody owns (0), or Black (1) or White (2)."""
    return _FREE_SQUARE if owner == 0 and board.spots[cell][0] else _FILL[owner]


def _draw_sides(board: Board) -> Iterator[Shape]:
    """Yield the outer edges of the board in the colours of those who connect them."""
    edges = sides(board)
    for start, end, _ in edges:
        yield Polyline((start, end), _INK, 0.3)
    for start, end, owner in edges:
        yield Polyline((start, end), _SIDE[owner], 0.22)


def _draw_cells(view: View) -> Iterator[Shape]:
    """Yield all cells, free ones before stones, whose edges are darker."""
    board = view.board
    for owner, cell in sorted((owner, cell) for cell, owner in enumerate(view.cells)):
        fill = view.fills.get(cell, colour(board, cell, owner))
        yield Polygon(outline(board, cell), fill, _EDGE[owner], _EDGE_WIDTH[owner])


def _draw_path(view: View) -> Iterator[Shape]:
    """Yield the edges of the path's stones, and lines through their centres."""
    for cell in sorted({cell for link in view.path for cell in link}):
        yield Polygon(outline(view.board, cell), None, _PATH, 0.07)
    for line, width in ((_PAPER, 0.23), (_PATH, 0.15)):
        for one, other in view.path:
            if one != other:
                yield Polyline((spot(view.board, one), spot(view.board, other)), line, width)


# ---------------------------------------------------------------- as text


def text(view: View) -> str:
    """Return one board in ASCII: on hexagons each row half a cell further right, else squares between the octagons.

    `x` is Black, `o` White, `.` a free cell, `,` a free square; the path's cells are capitals, the last move stands in
    brackets.
    """
    board, ways = view.board, {cell for link in view.path for cell in link}

    def sign(cell: int) -> str:
        shown = (",xo" if board.spots[cell][0] else ".xo")[view.cells[cell]]
        shown = shown.upper() if cell in ways else shown
        return f"[{shown}]" if cell == view.last_move else f" {shown} "

    lines = ["   " + " ".join(f" {chr(ord('a') + col)} " for col in range(board.size))]
    rows = board.rows
    for row, cells in enumerate(rows[0]):
        indent = " " * (2 * row if board.tiling == "hexagons" else 0)
        lines.append(f"{indent}{row + 1:2} " + " ".join(map(sign, cells)))
        if board.kinds == 2 and row < len(rows[1]):
            lines.append("     " + " ".join(map(sign, rows[1][row])))
    return "\n".join(line.rstrip() for line in lines)

"""Boards of stones as pictures and as text: those of Torus, Hex and Y."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from math import cos, pi, sin
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from cellgames.envs.core.drawing import BoardView, Circle, Inset, Picture, Point, Polygon, Polyline, Shape, Text, headed

PAPER, INK = "#fffdf8", "#5b5348"
FILL = ("#ead9b8", "#25282d", "#ffffff")
"""Colours of cells: free, Black, White."""
FREE_SQUARE = "#e0cba3"
EDGE, EDGE_WIDTH = ("#b9a37b", "#70757d", "#6b6459"), (0.03, 0.05, 0.05)
"""Colours and widths of the edges of cells: free, Black, White."""
PATH = "#d55e00"
"""Vermillion: told from black, white and sand in every kind of colour vision."""
PATH_EDGE_WIDTH, PATH_LINES = 0.07, ((PAPER, 0.23), (PATH, 0.15))
"""The edges of stones on the path that won, and the lines through their centres: colour and width, one on the other."""
MARK = ("#000000", "#6fc3f2", "#0072b2")
"""Colours of the ring on the last move: free, Black, White."""


@dataclass(frozen=True)
class Form:
    """The cells of a board, in units of one cell: neighbours in a row are 1 apart.

    Hexagons stand on a corner, and each row begins half a unit to the right of the one above. Octagons lie on the
    points of the unit lattice, and each square half a unit to the right of and below its octagon.

    Attributes:
        spots: kind (1 for a square, else 0), row and column of each cell, the squares last.
        hexagons: True for hexagons, False for octagons and squares.
    """

    spots: tuple[tuple[int, int, int], ...]
    hexagons: bool = False

    @cached_property
    def rows(self) -> list[list[list[int]]]:
        """The cells by kind and row."""
        kinds = groupby(range(len(self.spots)), lambda cell: self.spots[cell][0])
        return [[list(row) for _, row in groupby(cells, lambda cell: self.spots[cell][1])] for _, cells in kinds]

    @property
    def extent(self) -> Point:
        """Width and height."""
        centres = [self.centre(cell) for cell in range(len(self.spots))]
        return max(x for x, _ in centres) + _BEHIND, max(y for _, y in centres) + _BEHIND

    def centre(self, cell: int) -> Point:
        """Return the centre of a cell."""
        kind, row, col = self.spots[cell]
        if self.hexagons:
            return _BEFORE + col + row / 2, _BEFORE + row * 3**0.5 / 2
        return _BEFORE + col + kind / 2, _BEFORE + row + kind / 2

    def corners(self, cell: int) -> list[Point]:
        """Return the corners around the centre of a cell; between corner i and the next lies the edge to place i."""
        sides, first, radius = 8, -0.5, 0.5 / cos(pi / 8)
        if self.hexagons:
            sides, radius = 6, 1 / 3**0.5
        elif self.small(cell):
            sides, first, radius = 4, 2.0, 1 - 0.5**0.5
        angles = [2 * pi / sides * (place + first) for place in range(sides)]
        return [(radius * cos(angle), radius * sin(angle)) for angle in angles]

    def outline(self, cell: int) -> tuple[Point, ...]:
        """Return the corners of a cell."""
        x, y = self.centre(cell)
        return tuple((x + right, y + down) for right, down in self.corners(cell))

    def small(self, cell: int) -> bool:
        """Return True for squares."""
        return bool(self.spots[cell][0])

    def labels(self) -> Iterator[tuple[Point, str]]:
        """Yield letters of columns and numbers of rows, and the points in the middle of them."""
        for cell, (kind, row, col) in enumerate(self.spots):
            x, y = self.centre(cell)
            if kind == row == 0:
                yield (x - 0.25 * self.hexagons, y - 0.92), chr(ord("a") + col)
            if kind == col == 0:
                yield (x - 0.95, y), str(row + 1)


_BEFORE, _BEHIND = 1.35, 0.8  # between the centres of the outermost cells and the edges of the picture


@dataclass(frozen=True, eq=False)
class StoneView(BoardView):
    """A board of stones and what is marked on it.

    Attributes:
        cells: by cell index, 0 free, 1 Black, 2 White.
        form: form of the board.
        last_move: a cell to mark with a ring.
        path: path through the stones that won, in the game's own form.
        through: the cells of the path.
        lines: the lines of the path.
        title: a line above the board, such as "Black wins, 61 turns".
        below: shapes to draw below the cells.
        fills: colours of cells that are to have others than the usual ones.
        above: shapes to draw over the cells.
        side: about the larger side of the drawn board in units of the picture; more on large boards.
    """

    cells: Sequence[int] | npt.NDArray[np.integer[Any]]
    form: Form
    last_move: int | None = None
    path: Sequence[Any] = ()
    through: Collection[int] = ()
    lines: Sequence[tuple[Point, Point]] = ()
    title: str = ""
    below: Sequence[Shape] = ()
    fills: Mapping[int, str] = field(default_factory=dict)
    above: Sequence[Shape] = ()
    side: float = 400.0

    @override
    def draw(self) -> Picture:
        width, height = self.form.extent
        scale = max(self.side / max(width, height), 24.0)
        letters = (Text(x, y + 0.14, label, 0.4, INK, "middle") for (x, y), label in self.form.labels())
        board = Picture(width, height, PAPER, (*self.below, *self._marks(), *letters, *self.above))
        shown = Picture(width * scale + 12, height * scale + 12, PAPER, (Inset(6, 6, board, scale),))
        return headed(shown, self.title) if self.title else shown

    def _marks(self) -> Iterator[Shape]:
        """Yield the cells, free ones before stones, whose edges are darker; the path, the ring on the last move."""
        outline = self.form.outline
        for owner, cell in sorted((owner, cell) for cell, owner in enumerate(self.cells)):
            colour = self.fills.get(cell, FILL[owner] if owner else self.ground(cell))
            yield Polygon(outline(cell), colour, EDGE[owner], EDGE_WIDTH[owner])
        for cell in sorted(self.through):
            yield Polygon(outline(cell), None, PATH, PATH_EDGE_WIDTH)
        for line, width in PATH_LINES:
            yield from (Polyline(ends, line, width) for ends in self.lines)
        if self.last_move is not None:
            (x, y), owner = self.form.centre(self.last_move), self.cells[self.last_move]
            yield Circle(x, y, 0.12 if self.form.small(self.last_move) else 0.17, FILL[owner], MARK[owner], 0.07)

    def ground(self, cell: int) -> str:
        """Return the colour of a cell when it is free."""
        return FREE_SQUARE if self.form.small(cell) else FILL[0]

    def drawn(self, title: str, fills: Mapping[int, str], above: Sequence[Shape], side: float) -> Picture:
        """Return a picture without the path, with some cells in other colours and shapes above them."""
        return replace(self, title=title, through=(), lines=(), fills=fills, above=above, side=side).draw()

    @override
    def text(self) -> str:
        """Return the title and rows of the board in ASCII, those of squares between the others, half a cell right.

        `x` is Black, `o` White, `.` a free cell, `,` a free square; the path's cells are capitals, the last move
        stands in brackets.
        """

        def sign(cell: int) -> str:
            shown = (",xo" if self.form.small(cell) else ".xo")[self.cells[cell]]
            shown = shown.upper() if cell in self.through else shown
            return f"[{shown}]" if cell == self.last_move else f" {shown} "

        first, *between = self.form.rows
        lines = ["   " + " ".join(f" {chr(ord('a') + col)} " for col in range(len(first[0])))]
        for row, cells in enumerate(first):
            indent = " " * (2 * row * self.form.hexagons)
            lines.append(f"{indent}{row + 1:2} " + " ".join(map(sign, cells)))
            lines += ("     " + " ".join(map(sign, squares[row])) for squares in between if row < len(squares))
        return "\n".join(line.rstrip() for line in [self.title, *lines])

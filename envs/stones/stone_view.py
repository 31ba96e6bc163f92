"""A board of stones to draw, and as text: what pictures of Torus, Hex and Y share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from cellgames.envs.core.drawing import Circle, Picture, Point, Polygon, Polyline, Shape

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


def colour(owner: int, *, small: bool) -> str:
    """Return the colour of a cell that nobody owns (0), or Black (1) or White (2); `small` for squares."""
    return FREE_SQUARE if owner == 0 and small else FILL[owner]


def mark_radius(*, small: bool) -> float:
    """Return the radius of the ring on the last move."""
    return 0.12 if small else 0.17


@dataclass(frozen=True, eq=False)
class StoneView(ABC):
    """A board of stones and what is marked on it. Points are in units of one cell.

    Attributes:
        cells: by cell index, 0 free, 1 Black, 2 White.
        last_move: a cell to mark with a ring.
        path: path through the stones that won, in the game's own form.
        title: a line above the board, such as "Black wins, 61 turns".
        labels: True to write the letters and numbers around the board.
        fills: colours of cells that are to have others than the usual ones.
        above: shapes to draw over the cells.
        side: about the larger side of the drawn board in units of the picture; more on large boards.
    """

    cells: Sequence[int] | npt.NDArray[np.integer[Any]]
    last_move: int | None = None
    path: Sequence[Any] = ()
    title: str = ""
    labels: bool = True
    fills: Mapping[int, str] = field(default_factory=dict)
    above: Sequence[Shape] = ()
    side: float = 400.0

    @abstractmethod
    def draw(self) -> Picture:
        """Return the picture."""

    @abstractmethod
    def spot(self, cell: int) -> Point:
        """Return the centre of a cell on the drawn board."""

    @abstractmethod
    def small(self, cell: int) -> bool:
        """Return True for squares between octagons."""

    @abstractmethod
    def outline(self, cell: int, centre: Point) -> tuple[Point, ...]:
        """Return the corners of a cell around a centre."""

    @abstractmethod
    def lines(self) -> list[tuple[bool, tuple[Point, Point]]]:
        """Return the lines through the path's stones, each with True unless it is drawn pale."""

    @property
    @abstractmethod
    def rows(self) -> Sequence[Sequence[Sequence[int]]]:
        """The cells by kind and row."""

    @property
    @abstractmethod
    def through(self) -> Collection[int]:
        """The cells of the path."""

    @property
    def slanted(self) -> bool:
        """True if each row begins half a cell to the right of the one above."""
        return False

    def copies(self, cell: int) -> Iterable[tuple[Point, bool]]:
        """Return the centres of a cell on the drawn board, each with True unless it is drawn pale."""
        return [(self.spot(cell), True)]

    def pale(self, colour: str, inside: bool) -> str:
        """Return a colour, paler unless `inside`."""
        return colour

    def marks(self) -> Iterator[Shape]:
        """Yield the cells, free ones before stones, whose edges are darker; the path, the ring on the last move."""
        seen = [(inside, owner, cell, at) for cell, owner in enumerate(self.cells) for at, inside in self.copies(cell)]
        for inside, owner, cell, at in sorted(seen):
            fill, edge = self.pale(self.colour(cell), inside), self.pale(EDGE[owner], inside)
            yield Polygon(self.outline(cell, at), fill, edge, EDGE_WIDTH[owner])
        yield from self.border()
        for cell in sorted(self.through):
            for at, inside in self.copies(cell):
                yield Polygon(self.outline(cell, at), None, self.pale(PATH, inside), PATH_EDGE_WIDTH)
        lines = self.lines()
        for shown in (False, True):
            for line, width in PATH_LINES:
                yield from (Polyline(ends, self.pale(line, shown), width) for inside, ends in lines if inside == shown)
        if self.last_move is not None:
            owner, radius = self.cells[self.last_move], mark_radius(small=self.small(self.last_move))
            for (x, y), inside in self.copies(self.last_move):
                yield Circle(x, y, radius, self.pale(FILL[owner], inside), self.pale(MARK[owner], inside), 0.07)

    def border(self) -> Iterable[Shape]:
        """Return shapes above the cells and below the path."""
        return ()

    def colour(self, cell: int) -> str:
        """Return the colour of a cell."""
        return self.fills.get(cell, colour(self.cells[cell], small=self.small(cell)))

    def ground(self, cell: int) -> str:
        """Return the colour of a cell when it is free."""
        return colour(0, small=self.small(cell))

    def drawn(self, title: str, fills: Mapping[int, str], above: Sequence[Shape], side: float) -> Picture:
        """Return a picture without the path, with some cells in other colours and shapes above them."""
        return replace(self, title=title, path=(), fills=fills, above=above, side=side).draw()

    def text(self, *, colour: bool = False) -> str:
        """Return the board in ASCII: rows of the first kind of cells, and between them, half a cell right, of squares.

        `x` is Black, `o` White, `.` a free cell, `,` a free square; the path's cells are capitals, the last move
        stands in brackets. With `colour` a terminal shows the path in bold yellow and free cells dimmed.
        """
        through = self.through

        def sign(cell: int) -> str:
            owner = self.cells[cell]
            shown = (",xo" if self.small(cell) else ".xo")[owner]
            style = "2" if owner == 0 else ""
            if cell in through:
                shown, style = shown.upper(), "1;33"
            if colour and style:
                shown = f"\x1b[{style}m{shown}\x1b[0m"
            return f"[{shown}]" if cell == self.last_move else f" {shown} "

        first, *between = self.rows
        lines = ["   " + " ".join(f" {chr(ord('a') + col)} " for col in range(len(first[0])))]
        for row, cells in enumerate(first):
            indent = " " * (2 * row if self.slanted else 0)
            lines.append(f"{indent}{row + 1:2} " + " ".join(map(sign, cells)))
            lines += ("     " + " ".join(map(sign, squares[row])) for squares in between if row < len(squares))
        return "\n".join(line.rstrip() for line in lines)

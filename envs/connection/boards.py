"""The boards of Hex and Y: cells, neighbours, sides, names of cells, symmetries.

Letters: `n` the size; `N` cells; `K` kinds of cells: 1 on hexagons, 2 on octagons and squares.

A board is a rhombus (Hex) or a triangle (Y). On hexagons, cell (r, c) touches (r, c±1), (r±1, c), (r+1, c-1) and
(r-1, c+1): each row is drawn half a cell to the right of the one above. On octagons and squares, octagon (r, c) touches
the four octagons (r, c±1) and (r±1, c) and the squares at its corners; square (r, c) lies at the lower right corner of
octagon (r, c). A rhombus has all rows and columns from 0 to n - 1, and squares wherever four octagons meet. A triangle
has the cells with r + c < n, and squares with r + c < n - 1, of which those on the slanted side touch three octagons.

At every corner inside a board three cells meet. That is why one player always wins a full board, and only one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, TypeAlias

from cellgames.envs.stones.stone_view import Form
from cellgames.utils.errors import InputError, shown

Shape: TypeAlias = Literal["rhombus", "triangle"]
Tiling: TypeAlias = Literal["hexagons", "octagons"]

TOP, BOTTOM, LEFT, RIGHT = 1, 2, 4, 8  # sides, bits of a mask
SLANT = BOTTOM  # the third side of a triangle

MOST_SIZE = {"hexagons": 22, "octagons": 16}
"""The largest size by tiling: a cell's number has nine bits (`joining`)."""

_HEXAGON_RING = ((0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1))
_OCTAGON_RING = ((0, 1), (0, 0), (1, 0), (0, -1), (0, -1), (-1, -1), (-1, 0), (-1, 0))
_SQUARE_RING = ((0, 0), (0, 1), (1, 1), (1, 0))
_NAME = re.compile(r"([a-z])([0-9]{1,2})(\+?)")
_SLOTS = 8

Spot: TypeAlias = tuple[int, int, int]
"""A cell as kind (1 for a square, else 0), row and column."""


@dataclass(frozen=True, eq=False)
class Board:
    """A board with its cells numbered: all cells of the first kind row by row, then all squares.

    Attributes:
        shape: rhombus or triangle.
        tiling: hexagons, or octagons and squares.
        size: rows and columns of the first kind, `n`.
    """

    shape: Shape
    tiling: Tiling
    size: int

    @cached_property
    def spots(self) -> tuple[Spot, ...]:
        """Kind, row and column of each cell."""
        spots: list[Spot] = []
        for kind in range(self.kinds):
            n = self.size - kind
            for row in range(n):
                spots += [(kind, row, col) for col in range(n if self.shape == "rhombus" else n - row)]
        return tuple(spots)

    @cached_property
    def _number(self) -> dict[Spot, int]:
        return {spot: cell for cell, spot in enumerate(self.spots)}

    @cached_property
    def rings(self) -> tuple[tuple[int | None, ...], ...]:
        """The neighbours around each cell, clockwise; None off the board."""
        return tuple(tuple(map(self._number.get, _around(self.tiling, spot))) for spot in self.spots)

    @cached_property
    def slots(self) -> tuple[tuple[int, ...], ...]:
        """Eight for each cell, four slots of two for `joining`; the cell itself where there is no neighbour."""
        slots = []
        for cell, ring in enumerate(self.rings):
            pairs = [near for near in ring for _ in range(2)] if len(ring) == 4 else ring
            slots.append(tuple(cell if near is None else near for near in [*pairs, None, None][:_SLOTS]))
        return tuple(slots)

    @cached_property
    def sides(self) -> tuple[int, ...]:
        """For each cell the mask of the sides that it lies on."""
        return tuple(_sides(self.shape, self.size, spot) for spot in self.spots)

    @cached_property
    def mirrored(self) -> tuple[int, ...]:
        """For each cell the one across the line from the upper left to the lower right corner."""
        return tuple(self._number[kind, col, row] for kind, row, col in self.spots)

    @cached_property
    def symmetries(self) -> tuple[tuple[int, ...], ...]:
        """The cell whose content comes to each cell, for every symmetry that keeps all goals; 0 moves nothing."""
        rhombus, places = self.shape == "rhombus", list[tuple[int, tuple[int, ...]]]()
        for kind, row, col in self.spots:
            end = self.size - 1 - kind
            # From one side and from the other; in a triangle the distances to its sides.
            places.append((kind, (row, col, end - row, end - col) if rhombus else (row, col, end - row - col)))
        turns = [(0, 1), (2, 3), (0, 3), (2, 1)] if rhombus else [(0, 1), (1, 0), (0, 2), (1, 2), (2, 0), (2, 1)]
        all_keep = rhombus == (self.tiling == "octagons")
        return tuple(
            tuple(self._number[kind, at[row], at[col]] for kind, at in places)
            for row, col in (turns if all_keep else turns[:2])
        )

    @property
    def cells(self) -> int:
        """The number of cells, `N`."""
        return len(self.spots)

    @property
    def kinds(self) -> int:
        """The number of kinds of cells, `K`."""
        return 1 if self.tiling == "hexagons" else 2

    @property
    def swapped(self) -> tuple[int, ...]:
        """The cell on which the second player's stone stands after a swap, for the cell of the first stone."""
        return self.mirrored if self.shape == "rhombus" else tuple(range(self.cells))

    @property
    def goals(self) -> tuple[int, int]:
        """The sides that Black has to connect, and those of White."""
        return (TOP | BOTTOM, LEFT | RIGHT) if self.shape == "rhombus" else (TOP | LEFT | SLANT,) * 2

    @cached_property
    def form(self) -> Form:
        """The form of the board in pictures."""
        return Form(self.spots, self.tiling == "hexagons")

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The neighbours of each cell, clockwise."""
        return tuple(tuple(near for near in ring if near is not None) for ring in self.rings)

    def across(self, cell: int, place: int) -> int:
        """Return the side of the board that lies across an outer edge: that to a place of the cell's ring."""
        kind, row, col = _around(self.tiling, self.spots[cell])[place]
        if self.shape == "triangle":
            return TOP if row < 0 else LEFT if col < 0 else SLANT
        return TOP if row < 0 else BOTTOM if row >= self.size - kind else LEFT if col < 0 else RIGHT

    def name(self, cell: int) -> str:
        """Return `c4` for the cell in column c, row 4; `c4+` for the square at that octagon's lower right corner."""
        if not 0 <= cell < self.cells:
            raise InputError("cell", f"a cell from 0 to {self.cells - 1}", cell)
        kind, row, col = self.spots[cell]
        return f"{chr(ord('a') + col)}{row + 1}{'+' * kind}"

    def cell(self, name: str) -> int:
        """Return the cell called `name`; the inverse of `name`."""
        match = _NAME.fullmatch(name.strip().lower())
        if match is None:
            examples = "'b1'" if self.kinds == 1 else "'b1' (octagon) or 'a1+' (square)"
            raise InputError("cell", f"a cell such as {examples}", shown(name))
        spot = (len(match[3]), int(match[2]) - 1, ord(match[1]) - ord("a"))
        found = self._number.get(spot)
        if found is None:
            last = self.name(sum(kind == 0 for kind, _, _ in self.spots) - 1)
            raise InputError("cell", f"a cell of the board, from {self.name(0)} to {last}", shown(name))
        return found


@cache
def board(shape: Shape, tiling: Tiling, size: int) -> Board:
    """Return the board of a shape, a tiling and a size; made once."""
    return Board(shape, tiling, size)


def _around(tiling: Tiling, spot: Spot) -> list[Spot]:
    """Return the neighbours of a cell, clockwise, on a board without sides."""
    kind, row, col = spot
    if tiling == "hexagons":
        return [(0, row + down, col + right) for down, right in _HEXAGON_RING]
    if kind == 0:
        return [(i % 2, row + down, col + right) for i, (down, right) in enumerate(_OCTAGON_RING)]
    return [(0, row + down, col + right) for down, right in _SQUARE_RING]


def _sides(shape: Shape, size: int, spot: Spot) -> int:
    kind, row, col = spot
    if shape == "triangle":
        straight = 0 if kind else TOP * (row == 0) | LEFT * (col == 0)
        return straight | SLANT * (row + col == size - 1 - kind)
    if kind:
        return 0
    return TOP * (row == 0) | BOTTOM * (row == size - 1) | LEFT * (col == 0) | RIGHT * (col == size - 1)

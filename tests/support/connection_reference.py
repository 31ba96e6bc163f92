"""A slow, plain reference of Hex and Y, to test the fast rules against.

It shares no code and no table with the rules it checks. A board is a drawing: each cell is the point in the plane where
its centre is drawn. Cells touch if their centres are as near as those of two cells with a common edge. A side is the
set of cells on a line. After every move it searches the whole board.

    hexagons     (r, c) at x = c + r / 2, y = r sqrt(3) / 2; those that touch are 1 apart
    octagons     (r, c) at x = c, y = r; those that touch are 1 apart
    squares      at x = c + 1/2, y = r + 1/2; they touch octagons sqrt(1/2) away
"""

from __future__ import annotations

from itertools import product
from math import dist, isclose, sqrt

from groups import groups

Cell = tuple[int, int, int]
"""Kind (1 for a square), row, column."""


def cells_of(shape: str, tiling: str, size: int) -> list[Cell]:
    """All cells, in the order of their numbers."""
    found = []
    for kind, row, col in product((0, 1), range(size), range(size)):
        if kind and tiling == "hexagons":
            continue
        # A square needs the octagons to its right and below.
        inside = (row + col if shape == "triangle" else max(row, col)) + kind < size
        if inside:
            found.append((kind, row, col))
    return found


def centre(cell: Cell, tiling: str) -> tuple[float, float]:
    """Where a cell is drawn."""
    kind, row, col = cell
    if tiling == "hexagons":
        return col + row / 2, row * sqrt(3) / 2
    return col + kind / 2, row + kind / 2


def touch(one: Cell, other: Cell, tiling: str) -> bool:
    """Whether two cells have an edge in common."""
    if one[0] and other[0]:
        return False
    apart = sqrt(1 / 2) if one[0] or other[0] else 1.0
    return isclose(dist(centre(one, tiling), centre(other, tiling)), apart)


def goals(shape: str, cells: list[Cell]) -> tuple[list[set[Cell]], list[set[Cell]]]:
    """The sides that Black has to connect, and those of White."""
    octagons = [cell for cell in cells if cell[0] == 0]
    last = max(row for _, row, _ in octagons)
    top, left = {c for c in octagons if c[1] == 0}, {c for c in octagons if c[2] == 0}
    if shape == "triangle":
        # The cells furthest from the corner; a square lies further away than its numbers say.
        slanted = {(kind, row, col) for kind, row, col in cells if row + col + kind == last}
        return ([top, left, slanted],) * 2
    return [top, {c for c in octagons if c[1] == last}], [left, {c for c in octagons if c[2] == last}]


def has_won(stones: set[Cell], sides: list[set[Cell]], tiling: str) -> bool:
    """Whether a group of these stones touches all sides."""
    found = groups(stones, lambda cell, left: {other for other in left if touch(cell, other, tiling)})
    return any(all(side.intersection(group) for side in sides) for group in found)

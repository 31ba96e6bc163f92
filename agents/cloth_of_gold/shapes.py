"""Shapes of Life that agents place in Cloth of Gold.

Names and shapes as in the LifeWiki (conwaylife.com); Life and its first shapes are John Horton Conway's.
"""

from __future__ import annotations

from functools import cache

from cellgames.envs.boards.orientations import Cell, orientations, parse_cells

SHAPES: dict[str, str] = {
    # Still lifes hold units and territory.
    "block": "oo/oo",
    "tub": ".o./o.o/.o.",
    "boat": "oo./o.o/.o.",
    "ship": "oo./o.o/.oo",
    "beehive": ".oo./o..o/.oo.",
    "loaf": ".oo./o..o/.o.o/..o.",
    "pond": ".oo./o..o/o..o/.oo.",
    "eater": "oo../o.o./..o./..oo",
    # Oscillators do too.
    "blinker": "ooo",
    "toad": ".ooo/ooo.",
    "beacon": "oo../oo../..oo/..oo",
    # Spaceships go to the other side.
    "glider": ".o./..o/ooo",
    "lightweight spaceship": ".o..o/o..../o...o/oooo.",
    # Seeds grow, for some time at least.
    "t-tetromino": "ooo/.o.",
    "r-pentomino": ".oo/oo./.o.",
    "pi-heptomino": "ooo/o.o/o.o",
    "b-heptomino": "o.oo/ooo./.o..",
    "acorn": ".o...../...o.../oo..ooo",
}
"""Live cells `o` of each row."""


@cache
def shape_forms(name: str) -> tuple[tuple[Cell, ...], ...]:
    """Return all different turned and mirrored forms of a shape, each as (row, column) from its first cell.

    The first cell lies near the middle, and every other one within a king's move or two of one before it.
    """
    return tuple(_from_the_middle(form) for form in sorted(set(orientations(parse_cells(SHAPES[name])))))


def _from_the_middle(form: tuple[Cell, ...]) -> tuple[Cell, ...]:
    middle = tuple(sum(values) / len(form) for values in zip(*form, strict=True))
    row, col = min(form, key=lambda cell: (cell[0] - middle[0]) ** 2 + (cell[1] - middle[1]) ** 2)
    return tuple(sorted(((r - row, c - col) for r, c in form), key=lambda cell: cell[0] ** 2 + cell[1] ** 2))

"""Join stones to groups at the move that connects them: the arithmetic of all connection games of the suite.

Everything here is written once and runs on two hosts: on tensors (a batch of games) and on plain Python
integers (one game outside a batch, where a tensor operation costs more than the whole move). So it uses only
`+ - * & | >>`, comparisons and a `where(condition, a, b)` that the host hands in; `x` below is either an
integer or a tensor of any shape.

Each cell holds one `code`, 0 if free, else the sum of

    colour          1 Black, 2 White                                        bits 0-1
    4 * root        a cell that names the connected group                   bits 2-10
    2048 * more     what a game knows of the cell within its group          above

A cell has at most eight neighbours, which are looked at in four slots of two. Cells that follow each other around a
cell touch, so the second neighbour of a slot says something new only where the first is not the mover's. Joining two
groups adds one number to every cell of one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

BLACK, WHITE = 1, 2
COLOUR = 3  # mask of the colour in a code
GROUP = 2047  # mask of colour and root: equal for cells of one group, 0 for a free cell
MORE_SHIFT = 11

X = Any  # an int, or a tensor; see the module's docstring
Where = Callable[[X, X, X], X]


def lone(cell: X, colour: X) -> X:
    """Return the code of a stone that touches none of its colour: a group whose root it is."""
    return colour + 4 * cell


def frame(first: X, second: X, colour: X, where: Where) -> X:
    """Return the code of a slot: the first neighbour's code if it is of `colour`, else the second's, else 0.

    A game may have added something to both codes that the new stone needs to know (Torus: the winding of the step), to
    those of free cells and of the opponent as well.
    """
    return where((first & COLOUR) == colour, first, where((second & COLOUR) == colour, second, 0))


def join(frames: Sequence[X], stone: X, where: Where) -> tuple[X, list[X], list[X]]:
    """Put a stone among its neighbours.

    Args:
        frames: codes of the four slots (`frame`).
        stone: `lone(cell, colour)`.
        where: the host's choice.

    Returns:
        The stone's code; the groups of the last three slots (as `code & GROUP`) and the numbers to add to the codes of
        their cells, 0 where nothing joins.
    """
    a, b, c, d = frames
    code = where(a != 0, a, where(b != 0, b, where(c != 0, c, where(d != 0, d, stone))))
    groups = [frame & GROUP for frame in frames]
    first, second, third, fourth = groups
    # A slot's shift: only where its group has not been seen in a slot before.
    shifts = [
        where((second != 0) & (second != first), code - b, 0),
        where((third != 0) & (third != first) & (third != second), code - c, 0),
        where((fourth != 0) & (fourth != first) & (fourth != second) & (fourth != third), code - d, 0),
    ]
    return code, groups[1:], shifts


def choose(condition: bool, yes: int, no: int) -> int:
    """Return `yes` or `no`: the `where` of plain integers."""
    return yes if condition else no

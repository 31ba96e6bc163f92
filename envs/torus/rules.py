"""The rules of Torus: joining groups, finding cycles, judging them. Game by Mark Steere.

Everything here is written once and runs on two hosts: on tensors (a batch of games) and on plain Python
integers (one game outside a batch, where a tensor operation costs more than the whole move). So it uses only
`+ - * & | >>`, comparisons and a `where(condition, a, b)` that the host hands in; `x` below is either an
integer or a tensor of any shape.

Each cell holds one `code`, 0 if free, else the sum of

    colour          1 Black, 2 White                                        bits 0-1
    4 * root        a cell that names the connected group                   bits 2-10
    2048 * offset   how often the way from the root to here winds round     above
                    offset = right + 256 * down, both counted with sign

The offset says in which copy of the board this cell lies when the group is unrolled on the plane, starting
at the root. A neighbour's code less the winding of the step to it is this cell's code in the neighbour's
*frame*. Two frames of one group that differ, differ by a closed path: that is how a new cycle is seen at the
move that closes it. Joining two groups adds one difference of frames to every cell of one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .geometry import neighbours

__all__ = [
    "BLACK",
    "COLOUR",
    "GROUP",
    "OFFSET_SHIFT",
    "WHITE",
    "choose",
    "closed",
    "frame",
    "goal",
    "join",
    "keep",
    "lone",
    "slots",
    "wins",
]

BLACK, WHITE = 1, 2
COLOUR = 3  # mask of the colour in a code
GROUP = 2047  # mask of colour and root: equal for cells of one group, 0 for a free cell
OFFSET_SHIFT = 11
_DOWN_SHIFT = 8
_HALF = 1 << (_DOWN_SHIFT - 1)  # offsets stay far below: a group winds at most 2n <= 32 times

X = Any  # an int, or a tensor; see the module's docstring
Where = Callable[[X, X, X], X]


def slots(size: int) -> list[list[tuple[int, int]]]:
    """Return for each cell eight pairs (neighbour, what to add to its code to see it in this cell's frame).

    They are four slots of two: an octagon, then the square clockwise beside it. Cells that follow each other
    around a cell touch, so a square between two octagons says something new only where both are not the
    mover's; it is enough to look at it when the octagon before it is not. Squares have four octagons, given
    twice.
    """
    table = []
    for ring in neighbours(size):
        edges = ring if len(ring) == 8 else [edge for edge in ring for _ in range(2)]
        table.append([(e.cell, -((e.right + (e.down << _DOWN_SHIFT)) << OFFSET_SHIFT)) for e in edges])
    return table


def lone(cell: X, colour: X) -> X:
    """Return the code of a stone that touches none of its colour: a group whose root it is."""
    return colour + 4 * cell


def frame(octagon: X, square: X, colour: X, where: Where) -> X:
    """Return what a slot says: the octagon's code if it is of `colour`, else the square's, else 0.

    Both codes are seen in the new stone's frame; the shift for that has been added to free cells and to the
    opponent's as well.
    """
    return where((octagon & COLOUR) == colour, octagon, where((square & COLOUR) == colour, square, 0))


def join(frames: Sequence[X], stone: X, where: Where) -> tuple[X, list[X], list[X], list[X]]:
    """Put a stone among its neighbours.

    Args:
        frames: what the four slots say (`frame`).
        stone: `lone(cell, colour)`.
        where: the host's choice.

    Returns:
        The stone's code; three groups (as `code & GROUP`) and what to add to the codes of their cells, 0 where
        nothing joins; three cycle classes that the stone closes (offsets, 0 where none).
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
    return code, groups[1:], shifts, closed(frames, groups, where)


def closed(frames: Sequence[X], groups: Sequence[X], where: Where) -> list[X]:
    """Return three cycle classes that a stone among its neighbours closes: offsets, 0 where none.

    Args:
        frames: what the four slots say (`frame`).
        groups: `frame & GROUP` for each.
        where: the host's choice.
    """
    a, b, c, d = frames
    first, second, third, fourth = groups
    # A slot's cycle: its frame against that of the first slot of the same group (0 where the slot is empty).
    cycles = (
        where(second == first, a - b, 0),
        where(third == first, a - c, where(third == second, b - c, 0)),
        where(fourth == first, a - d, where(fourth == second, b - d, where(fourth == third, c - d, 0))),
    )
    return [cycle >> OFFSET_SHIFT for cycle in cycles]


def _windings(offset: X) -> tuple[X, X]:
    """Return how often a closed path winds right and down."""
    right = ((offset + _HALF) & (2 * _HALF - 1)) - _HALF
    return right, (offset - right) >> _DOWN_SHIFT


def keep(cycles: Sequence[X], losing: X, where: Where) -> X:
    """Return the class of the game's first cycle around the torus: `losing` if there is one, else the first new one.

    In a game that goes on it has not won for its owner.

    One class a game is enough: cycles of different groups are disjoint, so they are parallel, and what loses for
    one colour wins for the other.
    """
    first, second, third = cycles
    return where(losing != 0, losing, where(first != 0, first, where(second != 0, second, third)))


def wins(cycle: X, kept: X, colour: X, where: Where) -> X:
    """Return where a new cycle wins for `colour`.

    Black wins by a ring (right = 0, down != 0) or an r-helix (right * down > 0), White by a bracelet
    (down = 0, right != 0) or an l-helix (right * down < 0). A cycle of another kind belongs to its owner's goal
    only together with one that is not parallel to it, for then the group holds every class.

    Args:
        cycle: a class that the move has closed, 0 for none.
        kept: what `keep` gives after the move.
        colour: the mover's.
        where: the host's choice.
    """
    right, down = _windings(cycle)
    kept_right, kept_down = _windings(kept)
    skew = right * kept_down != down * kept_right
    return goal(right, down, colour, where) | skew


def goal(right: X, down: X, colour: X, where: Where) -> X:
    """Return where a closed path that winds so often is one of `colour`'s goals: the table of `wins`, row by row."""
    return (where(colour == BLACK, down, right) != 0) & ((3 - 2 * colour) * right * down >= 0)


def choose(condition: bool, yes: int, no: int) -> int:
    """Return `yes` or `no`: the `where` of plain integers."""
    return yes if condition else no

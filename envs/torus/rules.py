"""The rules of Torus: joining groups, finding cycles, judging them. Game by Mark Steere.

Like `stones.joining`, whose `join` puts a stone among its neighbours, everything here runs on tensors and on plain
integers. The bits of a code above its group are an

    offset   number of times that the way from the root to here winds round:
             offset = right + 256 * down, both counted with sign

The offset says in which copy of the board this cell lies when the group is unrolled on the plane, starting
at the root. A neighbour's code less the winding of the step to it is this cell's code in the neighbour's
*frame*. Two frames of one group that differ, differ by a closed path: that is how a new cycle is seen at the
move that closes it. Joining two groups adds one difference of frames to every cell of one of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from cellgames.envs.stones.joining import BLACK, GROUP, MORE_SHIFT, Where, X

from .geometry import neighbours

_DOWN_SHIFT = 8
_HALF = 1 << (_DOWN_SHIFT - 1)  # offsets stay far below: a group winds at most 2n <= 32 times


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
        table.append([(e.cell, -((e.right + (e.down << _DOWN_SHIFT)) << MORE_SHIFT)) for e in edges])
    return table


def closed(frames: Sequence[X], where: Where) -> list[X]:
    """Return three cycle classes that a stone among its neighbours closes: offsets, 0 where none.

    Args:
        frames: codes of the four slots (`joining.frame`), seen in the new stone's frame.
        where: the host's choice.
    """
    a, b, c, d = frames
    first, second, third, fourth = (frame & GROUP for frame in frames)
    # A slot's cycle: its frame against that of the first slot of the same group (0 where the slot is empty).
    cycles = (
        where(second == first, a - b, 0),
        where(third == first, a - c, where(third == second, b - c, 0)),
        where(fourth == first, a - d, where(fourth == second, b - d, where(fourth == third, c - d, 0))),
    )
    return [cycle >> MORE_SHIFT for cycle in cycles]


def _windings(offset: X) -> tuple[X, X]:
    """Return the numbers of windings of a closed path to the right and down."""
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
    """Return a mask of games in which a new cycle wins for `colour`.

    Black wins by a ring (right = 0, down != 0) or an r-helix (right * down > 0), White by a bracelet
    (down = 0, right != 0) or an l-helix (right * down < 0). A cycle of another kind belongs to its owner's goal
    only together with one that is not parallel to it, for then the group holds every class.

    Args:
        cycle: a class that the move has closed, 0 for none.
        kept: result of `keep` after the move.
        colour: the mover's.
        where: the host's choice.
    """
    right, down = _windings(cycle)
    kept_right, kept_down = _windings(kept)
    skew = right * kept_down != down * kept_right
    return goal(right, down, colour, where) | skew


def goal(right: X, down: X, colour: X, where: Where) -> X:
    """Return a mask of closed paths whose windings are a goal of `colour`: the table of `wins`, row by row."""
    return (where(colour == BLACK, down, right) != 0) & ((3 - 2 * colour) * right * down >= 0)

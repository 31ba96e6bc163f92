"""The rules of Hex and Y on the arithmetic of `joining`, for tensors and for plain integers.

What a code holds above its group is the mask of the sides that the group touches. Joining groups joins their masks, and
a group that touches all sides of its owner's goal has won.
"""

from __future__ import annotations

from collections.abc import Sequence

from cellgames.envs.stones.joining import GROUP, MORE_SHIFT, Where, X, join, lone


def placed(cell: X, colour: X, touched: X) -> X:
    """Return the code of a stone that touches none of its colour, on a cell that lies on some sides."""
    return lone(cell, colour) + (touched << MORE_SHIFT)


def sides(code: X) -> X:
    """Return the mask of the sides that a code's group touches."""
    return code >> MORE_SHIFT


def connect(frames: Sequence[X], stone: X, where: Where) -> tuple[X, list[X], list[X]]:
    """Put a stone among its neighbours.

    Args:
        frames: codes of the four slots (`joining.frame`).
        stone: `placed(cell, colour, touched)`.
        where: the host's choice.

    Returns:
        The stone's code, which holds all sides that its group touches now; four groups (as `code & GROUP`), the one
        that takes the others over first, and the numbers to add to the codes of their cells.
    """
    a, b, c, d = frames
    code, groups, shifts = join(frames, stone, where)
    grown = (sides(a) | sides(b) | sides(c) | sides(d) | sides(stone)) - sides(code) << MORE_SHIFT
    shifts = [where(shift != 0, shift + grown, 0) for shift in shifts]
    return code + grown, [code & GROUP, *groups], [grown, *shifts]

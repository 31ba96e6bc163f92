"""Counts of neighbours on boards whose rows lie in one word, as integers or as words of tensors.

Right of every row there is a spare column that is always empty, so that rows need no masks when they move sideways.
"""

from __future__ import annotations

from typing import TypeVar

from torch import Tensor

W = TypeVar("W", Tensor, int)


def counts(boards: W, above: W, below: W, bits: int) -> tuple[W, ...]:
    """Return the number of live neighbours of each cell, modulo 2 ** bits (1 to 3), as bit planes, ones first.

    In `above` every row is moved to the next one, in `below` to the one before. Trim the counts beside the board.
    """
    ones, twos = above ^ below, above & below
    column, pair = ones ^ boards, (ones & boards) | twos  # of three, with the cell itself: for the cells beside it
    left, right = column << 1, column >> 1
    either = left ^ right
    low, carry = either ^ ones, (either & ones) | (left & right)
    left, right = pair << 1, pair >> 1
    sides, middle = left ^ right, twos ^ carry
    if bits < 3:
        return (low, sides ^ middle)[:bits]
    return low, sides ^ middle, (left & right) ^ (twos & carry) ^ (sides & middle)

"""A position as one line of text: the rows of each kind of cells, and who moves. Torus writes its positions so, too."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from cellgames.utils.errors import InputError, listed, shown

STONES = ".xo"
"""Marks of cells: free, Black, White."""

MOVERS = "bw"
"""Marks of the player to move."""


def position_to_string(cells: Sequence[int], player: int, widths: Sequence[Sequence[int]]) -> str:
    """Return `x.o/.../..x .../.o./... b` for cells and the player to move.

    Args:
        cells: 0 free, 1 Black, 2 White, by cell index.
        player: 0 Black, 1 White.
        widths: for each kind of cells the lengths of its rows, in the order of the cells.
    """
    marks = iter("".join(STONES[cell] for cell in cells))
    parts = ["/".join("".join(islice(marks, width)) for width in rows) for rows in widths]
    return f"{' '.join(parts)} {MOVERS[player]}"


def string_to_position(text: str, widths: Sequence[Sequence[int]], size: int) -> tuple[list[int], int]:
    """Return cells and player of a line by `position_to_string`; `size` is the board's, for messages."""
    example = position_to_string([0] * sum(map(sum, widths)), 0, widths)
    parts = text.split()
    shape = [[len(row) for row in part.split("/")] for part in parts[: len(widths)]]
    if len(parts) != len(widths) + 1 or shape != [list(rows) for rows in widths] or parts[-1] not in list(MOVERS):
        raise InputError("position", f"a position of size {size} such as {shown(example, 150)}", shown(text))
    marks = "".join(parts[:-1]).replace("/", "")
    if strange := set(marks) - set(STONES):
        raise InputError("position", f"cells {', '.join(STONES)}", f"{listed(sorted(strange))} in {shown(text)}")
    return [STONES.index(mark) for mark in marks], MOVERS.index(parts[-1])

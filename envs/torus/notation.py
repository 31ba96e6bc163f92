"""A position as one line of text: rows of octagons, rows of squares, and who moves."""

from __future__ import annotations

from collections.abc import Sequence

from cellgames.utils.foreign_text import listed, shown

__all__ = ["position_to_string", "string_to_position"]

_STONES = ".xo"  # free, Black, White
_MOVERS = "bw"


def position_to_string(cells: Sequence[int], player: int, size: int) -> str:
    """Return `x.o/.../..x .../.o./... b` for cells (0 free, 1 Black, 2 White, by cell index) and the player to move."""
    marks = "".join(_STONES[cell] for cell in cells)
    rows = [marks[start : start + size] for start in range(0, len(marks), size)]
    return f"{'/'.join(rows[:size])} {'/'.join(rows[size:])} {_MOVERS[player]}"


def string_to_position(text: str, size: int) -> tuple[list[int], int]:
    """Return cells and player of a line by `position_to_string`."""
    example = position_to_string([0] * (2 * size * size), 0, size)
    parts = text.split()
    shape = [[len(row) for row in part.split("/")] for part in parts[:2]]
    if len(parts) != 3 or shape != [[size] * size] * 2 or parts[2] not in list(_MOVERS):
        raise ValueError(f"expected a position of size {size} such as {shown(example, 150)}, got {shown(text)}")
    marks = (parts[0] + parts[1]).replace("/", "")
    if strange := set(marks) - set(_STONES):
        raise ValueError(f"expected cells {', '.join(_STONES)}, got {listed(sorted(strange))} in {shown(text)}")
    return [_STONES.index(mark) for mark in marks], _MOVERS.index(parts[2])

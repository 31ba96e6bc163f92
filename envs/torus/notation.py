"""A position as one line of text: rows of octagons, rows of squares, and who moves."""

from __future__ import annotations

from collections.abc import Sequence

from cellgames.envs.stones import row_notation

__all__ = ["position_to_string", "string_to_position", "widths"]


def position_to_string(cells: Sequence[int], player: int, size: int) -> str:
    """Return `x.o/.../..x .../.o./... b` for cells (0 free, 1 Black, 2 White, by cell index) and the player to move."""
    return row_notation.position_to_string(cells, player, widths(size))


def string_to_position(text: str, size: int) -> tuple[list[int], int]:
    """Return cells and player of a line by `position_to_string`."""
    return row_notation.string_to_position(text, widths(size), size)


def widths(size: int) -> list[list[int]]:
    """Return the lengths of the rows of octagons, and of those of squares."""
    return [[size] * size] * 2

"""Dilation: spread every live cell of a board to a set of cells around it, by moving whole boards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from torch import Tensor


class Footprint:
    """Cells around a cell, and the order in which a board is spread to them.

    A span of `n` columns around the cell takes about log2 n moves, or two from the next smaller span; after that
    each row takes one.

    Args:
        offsets: pairs of rows down and columns right from the cell.
    """

    def __init__(self, offsets: Iterable[tuple[int, int]]) -> None:
        self.offsets = frozenset(offsets)
        columns: dict[int, set[int]] = {}
        for row, col in self.offsets:
            columns.setdefault(row, set()).add(col)
        rows: dict[tuple[int, int], list[int]] = {}
        for row, reached in sorted(columns.items()):
            for span in _runs(reached):
                rows.setdefault(span, []).append(row)
        self._spans = sorted(rows.items(), key=lambda item: item[0][1] - item[0][0])

    def apply(self, board: Tensor, shift: Callable[[Tensor, int, int], Tensor]) -> Tensor:
        """Return the board with every live cell spread.

        Args:
            board: bitboards.
            shift: moves all cells by rows down and columns right; those that leave the board are gone.
        """
        grown = board ^ board
        left, right, moved = 0, 0, board
        for (first, last), rows in self._spans:
            if first > 0 or last < 0:
                part = board ^ board
                for col in range(first, last + 1):
                    part = part | shift(board, 0, col)
            else:
                if not first <= left <= right <= last:
                    left, right, moved = 0, 0, board
                while right < last:  # a longer hop would miss cells that are reached from beyond the edge
                    hop = min(right + 1, last - right)
                    moved, right = moved | shift(moved, 0, hop), right + hop
                while left > first:
                    hop = min(1 - left, left - first)
                    moved, left = moved | shift(moved, 0, -hop), left - hop
                part = moved
            for row in rows:
                grown = grown | (shift(part, row, 0) if row else part)
        return grown


def _runs(columns: set[int]) -> Iterator[tuple[int, int]]:
    """Return consecutive numbers as (first, last)."""
    starts = sorted(c for c in columns if c - 1 not in columns)
    ends = sorted(c for c in columns if c + 1 not in columns)
    return zip(starts, ends, strict=True)

"""Patterns of cells as text, and their rotated and mirrored forms."""

from __future__ import annotations

from collections.abc import Iterable

Cell = tuple[int, int]
"""Row and column."""


def parse_cells(text: str) -> list[Cell]:
    """Return the cells `o` of rows such as `.oo/oo./.o.`."""
    return [(row, col) for row, line in enumerate(text.split("/")) for col, sign in enumerate(line) if sign == "o"]


def orientations(cells: Iterable[Cell]) -> list[tuple[Cell, ...]]:
    """Return the eight rotated and mirrored forms, each moved to row 0 and column 0, its cells in order."""
    turned, forms = list(cells), []
    for _ in range(4):
        turned = [(col, -row) for row, col in turned]
        for form in (turned, [(row, -col) for row, col in turned]):
            top, left = (min(axis, default=0) for axis in zip(*form, strict=True))
            forms.append(tuple(sorted((row - top, col - left) for row, col in form)))
    return forms

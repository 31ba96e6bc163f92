"""Shapes of cells, wherever they lie and however they are turned: canonical forms and names."""

from __future__ import annotations

from collections.abc import Iterable

from cellgames.agents.cloth_of_gold.turns import SHAPES
from cellgames.envs.boards.orientations import Cell, orientations, parse_cells


def canonical(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return the least of the eight rotated and mirrored forms, moved to row 0 and column 0, its cells in order."""
    # Wide before high, as people draw them.
    return min(orientations(cells), key=lambda form: (max(row for row, _ in form), form))


def text(cells: Iterable[Cell]) -> str:
    """Return rows of `o` and `.`, such as `.oo/oo./.o.`."""
    known = set(cells)
    rows, cols = (1 + max(axis) for axis in zip(*known, strict=True))
    return "/".join("".join("o" if (row, col) in known else "." for col in range(cols)) for row in range(rows))


def groups(cells: Iterable[Cell], reach: int) -> list[tuple[Cell, ...]]:
    """Split cells into groups: cells within `reach` king's moves of each other belong together."""
    left, found = set(cells), []
    while left:
        group, edge = [], [left.pop()]
        while edge:
            row, col = edge.pop()
            group.append((row, col))
            near = {(r, c) for r, c in left if abs(r - row) <= reach and abs(c - col) <= reach}
            left -= near
            edge += near
        found.append(tuple(sorted(group)))
    return sorted(found)


_NAMES = {canonical(parse_cells(rows)): name for name, rows in SHAPES.items()}


def named(cells: Iterable[Cell]) -> str:
    """Return the usual name of a shape that the suite's agents know, `cell` for a single one, else its `text`."""
    form = canonical(cells)
    return "cell" if len(form) == 1 else _NAMES.get(form, text(form))

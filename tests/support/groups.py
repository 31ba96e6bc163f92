"""Connected groups of cells, for references that look at whole boards."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

C = TypeVar("C")


def groups(cells: Iterable[C], touching: Callable[[C, set[C]], set[C]]) -> list[list[C]]:
    """Return the groups; `touching` gives those cells of a set that touch a cell."""
    left, found = set(cells), list[list[C]]()
    while left:
        group = [left.pop()]
        for cell in group:  # grows on the way
            near = touching(cell, left)
            left -= near
            group.extend(near)
        found.append(group)
    return found

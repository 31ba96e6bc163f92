"""The patterns of Life that the page offers where any cells may be placed, by their usual names.

Cells are those of the census (`census.object_names`) and of the Cup's stamps, so that a pattern has one name and one
form everywhere. An object that moves or pulsates is offered in the phase with the fewest cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

from cellgames.envs.boards.apgcode import cells_of
from cellgames.envs.boards.object_names import NAMES
from cellgames.envs.boards.orientations import Cell
from cellgames.envs.toroidal_cup.patterns.stamps import grid, usual_name

_STAMPS = {  # of the Cup that live long, by their usual names
    usual_name(stamp): stamp
    for stamp in (
        *("rpentomino", "piheptomino", "bheptomino", "cheptomino", "eheptomino"),
        *("rabbit", "multuminparvo", "switchengine"),
    )
}
_DRAWN = {  # that are neither an object of a census nor a stamp of the Cup; as in the Life Lexicon
    "acorn": (".o.....", "...o...", "oo..ooo"),
    "die hard": ("......o.", "oo......", ".o...ooo"),
}

GROUPS = {
    "Still lifes": ("block", "beehive", "loaf", "boat", "tub", "ship", "pond", "eater 1"),
    "Oscillators": ("blinker", "toad", "beacon", "clock", "figure eight", "pentadecathlon", "pulsar"),
    "Spaceships": ("glider", "lightweight spaceship", "middleweight spaceship", "heavyweight spaceship"),
    "Methuselahs": (*_STAMPS, *_DRAWN),
}
"""Names by kind, in the order in which the page offers them."""

_PERIODS = 60  # generations after which an object has shown all its phases


@cache
def patterns() -> list[dict[str, Any]]:
    """Return the groups: `group`, and `patterns`, each with `name` and `cells`, pairs of row and column from 0 on."""
    return [
        {"group": group, "patterns": [{"name": name, "cells": sorted(map(list, _cells(name)))} for name in names]}
        for group, names in GROUPS.items()
    ]


def _cells(name: str) -> set[Cell]:
    """Return the cells of a pattern, whose box begins at (0, 0)."""
    if name in _STAMPS:
        rows, cols = grid(_STAMPS[name]).nonzero()
        return set(zip(rows.tolist(), cols.tolist(), strict=True))
    if name in _DRAWN:
        return {(row, col) for row, line in enumerate(_DRAWN[name]) for col, cell in enumerate(line) if cell == "o"}
    code = next(code for code, usual in NAMES.items() if usual == name)
    fewest = now = set(cells_of(code))
    for _ in range(_PERIODS):
        now = _next(now)
        if len(now) < len(fewest):
            fewest = now
    top, left = (min(axis) for axis in zip(*fewest, strict=True))
    return {(row - top, col - left) for row, col in fewest}


def _next(live: Iterable[Cell]) -> set[Cell]:
    """Return the next generation on a plane without end."""
    cells = set(live)
    near = Counter(
        (row + down, col + right) for row, col in cells for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right
    )
    return {cell for cell, count in near.items() if count == 3 or (count == 2 and cell in cells)}

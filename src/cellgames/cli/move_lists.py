"""Long lists of legal moves, short enough to read: cells in rows and columns are written as ranges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["brief_moves"]

_ENOUGH = 50
"""Moves up to which all names are written, also those of cells in rows and columns."""

_CELL = re.compile(r"(\D?)r(\d+)c(\d+)(?:/(\d+))?")


def brief_moves(names: Sequence[str]) -> list[str]:
    """Return paragraphs that name all of these moves.

    Many cells such as r3c5, or placements such as r3c5/2, are written as rows, columns and turns:
    "r0-r14: c0-c14", or "r2, r6 ... r22: c2, c6 ... c22, each with /0-/7".
    """
    found = [_CELL.fullmatch(name) for name in names]
    if len(names) <= _ENOUGH or not any(found):
        return [" ".join(names)]
    rows: dict[tuple[str, int], dict[int, list[int]]] = {}
    for cell in found:
        if cell is not None:
            turns = rows.setdefault((cell[1], int(cell[2])), {}).setdefault(int(cell[3]), [])
            turns += [] if cell[4] is None else [int(cell[4])]
    alike: dict[tuple[str, str], list[int]] = {}
    for (sign, row), columns in rows.items():
        alike.setdefault((sign, _columns(columns)), []).append(row)
    lines = [f"{sign}{_ranges('r', numbers)}: {columns}" for (sign, columns), numbers in alike.items()]
    others = [name for name, cell in zip(names, found, strict=True) if cell is None]
    return lines + ([" ".join(others)] if others else [])


def _columns(columns: dict[int, list[int]]) -> str:
    """Return the cells of one row; those with the same turns together."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for column, turns in columns.items():
        alike.setdefault(tuple(sorted(turns)), []).append(column)
    return "; ".join(
        _ranges("c", numbers) + (f", each with {_ranges('/', turns)}" if turns else "")
        for turns, numbers in alike.items()
    )


def _ranges(sign: str, numbers: Iterable[int]) -> str:
    """Return numbers as ranges: c0-c14; with equal gaps c2, c6 ... c22."""
    left, parts = sorted(numbers), []
    while left:
        gap = left[1] - left[0] if len(left) > 1 else 1
        end = 1
        while end < len(left) and left[end] - left[end - 1] == gap:
            end += 1
        end = end if end > 2 or gap == 1 else 1
        run, left = left[:end], left[end:]
        if len(run) > 3 and gap > 1:
            parts.append(f"{sign}{run[0]}, {sign}{run[1]} ... {sign}{run[-1]}")
        elif len(run) > 2 and gap == 1:
            parts.append(f"{sign}{run[0]}-{sign}{run[-1]}")
        else:
            parts += [f"{sign}{number}" for number in run]
    return ", ".join(parts)

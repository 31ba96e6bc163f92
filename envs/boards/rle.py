"""Boards and patterns as text, and the rotated and mirrored forms of patterns.

Boards of a few states are one word, written as Golly writes patterns of several states.

Rows of runs (`12.3A` is 12 empty cells and 3 of state 1), `$` between rows, nothing after a row's last cell that is
not empty, `!` at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

Cell = tuple[int, int]
"""Row and column."""

_STATES = ".ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_RUNS = re.compile(r"(?:(?:[1-9][0-9]{0,3})?[.A-Z$])*!")
_RUN = re.compile(r"([0-9]*)([.A-Z$])")


def board_to_string(board: Sequence[Sequence[int]]) -> str:
    """Return rows of cells, 0 empty, else a state from 1 to 26, as text."""
    lines = []
    for row in board:
        runs = [(_STATES[cell], len(list(run))) for cell, run in groupby(row)]
        if runs and runs[-1][0] == ".":
            runs.pop()
        lines.append("".join(_run(count, mark) for mark, count in runs))
    text = "".join(f"${line}" for line in lines)[1:].rstrip("$")
    return re.sub(r"\$\$+", lambda found: _run(len(found[0]), "$"), text) + "!"


def _run(count: int, mark: str) -> str:
    return f"{count if count > 1 else ''}{mark}"


def string_to_board(text: str, rows: int, cols: int, states: int = 26) -> list[list[int]] | None:
    """Return the rows of a text by `board_to_string`.

    None if the text is no board, larger than `rows` x `cols`, or has a cell of a state above `states`.
    """
    if not _RUNS.fullmatch(text):
        return None
    board = [[0] * cols for _ in range(rows)]
    row = col = 0
    for number, mark in _RUN.findall(text):
        count = int(number or 1)
        if mark == "$":
            row, col = row + count, 0
            continue
        state = _STATES.index(mark)
        if row >= rows or col + count > cols or state > states:
            return None
        board[row][col : col + count] = [state] * count
        col += count
    return board


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

"""Tables and numbers as text: Markdown, CSV, JSON, and columns for a terminal."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any

from .model import Cell, Table

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def percent(share: float, digits: int = 1) -> str:
    """Return a share in percent without the sign; "" for NaN."""
    return "" if share != share else f"{100 * share:.{digits}f}"


def rounded(value: float | None) -> float | None:
    """Return a number with six decimals, as JSON files hold it; None for NaN."""
    return None if value is None or value != value else round(float(value), 6)


def escape(text: str) -> str:
    """Return Markdown that shows the text unchanged, also in tables and headings; underscores within words stay."""
    return re.sub(r"[\\`*\[\]<>#|~&$]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", text)


def markdown_table(table: Table) -> str:
    """Return the whole table as Markdown."""
    text = table.text
    if text is None:
        text = [name for k, name in enumerate(table.columns) if any(isinstance(row[k], str) for row in table.rows)]
    rows = [[escape(cell) for cell in row] for row in _cells(table)]
    rule = ["---" if name in text else "---:" for name in table.columns]
    return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:]))


def plain_table(table: Table, width: int | None = None) -> str:
    """Return the table for a terminal: the first column, or the one after a rank, to the left, others to the right.

    Args:
        table: The table.
        width: Characters of a line. Columns that do not fit stand in further blocks, after an empty line, each of
            which begins with the same first columns. None for no limit.
    """
    left = 1 if table.columns[0] == "rank" else 0
    shown: list[list[str]] = []
    for place, column in enumerate(zip(*_cells(table), strict=True)):
        most = max(map(len, column))
        shown.append([cell.ljust(most) if place == left else cell.rjust(most) for cell in column])
    first, blocks = shown[: left + 1], [list(shown[: left + 1])]
    for cells in shown[left + 1 :]:
        if width is not None and len(blocks[-1]) > len(first) and _width([*blocks[-1], cells]) > width:
            blocks.append(list(first))
        blocks[-1].append(cells)
    return "\n\n".join("\n".join("  ".join(row).rstrip() for row in zip(*block, strict=True)) for block in blocks)


def _width(columns: Sequence[Sequence[str]]) -> int:
    return sum(len(column[0]) + 2 for column in columns) - 2


def csv_text(table: Table) -> str:
    """Return the content of the table's CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[csv_cell(cell) for cell in row] for row in _cells(table)])
    return text.getvalue()


def csv_cell(text: str) -> str:
    """Return text for a cell of a CSV file that no spreadsheet takes for a formula; numbers stay numbers.

    A quote comes in front of text that begins as a formula does (OWASP, "CSV Injection").
    """
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def json_text(data: Any) -> str:
    """Return the content of a JSON file.

    Raises:
        ValueError: A number is infinite or NaN.
    """
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _cells(table: Table) -> list[list[str]]:
    """Return the column names and the rows as text."""

    def text(cell: Cell) -> str:
        return "" if cell is None else str(cell)

    rows: Sequence[Sequence[Cell]] = [table.columns, *table.rows]
    return [[text(cell) for cell in row] for row in rows]

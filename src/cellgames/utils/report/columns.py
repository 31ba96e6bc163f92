"""Columns of tables: each number is stated once, and files, pages and terminals derive from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from .model import Cell, Table
from .text import percent, rounded

R = TypeVar("R")
S = TypeVar("S")

Value: TypeAlias = Cell | tuple[float | None, float | None]
"""A cell, or the bounds of an interval."""


@dataclass(frozen=True)
class Column(Generic[R]):
    """A number, or a text, of each row.

    Attributes:
        name: Name in CSV and JSON files; "" for a column for people alone.
        value: Returns the value of a row; None and NaN leave the cell empty.
        label: Heading for people; "" for a column of files alone.
        shown: Format for people: "%" for a share in percent, "s" for text that is aligned right, or one of `format`.
        kept: Format of a fraction in CSV files.
    """

    name: str
    value: Callable[[R], Value]
    label: str = ""
    shown: str = ""
    kept: str = ".4f"

    def of(self, part: Callable[[S], R | None], **changes: str) -> Column[S]:
        """Return the column for rows that have a part with the number, or None, with other names or formats."""

        def value(row: S) -> Value:
            inner = part(row)
            return None if inner is None else self.value(inner)

        own = {"name": self.name, "label": self.label, "shown": self.shown, "kept": self.kept}
        return Column(value=value, **{**own, **changes})

    def but(self, **changes: Any) -> Column[R]:
        """Return the column with other names or formats."""
        return replace(self, **changes)


def people_table(columns: Iterable[Column[R]], rows: Sequence[R]) -> Table:
    """Return the labelled columns as a table for a page or a terminal."""
    chosen = [column for column in columns if column.label]
    values = [[column.value(row) for column in chosen] for row in rows]
    text = [c.label for k, c in enumerate(chosen) if not c.shown and any(isinstance(row[k], str) for row in values)]
    cells = [[_formatted(value, c.shown) for value, c in zip(row, chosen, strict=True)] for row in values]
    return Table("", [column.label for column in chosen], cells, text=text)


def csv_table(name: str, columns: Iterable[Column[R]], rows: Iterable[R]) -> Table:
    """Return the named columns as the content of a CSV file."""
    chosen = [column for column in columns if column.name]

    def cell(column: Column[R], row: R) -> Cell:
        value = column.value(row)
        return _formatted(value, column.kept) if isinstance(value, float) else value  # type: ignore[return-value]  # no bounds

    return Table(name, [column.name for column in chosen], [[cell(column, row) for column in chosen] for row in rows])


def row_data(columns: Iterable[Column[R]], row: R) -> dict[str, Any]:
    """Return the named columns of a row as JSON holds them."""
    values = {column.name: column.value(row) for column in columns if column.name}
    return {name: rounded(value) if isinstance(value, float) else value for name, value in values.items()}


def _formatted(value: Value, form: str) -> Cell:
    if isinstance(value, tuple):
        low, high = (_formatted(bound, form) for bound in value)
        return "" if "" in (low, high) else f"{low} to {high}"
    if value is None or value != value:
        return ""
    if isinstance(value, str) or not form:
        return value
    return percent(value) if form == "%" else format(value + 0.0, form)  # without the sign of -0.0

"""Parts of a report on how games were played: words, tables and plots, which `report` writes to files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Cell", "Plot", "Section", "Table"]

Cell: TypeAlias = str | int | float | None
"""Of a table; None where there is nothing to tell."""


@dataclass(frozen=True)
class Table:
    """A table of a section, kept as CSV and shown in the report.

    name:    of its file, without the suffix.
    columns: their names.
    rows:    each as long as `columns`.
    shown:   how many rows the report shows at most; the file holds all.
    """

    name: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    shown: int = 20


@dataclass(frozen=True)
class Plot:
    """A plot of a section, kept as PNG.

    name:    of its file, without the suffix.
    caption: what is seen, in a sentence.
    draw:    draws on an empty figure and sets its size.
    """

    name: str
    caption: str
    draw: Callable[[Figure], None]


@dataclass(frozen=True)
class Section:
    """A part of a report.

    title:  its heading.
    text:   what was found, Markdown, with the numbers that matter.
    data:   the findings as JSON holds them, for programs.
    """

    title: str
    text: str
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()
    data: Any = None

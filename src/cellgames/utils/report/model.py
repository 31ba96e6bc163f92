"""The parts of a report: sections that hold paragraphs, tables and plots.

Round robins, free-for-all games, seasons, leaderboards, analyses and benchmarks all build a `Report`;
`files.write_report` writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Cell: TypeAlias = str | int | float | None
"""A cell of a table; None leaves it empty."""


@dataclass(frozen=True)
class Table:
    """A table on the page of a report, kept as CSV too if it has a name.

    Attributes:
        name: Name of the CSV file without its suffix; "" for a table that is on the page only.
        columns: Column names.
        rows: Cells; each row is as long as `columns`.
        shown: Number of rows on the page, if there is a file with all of them.
        text: Columns that hold text, which the page aligns left; None for those with a string in some row.
    """

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    shown: int = 20
    text: Sequence[str] | None = None


@dataclass(frozen=True)
class Plot:
    """A plot of a section, kept as PNG.

    Attributes:
        name: Name of the file without its suffix.
        caption: A sentence below the plot, Markdown; "" for none.
        draw: Draws on an empty figure and sets its size.
        alt: Text in place of the image; "" for the caption.
    """

    name: str
    caption: str
    draw: Callable[[Figure], None]
    alt: str = ""


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it.

    Attributes:
        title: The heading, Markdown.
        parts: Paragraphs of Markdown, tables, plots and sections of the next level, in the order of the page. Empty
            paragraphs are left out.
        data: The same for programs, as JSON holds it.
    """

    title: str
    parts: Sequence[Part] = ()
    data: Any = None

    @property
    def text(self) -> str:
        """The paragraphs of the section, without those of sections below."""
        return "\n\n".join(part for part in self.parts if isinstance(part, str) and part)

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables, also those of sections below."""
        return tuple(part for part in self._leaves() if isinstance(part, Table))

    @property
    def plots(self) -> tuple[Plot, ...]:
        """All plots, also those of sections below."""
        return tuple(part for part in self._leaves() if isinstance(part, Plot))

    def _leaves(self) -> Iterator[str | Table | Plot]:
        for part in self.parts:
            if isinstance(part, Section):
                yield from part._leaves()
            else:
                yield part


Part: TypeAlias = str | Table | Plot | Section


@dataclass(frozen=True)
class Report(Section):
    """A page and the files beside it; the title is the heading of the page.

    Attributes:
        data: Content of the JSON file; None for no such file.
        more_tables: Tables that are kept as CSV, but are not on the page.
        page_file: Name of the page.
        data_file: Name of the JSON file.
        more_files: Content of further files by name.
        subject: The game and the size of its board, which stand above each plot; "" for plots that say so themselves.
    """

    more_tables: Sequence[Table] = ()
    page_file: str = "report.md"
    data_file: str = "report.json"
    more_files: Mapping[str, str | bytes] = field(default_factory=dict)
    subject: str = ""

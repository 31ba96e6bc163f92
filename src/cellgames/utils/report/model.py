"""The parts of a report: sections that hold paragraphs, tables and plots, and tables as columns and as text.

Round robins, free-for-all games, seasons, leaderboards, analyses and benchmarks all build a `Report`;
`write_report` writes it as files. These hold nothing but what they are made of, so that equal reports give equal bytes:
no dates, no durations.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from cellgames.utils.errors import InputError
from cellgames.utils.extras import no_pictures
from cellgames.utils.files import PathLike, write_atomic

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
        wide = sum(len(column[0]) + 2 for column in [*blocks[-1], cells])
        if width is not None and len(blocks[-1]) > len(first) and wide > width + 2:
            blocks.append(list(first))
        blocks[-1].append(cells)
    return "\n\n".join("\n".join("  ".join(row).rstrip() for row in zip(*block, strict=True)) for block in blocks)


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
    return [["" if cell is None else str(cell) for cell in row] for row in (table.columns, *table.rows)]


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


def write_report(
    folder: PathLike,
    report: Report,
    warn: Callable[[str], None] = lambda message: None,
    *,
    outdated: Iterable[str] = (),
) -> list[Path]:
    """Write the files of a report, each whole or not at all.

    Args:
        folder: Made if it is missing.
        report: What to write.
        warn: Gets a line if there are no plots, since matplotlib is missing.
        outdated: Names of files of an earlier report; those that this report does not write are deleted.

    Returns:
        The files: data, tables, page, plots, others.

    Raises:
        ValueError: Two files have one name, or the folder is a file.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(folder, "a folder for the report", "a file")
    tables = [table for table in (*report.more_tables, *report.tables) if table.name]
    names = [f"{table.name}.csv" for table in tables] + [f"{plot.name}.png" for plot in report.plots]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError("files", "files with different names", f"more than one {', '.join(twice)}")
    images: dict[str, bytes] = {}
    try:
        for plot in report.plots:
            images |= {f"{plot.name}.{kind}": image for kind, image in drawn(plot, report.subject).items()}
    except ImportError as error:
        warn(no_pictures(error))
    contents: dict[str, str | bytes] = {}
    if report.data is not None:
        contents[report.data_file] = json_text(report.data)
    contents |= {f"{table.name}.csv": csv_text(table) for table in tables}
    contents |= {report.page_file: markdown(report, images), **images, **report.more_files}
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write_atomic(folder / name, content)
    for name in outdated:
        if name not in contents:
            (folder / name).unlink(missing_ok=True)
    return [folder / name for name in contents]


def markdown(report: Report, images: Collection[str] = ()) -> str:
    """Return the page; of the plots it shows those whose files are among `images`."""
    return "\n\n".join(_blocks(report, 1, images)) + "\n"


def drawn(plot: Plot, subject: str = "") -> dict[str, bytes]:
    """Return the plot as files, `png` and `svg`.

    Args:
        plot: What to draw.
        subject: A line above the plot, such as "Torus, size 5"; "" for none.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

    from .plots import draw_subject

    figure = Figure()
    plot.draw(figure)
    FigureCanvasAgg(figure)
    width, height = figure.get_size_inches()
    room = Bbox([[0, 0], [width, height + draw_subject(figure, subject)]]) if subject else None
    files = {}
    # Without versions, dates and random names in the files, equal pictures are equal bytes.
    for kind, unsaid in {"png": {"Software": None}, "svg": {"Creator": None, "Date": None}}.items():
        data = io.BytesIO()
        with rc_context({"svg.hashsalt": plot.name, "svg.fonttype": "none"}):
            figure.savefig(data, format=kind, dpi=150, metadata=unsaid, bbox_inches=room)
        files[kind] = data.getvalue()
    return files


def _blocks(section: Section, level: int, images: Collection[str]) -> Iterator[str]:
    """Yield the paragraphs of a section, its heading first."""
    yield f"{'#' * level} {section.title}"
    for part in section.parts:
        if isinstance(part, Section):
            yield from _blocks(part, level + 1, images)
        elif isinstance(part, Table):
            yield from _table(part)
        elif isinstance(part, Plot):
            if (name := f"{part.name}.png") in images:
                yield f"![{part.alt or part.caption}]({name})"
                if part.caption:
                    yield f"*{part.caption}*"
        elif part:
            yield part


def _table(table: Table) -> Iterator[str]:
    """Yield the table, its first rows and a link to its file."""
    if not table.name:
        yield markdown_table(table)
        return
    count, rows = len(table.rows), table.rows[: table.shown]
    link = f"[{table.name}.csv]({table.name}.csv)"
    if not rows:
        yield f"{count} rows: {link}."
        return
    yield markdown_table(Table("", table.columns, rows, text=table.text))
    yield f"The first {len(rows)} of {count} rows; all: {link}." if len(rows) < count else link

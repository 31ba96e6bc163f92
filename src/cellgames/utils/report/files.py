"""A report as files: the page, the data, the tables and, where matplotlib is installed, the plots.

Reports hold nothing but what they are made of, so that equal reports give equal bytes: no dates, no durations.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from cellgames.utils.errors import InputError
from cellgames.utils.extras import no_pictures
from cellgames.utils.files import PathLike, write_atomic

from .model import Plot, Report, Section, Table, csv_text, json_text, markdown_table


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
        raise ValueError(f"expected a folder for the report, but {folder} is a file")
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
    import io

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

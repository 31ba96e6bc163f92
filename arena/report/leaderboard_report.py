"""Leaderboards as text and files: Markdown, CSV, JSON and, where matplotlib is installed, PNG.

    leaderboard.md     what is in the store, and where its tables are
    leaderboard.json   all numbers
    GAME.../           a folder for each game with its parameters, with the files of a round robin

They hold nothing but what follows from the games in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cellgames.arena.records.store.store import Setting, Source
from cellgames.envs.titles import setting_title
from cellgames.runs.run_folder import RunFolder, RunKind
from cellgames.utils.files import PathLike
from cellgames.utils.report.columns import people_table
from cellgames.utils.report.files import write_report
from cellgames.utils.report.model import Part, Report, Table
from cellgames.utils.report.text import escape, percent, plain_table

from .leaderboard import Leaderboard, title
from .rating_tables import AHEAD, seat_table, seats_line
from .run_report import cross_table, sections, tables_of

__all__ = ["DATA", "folder_name", "overview_table", "to_data", "to_text", "write_leaderboards"]

DATA, PAGE = "leaderboard.json", "leaderboard.md"


def overview_table(settings: Sequence[Setting]) -> Table:
    """Return a row for each game with its parameters in a store."""
    rows = [
        (title(setting.game, setting.parameters), setting.games, len(setting.agents), ", ".join(setting.versions))
        for setting in settings
    ]
    return Table("", ("game", "games", "agents", "versions"), rows)


def to_text(board: Leaderboard, *, brief: bool = False, width: int | None = None) -> str:
    """Return a leaderboard for a terminal of this width, None for any; if `brief`, the ratings alone."""
    tables = board.tables
    ratings = plain_table(people_table(board.columns, tables.standings), width)
    head = f"{board.title}: {tables.games} games, {tables.distinct} different\n\n{ratings}"
    if brief:
        return head
    if tables.by_score:
        cross, seats = AHEAD, plain_table(seat_table(tables, board.players), width)
    else:
        cross = "The row's score against the column in %, with wins-draws-losses:"
        seats = seats_line(tables, board.players, simultaneous=True)
    rings = [_ring(cycle.agents, cycle.scores) for cycle in board.cycles[:5]]
    out = () if board.nash is None else board.nash.left_out
    left = [f"Left out of Nash averaging, since they have not met all others: {', '.join(out)}."] if out else []
    below = "\n".join([seats, *board.notes, *left, *rings])
    return "\n\n".join([head, f"{cross}\n{plain_table(cross_table(tables), width)}", below])


def to_data(boards: Sequence[Leaderboard], sources: Sequence[Source]) -> dict[str, Any]:
    """Return all numbers, as JSON holds them."""
    return {
        "games": sum(board.tables.games for board in boards),
        "leaderboards": [board.to_data() for board in boards],
        "sources": [{"kind": source.kind, "place": source.place, "games": source.games} for source in sources],
    }


def folder_name(board: Leaderboard) -> str:
    """Return a name that a shell and a file system take."""
    name = "".join(c if c.isalnum() or c in "=._-" else "_" for c in board.title.replace(" ", "-"))
    return name.strip(".") or "_"  # a record may call its game anything, also ".."


def write_leaderboards(
    folder: PathLike,
    boards: Sequence[Leaderboard],
    *,
    sources: Sequence[Source] = (),
    warn: Callable[[str], None] = lambda message: None,
) -> list[Path]:
    """Write all leaderboards into a folder.

    Args:
        folder: Made if it is missing; empty, or with leaderboards written before.
        boards: What to write.
        sources: Where its games came from.
        warn: Gets a line if there are no plots, since matplotlib is missing.

    Returns:
        The pages.

    Raises:
        RunError: The folder holds something else.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    RunFolder(folder, RunKind("leaderboard", DATA)).refuse_foreign()
    pages = []
    for board in boards:
        report = _report(board)
        write_report(folder / folder_name(board), report, warn)
        pages.append(folder / folder_name(board) / report.page_file)
    rows = [(b.title, b.tables.games, len(b.tables.agents), b.standings[0].agent) for b in boards]
    links = [f"- [{escape(b.title)}]({folder_name(b)}/{page.name})" for b, page in zip(boards, pages, strict=True)]
    overview = Table("", ("game", "games", "agents", "best"), rows, text=("game", "best"))
    parts = (f"{sum(board.tables.games for board in boards)} games.", overview, "\n".join(links))
    write_report(folder, Report("Leaderboards", parts, to_data(boards, sources), page_file=PAGE, data_file=DATA))
    return [folder / PAGE, *pages]


def _report(board: Leaderboard) -> Report:
    """Return the report of one leaderboard."""
    tables = board.tables
    parameters = ", ".join(f"{name}={value}" for name, value in board.parameters.items())
    about = (
        f"{parameters}. {tables.games} games, {tables.distinct} different, by cellgames {', '.join(board.versions)}."
    )
    parts: tuple[Part, ...] = (
        escape(about),
        *sections(tables, board.players, board.columns, map(escape, board.notes), simultaneous=True),
    )
    files = tables_of(tables, board.players, board.columns)
    subject = setting_title(board.game, board.parameters)
    return Report(f"Leaderboard: {escape(board.title)}", parts, more_tables=files, subject=subject)


def _ring(agents: Sequence[str], scores: Sequence[float]) -> str:
    """Return a cycle as a sentence."""
    beats = [f"{agent} beats ({percent(score)} %)" for agent, score in zip(agents, scores, strict=True)]
    return f"A ring: {' '.join(beats)} {agents[0]}."

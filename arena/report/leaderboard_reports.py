"""Leaderboards as text and files: Markdown, CSV, JSON and, where matplotlib is installed, PNG.

    leaderboard.md     what is in the store, and where its tables are
    leaderboard.json   all numbers
    GAME.../           a folder for each game with its parameters: report.md, ratings.csv, pairs.csv, ...

They hold nothing but what follows from the games in the store.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cellgames.arena.records.store.store import Setting, Source
from cellgames.arena.stats.tables import Tables
from cellgames.utils.report.model import Plot, Section
from cellgames.utils.run_folders import PathLike, refuse_foreign, write_atomic

from . import free_for_all_reports, reports
from .leaderboard import Leaderboard, title
from .report_parts import (
    Rows,
    cross_rows,
    csv_text,
    elo_csv,
    elo_texts,
    escape,
    markdown_table,
    percent,
    plain_table,
)

__all__ = ["DATA", "folder_name", "overview_text", "to_data", "to_text", "write_reports"]

DATA, PAGE = "leaderboard.json", "leaderboard.md"


# ---------------------------------------------------------------- rows


def _overview_rows(settings: Sequence[Setting]) -> Rows:
    """A header and a line for each game with its parameters."""
    rows: list[Sequence[object]] = [("game", "games", "agents", "versions")]
    for setting in settings:
        name = title(setting.game, setting.parameters)
        rows.append((name, setting.games, len(setting.agents), ", ".join(setting.versions)))
    return rows


def _ratings_rows(board: Leaderboard) -> Rows:
    """A header and a line an agent, best first."""
    two = isinstance(board.tables, Tables)
    level = f"{100 * board.tables.ratings.level:.0f} % interval"
    # Of more than two, what counts is pairs of seats.
    counted = ("games", "W", "D", "L", "score %") if two else ("pairs", "ahead", "level", "behind", "score %")
    rows: list[Sequence[object]] = [("rank", "agent", "Elo", level, *counted, *_more_columns(board))]
    for line in board.standings:
        t = line.tally
        numbers = (t.games, t.wins, t.draws, t.losses, percent(t.score))
        rows.append((line.rank, line.agent, *elo_texts(line), *numbers, *_more(board, line.agent)))
    return rows


def _more_columns(board: Leaderboard) -> list[str]:
    """What is not known of every board."""
    place = [] if isinstance(board.tables, Tables) else ["mean place"]
    nash = [] if board.nash is None else ["Nash %"]
    alpha = [] if board.alpha_rank is None else ["alpha-Rank %"]
    return [*place, *nash, *alpha, *(["forfeits"] if board.tables.forfeits else [])]


def _more(board: Leaderboard, agent: str) -> list[str]:
    """An agent's cells of `_more_columns`."""
    tables, place = board.tables, board.payoffs.agents.index(agent)
    cells = [] if isinstance(tables, Tables) else [_place(tables.finishes[agent].place)]
    shares = [board.nash_shares, board.alpha_rank]
    numbers = [float(values[place]) for values in shares if values is not None]
    cells += ["" if math.isnan(share) else percent(share) for share in numbers]
    if tables.forfeits:
        cells.append(str(tables.forfeits[agent].games if agent in tables.forfeits else 0))
    return cells


def _place(mean: float) -> str:
    """Nothing of an agent without a game that counts."""
    return "" if math.isnan(mean) else f"{mean:.2f}"


# ---------------------------------------------------------------- text


def overview_text(settings: Sequence[Setting]) -> str:
    """What is in the store, for a terminal."""
    return plain_table(_overview_rows(settings))


def to_text(board: Leaderboard, *, brief: bool = False) -> str:
    """A leaderboard for a terminal; if `brief`, the ratings alone."""
    tables = board.tables
    head = f"{board.title}: {tables.games} games, {tables.distinct} different\n\n{plain_table(_ratings_rows(board))}"
    if brief:
        return head
    if isinstance(tables, Tables):
        cross, shown = reports.cross_text(tables), "The row's score against the column in %, with wins-draws-losses:"
        seats = reports.seats_line(tables, board.players)
    else:
        cross, shown = free_for_all_reports.cross_text(tables), free_for_all_reports.AHEAD
        seats = free_for_all_reports.seats_text(tables, board.players)
    rings = [_ring(cycle.agents, cycle.scores) for cycle in board.cycles[:5]]
    out = () if board.nash is None else board.nash.left_out
    left = [f"Left out of Nash averaging, since they have not met all others: {', '.join(out)}."] if out else []
    return "\n\n".join([head, f"{shown}\n{cross}", "\n".join([seats, *board.notes, *left, *rings])])


def _ring(agents: Sequence[str], scores: Sequence[float]) -> str:
    """A cycle as a sentence."""
    beats = [f"{agent} beats ({percent(score)} %)" for agent, score in zip(agents, scores, strict=True)]
    return f"A ring: {' '.join(beats)} {agents[0]}."


def _page(board: Leaderboard, drawn: Sequence[str]) -> str:
    """A leaderboard as a page; `drawn` are the pictures beside it."""
    tables = board.tables
    versions = ", ".join(board.versions)
    parameters = ", ".join(f"{name}={value}" for name, value in board.parameters.items())
    if isinstance(tables, Tables):
        cross, seats = "The row's score against the column's agent in %, with wins-draws-losses.", ""
        seats = escape(reports.seats_line(tables, board.players))
    else:
        cross = free_for_all_reports.AHEAD
        seats = f"```\n{free_for_all_reports.seats_text(tables, board.players)}\n```"
    parts = [
        f"# Leaderboard: {escape(board.title)}",
        escape(f"{parameters}. {tables.games} games, {tables.distinct} different, by cellgames {versions}."),
        "## Ratings",
        markdown_table(_ratings_rows(board)),
        *map(escape, board.notes),
        "![Ratings with intervals](ratings.png)" if "ratings.png" in drawn else "",
        "## Cross table",
        cross,
        markdown_table(cross_rows(tables.agents, tables.cross)),
        "## Seats",
        seats,
        *(part for section in board.sections for part in _section(section, drawn)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(section: Section, drawn: Sequence[str]) -> list[str]:
    """A part of the page."""
    parts = [f"## {section.title}", section.text]
    for table in section.tables:
        shown = [tuple("" if cell is None else cell for cell in row) for row in table.rows[: table.shown]]
        parts.append(markdown_table([table.columns, *shown], left=_words(table.columns, shown)))
        if len(table.rows) > table.shown:
            parts.append(
                f"The first {table.shown} of {len(table.rows)}; all are in [{table.name}.csv]({table.name}.csv)."
            )
    parts += [
        f"![{escape(plot.caption)}]({plot.name}.png)\n\n*{escape(plot.caption)}*"
        for plot in section.plots
        if f"{plot.name}.png" in drawn
    ]
    return parts


def _words(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """The columns that hold text."""
    return [
        name for place, name in enumerate(columns) if any(isinstance(row[place], str) and row[place] for row in rows)
    ]


# ---------------------------------------------------------------- data


def to_data(boards: Sequence[Leaderboard], sources: Sequence[Source]) -> dict[str, Any]:
    """All numbers, as JSON holds them."""
    return {
        "games": sum(board.tables.games for board in boards),
        "leaderboards": [board.to_data() for board in boards],
        "sources": [{"kind": source.kind, "place": source.place, "games": source.games} for source in sources],
    }


def _ratings_csv(board: Leaderboard) -> Rows:
    header = ("rank", "agent", "elo", "elo_low", "elo_high", "games", "wins", "draws", "losses", "score")
    rows: list[Sequence[object]] = [header]
    for line in board.standings:
        t = line.tally
        rows.append((line.rank, line.agent, *elo_csv(line), t.games, t.wins, t.draws, t.losses, f"{t.score:.4f}"))
    return rows


def _pairs_csv(board: Leaderboard) -> Rows:
    agents, cross = board.tables.agents, board.tables.cross
    met = ((a, b, cross[a, b]) for a in agents for b in agents if (a, b) in cross)
    header = ("agent", "opponent", "games", "wins", "draws", "losses", "score")
    return [header, *((a, b, t.games, t.wins, t.draws, t.losses, f"{t.score:.4f}") for a, b, t in met)]


# ---------------------------------------------------------------- files


def folder_name(board: Leaderboard) -> str:
    """A name that a shell and a file system take."""
    name = "".join(c if c.isalnum() or c in "=._-" else "_" for c in board.title.replace(" ", "-"))
    return name.strip(".") or "_"  # a record may call its game anything, also ".."


def write_reports(
    folder: PathLike,
    boards: Sequence[Leaderboard],
    *,
    sources: Sequence[Source] = (),
    warn: Callable[[str], None] = lambda message: None,
) -> list[Path]:
    """Write all leaderboards into a folder, which is made where it is missing.

    Args:
        folder: empty, or with leaderboards written before.
        boards: what to write.
        sources: where its games came from.
        warn: gets a line that says what is left out where matplotlib is missing.

    Returns:
        The pages.

    Raises:
        RunError: the folder holds something else.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    refuse_foreign(folder, DATA)
    write_atomic(folder / DATA, json.dumps(to_data(boards, sources), indent=2, ensure_ascii=False) + "\n")
    pages = [_write_board(folder / folder_name(board), board, warn) for board in boards]
    lines: list[Sequence[object]] = [("game", "games", "agents", "best")]
    links = []
    for board, page in zip(boards, pages, strict=True):
        lines.append((board.title, board.tables.games, len(board.tables.agents), board.standings[0].agent))
        links.append(f"- [{escape(board.title)}]({page.relative_to(folder).as_posix()})")
    total = sum(board.tables.games for board in boards)
    parts = ["# Leaderboards", f"{total} games.", markdown_table(lines, left=("game", "best")), "\n".join(links)]
    write_atomic(folder / PAGE, "\n\n".join(parts) + "\n")
    return [folder / PAGE, *pages]


def _write_board(folder: Path, board: Leaderboard, warn: Callable[[str], None]) -> Path:
    folder.mkdir(exist_ok=True)
    texts = {"ratings.csv": csv_text(_ratings_csv(board)), "pairs.csv": csv_text(_pairs_csv(board))}
    for section in board.sections:
        texts |= {f"{table.name}.csv": csv_text([table.columns, *table.rows]) for table in section.tables}
    drawn: dict[str, bytes] = {}
    try:
        drawn = _pictures(board)
    except ImportError as error:
        warn(f"no plots ({error}): pip install 'cellgames[render]'")
    for name, content in (texts | drawn | {"report.md": _page(board, list(drawn))}).items():
        write_atomic(folder / name, content)
    return folder / "report.md"


def _pictures(board: Leaderboard) -> dict[str, bytes]:
    """By file name; an `ImportError` where matplotlib is missing."""
    from matplotlib.figure import Figure

    from . import rating_plots as plots

    def draw(plot: Plot) -> bytes:
        figure = Figure()
        plot.draw(figure)
        return plots.png(figure)

    found = {"ratings.png": plots.ratings_png(board.standings, board.tables.ratings)}
    return found | {f"{plot.name}.png": draw(plot) for section in board.sections for plot in section.plots}

"""Reports on how games were played: all sections for a set of games, and the files.

    report.md     what was found, with tables and plots
    report.json   the same for programs
    *.csv, *.png  all rows of the tables, and the plots

The same games give the same files, byte for byte.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellgames.arena.insight.readers.record_groups import agents_of
from cellgames.arena.records.record_lines import Record, plain
from cellgames.arena.report.report_parts import csv_text, escape, markdown_table
from cellgames.arena.report.sections import Plot, Section, Table
from cellgames.arena.stats.tables import distinct
from cellgames.envs.core import Game
from cellgames.utils.run_folders import write_atomic
from cellgames.utils.version import __version__

__all__ = ["FORMAT", "PARTS", "Report", "analyse_games", "png", "to_data", "write_report"]

FORMAT = 1
"""Of report.json; raised when readers of an older one would fail."""

PARTS = ("openings", "places", "courses", "flows", "behaviour")
"""What games are looked at for, in the order of the report."""


@dataclass(frozen=True)
class Report:
    """What was found.

    game:     the rules of all the games.
    games:    how many.
    distinct: different sequences of moves among them.
    sources:  where they came from, in words.
    agents:   who played, and how many seats of these games each of them had.
    sections: the parts.
    """

    game: Game
    games: int
    distinct: int
    sources: tuple[str, ...]
    agents: dict[str, int]
    sections: tuple[Section, ...]

    @property
    def title(self) -> str:
        """Of the page."""
        return f"How {self.game.info.title} was played"

    @property
    def counted(self) -> str:
        """How many games, and whether they are enough to trust intervals."""
        words = f"{self.games} games, {self.distinct} of them different"
        few = self.distinct < self.games / 2
        return f"{words}: the same ones again tell nothing new, so that intervals are too narrow" if few else words


def analyse_games(
    game: Game,
    records: Sequence[Record],
    *,
    only: Sequence[str] = PARTS,
    behaviour: Callable[[], Section] | None = None,
    extra: Sequence[Section] = (),
    sources: Sequence[str] = (),
    step: Callable[[str], None] = lambda part: None,
    warn: Callable[[str], None] = lambda message: None,
) -> Report:
    """Look at games from all sides.

    Args:
        game: the rules of all of them.
        records: the games, at least one unless there are `extra` parts.
        only: out of `PARTS`; parts that say nothing about this game are left out.
        behaviour: makes that section, since agents have to be asked; None leaves it out.
        extra: more sections, for the end.
        sources: where the games came from, in words.
        step: called with the name of each part before its work begins.
        warn: gets a line for each part left out since a library is missing.

    Raises:
        ValueError: no games, games of other rules, or an unknown part.
    """
    if unknown := sorted(set(only) - set(PARTS)):
        raise ValueError(f"expected parts out of {', '.join(PARTS)}, got {', '.join(unknown)}")
    if not records and not extra:
        raise ValueError("expected at least one game, got none")
    if foreign := [r for r in records if (r.game, dict(r.parameters)) != (game.id, plain(game.parameters))]:
        raise ValueError(f"expected games of {game}, got one of {foreign[0].game} with {dict(foreign[0].parameters)}")
    sections: list[Section] = []
    for part in PARTS:
        if part in only and (records or part == "behaviour"):
            step(part)
            try:
                sections += _part(part, game, records, behaviour)
            except ImportError as error:
                warn(f"no {part}: {error}")
    seats = Counter(name for record in records for name in record.agents)
    agents = {name: seats[name] for name in agents_of(records)}
    return Report(game, len(records), distinct(records), tuple(sources), agents, (*sections, *extra))


def _part(part: str, game: Game, records: Sequence[Record], behaviour: Callable[[], Section] | None) -> list[Section]:
    if part == "openings":
        from cellgames.arena.insight.placement.opening_section import section as openings

        return [openings(game, records)]
    if part == "places":
        from cellgames.arena.insight.placement.places_section import section as places

        return [found] if (found := places(game, records)) is not None else []
    if part == "courses":
        from cellgames.arena.insight.over_time.time_series import sections as courses

        return list(courses(game, records))
    if part == "flows":
        from cellgames.arena.insight.over_time.score_flows import sections as flows

        return list(flows(game, records))
    return [behaviour()] if behaviour is not None else []


# ---------------------------------------------------------------- files


def to_data(report: Report) -> dict[str, Any]:
    """The content of report.json."""
    return {
        "format": FORMAT,
        "cellgames": __version__,
        "game": report.game.id,
        "parameters": plain(report.game.parameters),
        "games": report.games,
        "distinct": report.distinct,
        "sources": list(report.sources),
        "agents": report.agents,
        "sections": [
            {
                "title": section.title,
                "text": section.text,
                "data": section.data,
                "tables": [f"{table.name}.csv" for table in section.tables],
                "plots": [f"{plot.name}.png" for plot in section.plots],
            }
            for section in report.sections
        ],
    }


def write_report(folder: Path, report: Report, warn: Callable[[str], None] = lambda message: None) -> list[Path]:
    """Write the files of a report, each whole or not at all.

    Args:
        folder: made where it is missing; files of an earlier report that this one lacks are deleted.
        report: what they tell.
        warn: gets a line where matplotlib is missing, so that there are no plots.

    Returns:
        The files, report.md first.

    Raises:
        ValueError: two tables or plots of one name; the folder is a file.
    """
    _check_names(report)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"expected a folder for the report, but {folder} is a file")
    folder.mkdir(parents=True, exist_ok=True)
    images: dict[str, bytes] = {}
    try:
        images = {f"{plot.name}.png": png(plot) for section in report.sections for plot in section.plots}
    except ImportError as error:
        warn(f"no plots ({error}): pip install 'cellgames[render]'")
    contents: dict[str, str | bytes] = {"report.md": _page(report, frozenset(images)), **images}
    for section in report.sections:
        for table in section.tables:
            contents[f"{table.name}.csv"] = csv_text([table.columns, *(tuple(map(_cell, row)) for row in table.rows)])
    data = json.dumps(to_data(report), indent=1, ensure_ascii=False, allow_nan=False)
    _forget(folder, contents)
    for name, content in contents.items():
        write_atomic(folder / name, content)
    write_atomic(folder / "report.json", data + "\n")
    return [folder / "report.md", folder / "report.json", *(folder / name for name in contents if name != "report.md")]


def _check_names(report: Report) -> None:
    names = [f"{table.name}.csv" for section in report.sections for table in section.tables]
    names += [f"{plot.name}.png" for section in report.sections for plot in section.plots]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"expected files with different names, got more than one {', '.join(twice)}")


def _forget(folder: Path, contents: dict[str, str | bytes]) -> None:
    """Delete what an earlier report in the folder had and this one has not."""
    try:
        found = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        names = [name for section in found["sections"] for name in (*section["tables"], *section["plots"])]
    except (OSError, ValueError, KeyError, TypeError):
        return
    for name in names:
        if isinstance(name, str) and name not in contents and Path(name).name == name:
            (folder / name).unlink(missing_ok=True)


def png(plot: Plot) -> bytes:
    """The plot as a file.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from matplotlib.figure import Figure

    from cellgames.arena.report import plots

    figure = Figure()
    plot.draw(figure)
    return plots.png(figure)


def _page(report: Report, images: frozenset[str]) -> str:
    parameters = ", ".join(f"{name}={value}" for name, value in report.game.parameters.items())
    agents = ", ".join(f"{escape(name)} ({seats})" for name, seats in report.agents.items())
    lines = [f"# {report.title}", f"`{report.game.id}`, {parameters}."]
    if report.games:
        lines.append(f"{report.counted}.")
    if agents:
        lines.append(f"Agents, and how many seats they had: {agents}.")
    lines += [f"Source: {escape(source)}." for source in report.sources]
    for section in report.sections:
        lines += [f"## {section.title}", section.text]
        for table in section.tables:
            lines += _shown(table)
        for plot in section.plots:
            if f"{plot.name}.png" in images:
                lines += [f"![{plot.caption}]({plot.name}.png)", f"*{plot.caption}*"]
    return "\n\n".join(lines) + "\n"


def _shown(table: Table) -> list[str]:
    """The first rows, and where all of them are."""
    rows = [tuple(map(_cell, row)) for row in table.rows[: table.shown]]
    link = f"[{table.name}.csv]({table.name}.csv)"
    if not rows:
        return [f"{len(table.rows)} rows: {link}."]
    left = [name for place, name in enumerate(table.columns) if isinstance(table.rows[0][place], str)]
    more = f"The first {len(rows)} of {len(table.rows)} rows; all: {link}." if len(rows) < len(table.rows) else link
    return [markdown_table([table.columns, *rows], left), more]


def _cell(value: Any) -> Any:
    return "" if value is None else value

"""A season of tables as files: JSON for programs, Markdown for people.

The files hold nothing but what follows from the settings and the games: no dates, no durations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cellgames.arena.season import season_reports
from cellgames.arena.season.bracket_picture import score_text
from cellgames.arena.season.schedule import SeasonSchedule
from cellgames.arena.season.teams import Team
from cellgames.utils.report.columns import Column
from cellgames.utils.report.files import write_report
from cellgames.utils.report.model import Cell, Part, Report, Section, Table
from cellgames.utils.report.text import escape, plain_table

from .final_table import FINAL, FINAL_WINS, FinalTable
from .place_standings import PlaceLine, TableResult
from .table_schedule import table_counts

__all__ = [
    "FILES",
    "TableSummary",
    "final_text",
    "leaders_text",
    "result_text",
    "schedule_data",
    "standings_data",
    "table_text",
    "write_table_season",
]

FINAL_FILE = "final.json"
FILES = (season_reports.SCHEDULE, season_reports.STANDINGS, FINAL_FILE, "report.md")
"""Files of a season of tables, some of them written before it is over."""


@dataclass(frozen=True, kw_only=True)
class TableSummary(season_reports.AnySummary):
    """The outcome of a season of tables that is over.

    Attributes:
        table: The standings of all teams, best first.
        final: The final table.
    """

    table: tuple[PlaceLine, ...]
    final: FinalTable


# ---------------------------------------------------------------- data


def schedule_data(schedule: SeasonSchedule, names: Sequence[str]) -> dict[str, Any]:
    """Return the tables by day, teams in the order of their seats, and how even the schedule is."""
    return {
        "days": [list(map(list, day)) for day in schedule.days],
        "fairness": asdict(table_counts(schedule, names)),
    }


def standings_data(teams: Sequence[Team], table: Sequence[PlaceLine], final: FinalTable) -> dict[str, Any]:
    """Return a line for each team, best first, and the finalists."""
    agents = {team.name: team.agent for team in teams}
    lines = [{**asdict(line), **({"agent": agents[line.team]} if agents[line.team] else {})} for line in table]
    return {"standings": lines, "finalists": list(final.teams)}


def _final_data(final: FinalTable) -> dict[str, Any]:
    return {
        "champion": final.champion,
        "teams": list(final.teams),
        "wins": list(final.wins),
        "results": [asdict(result) for result in final.results],
    }


# ---------------------------------------------------------------- text


_NUMBERS: tuple[Column[PlaceLine], ...] = (
    Column("place_points", lambda line: score_text(line.place_points), "place points", "s"),
    Column("games", lambda line: line.games, "games"),
    Column("wins", lambda line: line.wins, "wins"),
    Column("mean_place", lambda line: line.mean_place, "mean place", ".2f"),
    Column("points", lambda line: score_text(line.points), "points", "s"),
)


def table_text(teams: Sequence[Team], table: Sequence[PlaceLine]) -> str:
    """Return the standings for a terminal."""
    return plain_table(season_reports.standings_table(table, teams, _NUMBERS))


def leaders_text(table: Sequence[PlaceLine], label: str, count: int) -> str:
    """Return the best of the standings in a line."""
    best = ", ".join(f"{line.team} {score_text(line.place_points)}" for line in table[:count])
    return f"After {label}:\n  {best}"


def result_text(result: TableResult) -> str:
    """Return a game in a line, the winner in front, the others by their places."""
    seats = zip(result.teams, result.scores, result.places, strict=True)
    ordered = sorted(seats, key=lambda seat: (seat[0] != result.winner, seat[2]))
    notes = f" ({_notes(result)})" if _notes(result) else ""
    return ", ".join(f"{team} {score_text(score)}" for team, score, _ in ordered) + notes


def _notes(result: TableResult) -> str:
    """Return the replays and dice that were needed for a winner; "" for a single game."""
    notes = [f"replays: {result.attempts - 1}"] * (result.attempts > 1)
    rolls = ", ".join(
        f"{team} {' '.join(map(str, rolls))}" for team, rolls in zip(result.teams, result.rolls, strict=False) if rolls
    )
    return "; ".join([*notes, *[f"dice {rolls}"] * bool(rolls)])


def final_text(final: FinalTable) -> str:
    """Return the games won in the final, best first, and the champion."""
    wins = dict(zip(final.teams, final.wins, strict=True))
    won = ", ".join(f"{team} {wins[team]}" for team in final.order)
    return f"{FINAL}: {won}\nChampion: {final.champion}"


# ---------------------------------------------------------------- the page


def _sections(season: TableSummary) -> list[Part]:
    final, span = season.final, season_reports.span
    counts = table_counts(season.schedule, [team.name for team in season.teams])
    points = " ".join(map(str, season.settings["place_points"]))
    rows: list[Sequence[Cell]] = [
        (number, ", ".join(result.teams), result_text(result), result.winner)
        for number, result in enumerate(final.results, 1)
    ]
    games = Table("", ("game", "seats", "result", "winner"), rows, text=("seats", "result", "winner"))
    fairness = (
        f"{season_reports.counted(span(counts.games), 'game')} a team, {span(counts.seats)} of them in each seat; two "
        f"teams meet {span(counts.meetings)} times."
    )
    return [
        *season_reports.opening_parts(season, str(final.champion)),
        Section(
            FINAL,
            (
                f"The best {len(final.teams)} teams play until one has won {FINAL_WINS} games; who shares the first "
                "place of a game plays it again. [As data](final.json).",
                escape(final_text(final).splitlines()[0]) + ".",
                games,
            ),
        ),
        Section(
            "Standings",
            (
                f"The places of a game bring {points} points, and teams that share places share them. The order is by "
                "these, then points (scores over the season), then a 100-sided die. [As data](standings.json).",
                season_reports.standings_table(season.table, season.teams, _NUMBERS),
            ),
        ),
        *season_reports.closing_parts(season, fairness),
    ]


# ---------------------------------------------------------------- files


def write_table_season(folder: Path, season: TableSummary, warn: Callable[[str], None]) -> list[Path]:
    """Write the end of a season into its folder; schedule and standings are there already.

    Returns:
        The files there are, in the order of `FILES`.
    """
    files: dict[str, str | bytes] = {FINAL_FILE: season_reports.to_text(_final_data(season.final))}
    report = Report(f"A season of {season.settings['game']}", _sections(season), more_files=files)
    write_report(folder, report, warn)
    return [folder / name for name in FILES]

"""A season as files: JSON for programs, Markdown and a picture of the bracket for people.

The files hold nothing but what follows from the settings and the games: no dates, no durations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from cellgames.arena.report.rating_tables import forfeit_notes, thinking_notes
from cellgames.arena.stats.tables import Forfeits, Thinking
from cellgames.envs.core.drawing import to_svg
from cellgames.envs.core.raster import to_png
from cellgames.utils.extras import no_pictures
from cellgames.utils.report.columns import Column, people_table
from cellgames.utils.report.files import write_report
from cellgames.utils.report.model import Cell, Part, Report, Section, Table
from cellgames.utils.report.text import escape, plain_table

from .bracket_picture import bracket_picture, score_text
from .playoffs import Bracket, Series
from .schedule import SeasonSchedule, league_counts
from .standings import GameResult, Line
from .teams import Leagues, Team, by_league

__all__ = [
    "FILES",
    "SCHEDULE",
    "STANDINGS",
    "AnySummary",
    "Summary",
    "bracket_text",
    "closing_parts",
    "counted",
    "leaders_text",
    "opening_parts",
    "result_text",
    "schedule_data",
    "span",
    "standings_data",
    "standings_table",
    "table_text",
    "to_text",
    "write_season",
]

SCHEDULE, STANDINGS, BRACKET_FILE = "schedule.json", "standings.json", "bracket.json"
FILES = (SCHEDULE, STANDINGS, BRACKET_FILE, "report.md", "bracket.svg", "bracket.png")
"""Files that this module writes, some of them before the season is over."""

L = TypeVar("L", bound=Any)
"""A line of standings, which has a rank, a team and rolls of the die."""


@dataclass(frozen=True, kw_only=True)
class AnySummary:
    """The part of a summary that seasons of all forms have.

    Attributes:
        settings: Content of season.json.
        teams: All teams, in the order given.
        schedule: The days.
        forfeits: By agent, the games that it forfeited.
        thinking: By agent, the time of its moves in a season with clocks.
    """

    settings: Mapping[str, Any]
    teams: tuple[Team, ...]
    schedule: SeasonSchedule
    forfeits: Mapping[str, Forfeits] = field(default_factory=dict)
    thinking: Mapping[str, Thinking] = field(default_factory=dict)

    @property
    def notes(self) -> list[str]:
        """Sentences on the time of agents' moves, and on forfeited games."""
        return [*thinking_notes(self.thinking), *forfeit_notes(self.forfeits)]


@dataclass(frozen=True, kw_only=True)
class Summary(AnySummary):
    """The outcome of a season of leagues that is over.

    Attributes:
        table: The standings of all teams, best first.
        bracket: The playoffs.
    """

    table: tuple[Line, ...]
    bracket: Bracket

    @cached_property
    def leagues(self) -> Leagues:
        """Names of the teams by league and division."""
        return by_league(self.teams)


def to_text(data: Mapping[str, Any]) -> str:
    """Return the content of a JSON file, with lists of plain values in a line each."""
    text = json.dumps(data, indent=2, ensure_ascii=False)  # its strings hold no line breaks
    lists = re.compile(r"\[\n([^\[\]{}]*)\n *\]")
    return lists.sub(lambda match: "[" + re.sub(r"\n +", " ", match[1]).strip() + "]", text) + "\n"


# ---------------------------------------------------------------- data


def schedule_data(schedule: SeasonSchedule, leagues: Leagues) -> dict[str, Any]:
    """Return the games by day, the first seat in front, and how even each league's schedule is."""
    return {
        "days": [list(map(list, day)) for day in schedule.days],
        "fairness": {
            league: asdict(league_counts(schedule, divisions.values())) for league, divisions in leagues.items()
        },
    }


def standings_data(teams: Sequence[Team], table: Sequence[Line], seeds: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return a line for each team, best first, and the seeds of the playoffs."""
    about = {team.name: team for team in teams}
    lines = [
        {
            **asdict(line),
            "losses": line.losses,
            "league": about[line.team].league,
            "division": about[line.team].division,
        }
        for line in table
    ]
    return {"standings": lines, "seeds": {league: list(names) for league, names in seeds.items()}}


def bracket_data(bracket: Bracket) -> dict[str, Any]:
    """Return the series round by round."""
    return {
        "champion": bracket.champion,
        "seeds": {league: list(names) for league, names in bracket.seeds.items()},
        "series": [
            {**asdict(series), "wins": series.wins, "winner": series.winner}
            for number in bracket.rounds
            for series in number
        ],
    }


# ---------------------------------------------------------------- text


def _wins(wins: float) -> str:
    return f"{wins:g}"


def standings_table(lines: Sequence[L], teams: Sequence[Team], numbers: Sequence[Column[L]]) -> Table:
    """Return a row for each line of the standings; with agents and rolls only where there are any."""
    agents, dice = {team.name: team.agent for team in teams}, any(line.rolls for line in lines)
    columns: list[Column[L]] = [
        Column("rank", lambda line: line.rank, "rank"),
        Column("team", lambda line: line.team, "team"),
        Column("agent", lambda line: agents[line.team], "agent" if any(agents.values()) else ""),
        *numbers,
        Column("rolls", lambda line: " ".join(map(str, line.rolls)), "die" if dice else ""),
    ]
    return people_table(columns, lines)


_NUMBERS: tuple[Column[Line], ...] = (
    Column("wins", lambda line: line.wins, "wins", "g"),
    Column("losses", lambda line: line.losses, "losses", "g"),
    Column("points", lambda line: score_text(line.points), "points", "s"),
)


def _standings(table: Sequence[Line], teams: Sequence[Team], names: Sequence[str]) -> Table:
    return standings_table([line for line in table if line.team in names], teams, _NUMBERS)


def table_text(teams: Sequence[Team], table: Sequence[Line], leagues: Leagues) -> str:
    """Return the standings of every division for a terminal."""
    return "\n\n".join(
        f"{league}, {division}\n{plain_table(_standings(table, teams, names))}"
        for league, divisions in leagues.items()
        for division, names in divisions.items()
    )


def leaders_text(table: Sequence[Line], leagues: Leagues, label: str) -> str:
    """Return the four best of each league in a line."""
    lines = [f"After {label}:"]
    for league, divisions in leagues.items():
        names = {name for members in divisions.values() for name in members}
        best = [line for line in table if line.team in names][:4]
        lines.append(f"  {league}: " + ", ".join(f"{line.team} {_wins(line.wins)}" for line in best))
    return "\n".join(lines)


def result_text(result: GameResult) -> str:
    """Return a game in a line, the winner in front."""
    sides = sorted(zip(result.teams, result.scores, strict=True), key=lambda side: side[0] != result.winner)
    (one, ours), (two, theirs) = sides
    notes = f" ({_notes(result)})" if _notes(result) else ""
    return f"{one} {'beats' if result.winner else 'and'} {two} {score_text(ours)} : {score_text(theirs)}{notes}"


def _notes(result: GameResult) -> str:
    """Return the replays and dice that were needed for a winner; "" for a single game."""
    notes = [f"replays: {result.attempts - 1}"] * (result.attempts > 1)
    notes += ["dice " + ", ".join(f"{one} : {two}" for one, two in result.rolls)] * bool(result.rolls)
    return "; ".join(notes)


def bracket_text(bracket: Bracket) -> str:
    """Return the series for a terminal, a line each, and the champion."""
    lines = [_series_text(series) for number in bracket.rounds for series in number]
    return "\n".join([*lines, f"Champion: {bracket.champion}"])


def _series_text(series: Series) -> str:
    (high, low), (won, lost) = series.teams, series.wins
    first, second = ((high, won), (low, lost)) if won >= lost else ((low, lost), (high, won))
    return f"{series.key}: {first[0]} {first[1]} : {second[1]} {second[0]}"


# ---------------------------------------------------------------- the page


def _sections(season: Summary) -> list[Part]:
    bracket = season.bracket
    rounds = [
        Section(escape(number[0].round), [part for series in number for part in _series_parts(series)])
        for number in bracket.rounds
    ]
    return [
        *opening_parts(season, str(bracket.champion)),
        Section("Playoffs", ("![The bracket](bracket.svg)", *rounds)),
        Section(
            "Standings",
            (
                "The order is by wins, then points (scores over the season), then a 100-sided die; half a win is for "
                "a game that nobody won. Ranks are among all teams. [As data](standings.json).",
                *(_league(season, league) for league in season.leagues),
            ),
        ),
        *closing_parts(season, _fairness(season.schedule, season.leagues)),
    ]


def opening_parts(season: AnySummary, champion: str) -> list[Part]:
    """Return the champion and the files."""
    settings = season.settings
    opening = (
        f"**{escape(champion)}** is the champion of {len(season.teams)} teams after "
        f"{counted(settings['days'], 'day')} and {counted(season.schedule.games, 'game')}; "
        f"seed {settings['seed']}, cellgames {settings['version']}. "
        "[The settings](season.json), [the schedule](schedule.json), [every game](games.jsonl)."
    )
    return [opening]


def closing_parts(season: AnySummary, fairness: str) -> list[Part]:
    """Return clocks and forfeits, where there are any, and how even the schedule is."""
    notes = {"Clocks": thinking_notes(season.thinking), "Forfeits": forfeit_notes(season.forfeits)}
    found = [Section(heading, [*map(escape, lines)]) for heading, lines in notes.items() if lines]
    return [*found, Section("Schedule", (fairness,))]


def _league(season: Summary, league: str) -> Section:
    """Return the standings of a league."""
    seeds = ", ".join(f"{number} {escape(team)}" for number, team in enumerate(season.bracket.seeds[league], 1))
    divisions = (
        Section(escape(division), (_standings(season.table, season.teams, names),))
        for division, names in season.leagues[league].items()
    )
    return Section(escape(league), (f"Seeds: {seeds}.", *divisions))


def _series_parts(series: Series) -> tuple[str, Table]:
    """Return the result of a series and its games."""
    rows: list[Sequence[Cell]] = [
        (number, *result.teams, " : ".join(map(score_text, result.scores)), result.winner, _notes(result))
        for number, result in enumerate(series.results, 1)
    ]
    text = ("first seat", "second seat", "winner", "notes")
    table = Table("", ("game", *text[:2], "score", *text[2:]), rows, text=text)
    return f"**{escape(_series_text(series))}**", table


def _fairness(schedule: SeasonSchedule, leagues: Leagues) -> str:
    """Return sentences on how even the schedule is."""
    lines = []
    for league, divisions in leagues.items():
        counts = league_counts(schedule, divisions.values())
        lines.append(
            f"- {escape(league)}: {counted(span(counts.games), 'game')} a team, {span(counts.first)} of them in the "
            f"first seat; {counts.share:.1%} within the divisions, {span(counts.within)} a pair of rivals there and "
            f"{span(counts.across)} a pair across."
        )
    return "\n".join(lines)


def counted(number: object, noun: str) -> str:
    """Return text such as `1 game`, `49 games` or `48 to 49 games`."""
    return f"{number} {noun}" if str(number) == "1" else f"{number} {noun}s"


def span(ends: tuple[int, int]) -> str:
    """Return text such as `5` or `5 to 6`."""
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


# ---------------------------------------------------------------- files


def write_season(folder: Path, season: Summary, warn: Callable[[str], None]) -> list[Path]:
    """Write the end of a season into its folder; schedule and standings are there already.

    Returns:
        The files there are, in the order of `FILES`.
    """
    settings, bracket = season.settings, season.bracket
    heading = f"Playoffs of {settings['game']}, seed {settings['seed']}"
    picture = bracket_picture(bracket, heading)
    files: dict[str, str | bytes] = {BRACKET_FILE: to_text(bracket_data(bracket)), "bracket.svg": to_svg(picture)}
    try:
        files["bracket.png"] = to_png(picture)
    except ImportError as error:
        warn(no_pictures(error))
    report = Report(f"A season of {settings['game']}", _sections(season), more_files=files)
    write_report(folder, report, warn, outdated=("bracket.png",))
    return [folder / name for name in FILES if (folder / name).exists()]

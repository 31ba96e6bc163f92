"""A season as files: JSON for programs, Markdown for people.

The files hold nothing but what follows from the settings and the games: no dates, no durations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cellgames.agents.agent_specs import split_name
from cellgames.arena.report.rating_tables import forfeit_notes, thinking_notes
from cellgames.arena.stats.tables import Forfeits, Thinking
from cellgames.utils.report.files import write_report
from cellgames.utils.report.model import Cell, Column, Part, Report, Section, Table, escape, people_table, plain_table

from .schedule import SeasonSchedule, league_counts
from .standings import Bracket, GameResult, Line, Series
from .teams import Leagues, Team, by_league

SCHEDULE, STANDINGS, BRACKET_FILE = "schedule.json", "standings.json", "bracket.json"
FILES = (SCHEDULE, STANDINGS, BRACKET_FILE, "report.md")
"""Files that this module writes, some of them before the season is over."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The outcome of a season that is over.

    Attributes:
        settings: content of season.json.
        teams: all teams, in the order given.
        schedule: the days.
        table: the standings of all teams, best first.
        bracket: the playoffs.
        forfeits: by agent, the games that it forfeited.
        thinking: by agent, the time of its moves in a season with clocks.
    """

    settings: Mapping[str, Any]
    teams: tuple[Team, ...]
    schedule: SeasonSchedule
    table: tuple[Line, ...]
    bracket: Bracket
    forfeits: Mapping[str, Forfeits] = field(default_factory=dict)
    thinking: Mapping[str, Thinking] = field(default_factory=dict)

    @property
    def leagues(self) -> Leagues:
        """Names of the teams by league and division."""
        return by_league(self.teams)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the time of agents' moves, and on forfeited games."""
        return (*thinking_notes(self.thinking), *forfeit_notes(self.forfeits))


def score_text(score: float) -> str:
    """Return a score as text: whole numbers as such, others with up to three digits behind the point."""
    return f"{score:.3f}".rstrip("0").rstrip(".")


def to_text(data: Mapping[str, Any]) -> str:
    """Return the content of a JSON file, with lists of plain values in a line each."""
    text = json.dumps(data, indent=2, ensure_ascii=False)  # its strings hold no line breaks
    lists = re.compile(r"\[\n([^\[\]{}]*)\n *\]")
    return lists.sub(lambda match: "[" + re.sub(r"\n +", " ", match[1]).strip() + "]", text) + "\n"


# ---------------------------------------------------------------- data


def schedule_data(schedule: SeasonSchedule, teams: Sequence[Team]) -> dict[str, Any]:
    """Return the games by day, teams in the order of their seats, and how even the schedule is."""
    leagues = by_league(teams).items()
    fairness = {league: league_counts(schedule, divisions.values()) for league, divisions in leagues}
    return {
        "days": [list(map(list, day)) for day in schedule.days],
        "fairness": fairness,
    }


def standings_data(teams: Sequence[Team], table: Sequence[Line], seeds: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return a line for each team, best first, and the seeds of the playoffs."""
    about, lines = {team.name: team for team in teams}, []
    for line in table:
        team = about[line.team]
        lines.append(asdict(line) | {"losses": line.losses, "league": team.league, "division": team.division})
    return {"standings": lines, "seeds": {league: list(names) for league, names in seeds.items()}}


def bracket_data(bracket: Bracket, teams: Sequence[Team]) -> dict[str, Any]:
    """Return the champion, the name of its agent, and the series round by round."""
    agent = _champions_agent(bracket, teams)
    champion = {"champion": bracket.champion, **({"agent": agent} if agent else {})}
    series = [{**asdict(one), "wins": one.wins, "winner": one.winner} for number in bracket.rounds for one in number]
    return {**champion, "seeds": {league: list(names) for league, names in bracket.seeds.items()}, "series": series}


# ---------------------------------------------------------------- text


def _standings(table: Sequence[Line], teams: Sequence[Team]) -> Table:
    """Return the standings of the teams of a division; with agents and rolls only where there are any."""
    about = {team.name: team for team in teams}
    lines = [line for line in table if line.team in about]
    columns: list[Column[Line]] = [
        Column("rank", lambda line: line.rank, "rank"),
        Column("team", lambda line: line.team, "team"),
        Column("agent", lambda line: about[line.team].agent, "agent" if any(team.agent for team in teams) else ""),
        Column("wins", lambda line: line.wins, "wins", "g"),
        Column("losses", lambda line: line.losses, "losses", "g"),
        Column("points", lambda line: score_text(line.points), "points", "s"),
        Column(
            "rolls", lambda line: " ".join(map(str, line.rolls)), "die" if any(line.rolls for line in lines) else ""
        ),
    ]
    return people_table(columns, lines)


def _divisions(teams: Sequence[Team]) -> dict[tuple[str, str], list[Team]]:
    """Return the teams of each league and division, in their order."""
    return {
        (league, division): [team for team in teams if team.name in names]
        for league, divisions in by_league(teams).items()
        for division, names in divisions.items()
    }


def table_text(teams: Sequence[Team], table: Sequence[Line]) -> str:
    """Return the standings of every division for a terminal."""
    return "\n\n".join(
        f"{', '.join(key)}\n{plain_table(_standings(table, members))}" for key, members in _divisions(teams).items()
    )


def leaders_text(table: Sequence[Line], teams: Sequence[Team], label: str) -> str:
    """Return the four best of each league in a line."""
    league = {team.name: team.league for team in teams}
    lines = [f"After {label}:"]
    for name in dict.fromkeys(league.values()):
        best = [line for line in table if league[line.team] == name][:4]
        lines.append(f"  {name}: " + ", ".join(f"{line.team} {score_text(line.wins)}" for line in best))
    return "\n".join(lines)


def result_text(result: GameResult) -> str:
    """Return a game in a line, the winner in front, with the replays and dice that it needed."""
    seats = zip(result.teams, result.scores, strict=True)
    ordered = sorted(seats, key=lambda seat: seat[0] != result.winner)
    notes = [f"replays: {result.attempts - 1}"] * (result.attempts > 1)
    rolls = ", ".join(
        f"{team} {' '.join(map(str, rolls))}" for team, rolls in zip(result.teams, result.rolls, strict=False) if rolls
    )
    notes += [f"dice {rolls}"] * bool(rolls)
    ended = ", ".join(f"{team} {score_text(score)}" for team, score in ordered)
    return f"{ended} ({'; '.join(notes)})" if notes else ended


def bracket_text(bracket: Bracket, teams: Sequence[Team]) -> str:
    """Return the series for a terminal, a line each, and the champion with its agent."""
    lines, agent = (
        [_series_text(series) for number in bracket.rounds for series in number],
        _champions_agent(bracket, teams),
    )
    return "\n".join([*lines, f"Champion: {bracket.champion}{f', played by {agent}' if agent else ''}"])


def _champions_agent(bracket: Bracket, teams: Sequence[Team]) -> str:
    """Return the name of the champion's agent, "" for a team without one."""
    return next((split_name(team.agent)[0] for team in teams if team.name == bracket.champion), "")


def _series_text(series: Series) -> str:
    """Return the games won by each team, most first."""
    won = sorted(zip(series.teams, series.wins, strict=True), key=lambda one: -one[1])
    return f"{series.key}: " + ", ".join(f"{team} {wins}" for team, wins in won)


# ---------------------------------------------------------------- the page


def _sections(season: Summary) -> list[Part]:
    settings, bracket = season.settings, season.bracket
    agent = _champions_agent(bracket, season.teams)
    player = f", played by **{escape(agent)}**," if agent else ""
    opening = (
        f"**{escape(str(bracket.champion))}**{player} is the champion of {len(season.teams)} teams after "
        f"{_counted(settings['days'], 'day')} and {_counted(season.schedule.games, 'game')}; "
        f"seed {settings['seed']}, cellgames {settings['version']}. "
        "[The settings](season.json), [the schedule](schedule.json), [every game](games.jsonl)."
    )
    rounds = [
        Section(escape(number[0].round), [part for series in number for part in _series_parts(series)])
        for number in bracket.rounds
    ]
    notes = {"Clocks": thinking_notes(season.thinking), "Forfeits": forfeit_notes(season.forfeits)}
    return [
        opening,
        Section("Playoffs", rounds),
        Section("Standings", [_ORDER, *_tables(season)]),
        *(Section(heading, [*map(escape, lines)]) for heading, lines in notes.items() if lines),
        Section("Schedule", [_fairness(season)]),
    ]


_ORDER = (
    "The order is by wins, then points (scores over the season), then a 100-sided die; half a win is for a game that "
    "nobody won. Ranks are among all teams. [As data](standings.json)."
)


def _tables(season: Summary) -> list[Part]:
    """Return the standings of each league with its seeds."""
    parts: list[Part] = []
    for league in season.leagues:
        seeds = ", ".join(f"{number} {escape(team)}" for number, team in enumerate(season.bracket.seeds[league], 1))
        divisions = [
            Section(escape(division), (_standings(season.table, members),))
            for (name, division), members in _divisions(season.teams).items()
            if name == league
        ]
        parts.append(Section(escape(league), (f"Seeds: {seeds}.", *divisions)))
    return parts


def _series_parts(series: Series) -> tuple[str, Table]:
    """Return the result of a series and its games."""
    rows: list[Sequence[Cell]] = [
        (number, ", ".join(result.teams), result_text(result), result.winner)
        for number, result in enumerate(series.results, 1)
    ]
    table = Table("", ("game", "seats", "result", "winner"), rows, text=("seats", "result", "winner"))
    return f"**{escape(_series_text(series))}**", table


def _fairness(season: Summary) -> str:
    """Return sentences on how even the schedule is."""
    lines = []
    for league, divisions in season.leagues.items():
        counts = league_counts(season.schedule, divisions.values())
        games, first, within, across = (_span(counts[name]) for name in ("games", "first", "within", "across"))
        lines.append(
            f"- {escape(league)}: {_counted(games, 'game')} a team, {first} of them in the first seat; "
            f"{counts['share']:.1%} within the divisions, {within} a pair of rivals there and {across} a pair across."
        )
    return "\n".join(lines)


def _counted(number: object, noun: str) -> str:
    """Return text such as `1 game`, `49 games` or `48 to 49 games`."""
    return f"{number} {noun}" if str(number) == "1" else f"{number} {noun}s"


def _span(ends: tuple[int, int]) -> str:
    """Return text such as `5` or `5 to 6`."""
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


# ---------------------------------------------------------------- files


def write_season(folder: Path, season: Summary, warn: Callable[[str], None]) -> list[Path]:
    """Write the end of a season into its folder; return the files of the season, schedule and standings first."""
    files: dict[str, str | bytes] = {BRACKET_FILE: to_text(bracket_data(season.bracket, season.teams))}
    write_report(folder, Report(f"A season of {season.settings['game']}", _sections(season), more_files=files), warn)
    return [folder / name for name in FILES if (folder / name).exists()]

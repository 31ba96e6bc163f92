"""A season and its playoffs, in a folder from which a killed season can be continued.

    season.json       the settings, written first
    schedule.json     who plays whom, and how fair it is
    games.jsonl       one line a game, appended batch by batch (`play.tournament`)
    standings.json    written when the last day is over
    bracket.json, report.md   written when there is a champion

Games are played in two leagues of two divisions, and lead to playoffs. All games follow from the settings. So a
continued season plays only what is missing, and the files are the same, byte for byte.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cellgames.agents.agent_specs import split_name
from cellgames.arena.play.tournament import Batch, Schedule, Stage, Tournament
from cellgames.arena.records.record_lines import FORFEIT_LOG, Record, finish
from cellgames.arena.records.store import AnyStore, feeding
from cellgames.arena.report.rating_tables import forfeit_notes, thinking_notes
from cellgames.arena.stats.tables import Forfeits, Thinking, forfeits, thinking
from cellgames.runs.run_folder import ANSWERS, RunFolder, RunKind
from cellgames.runs.seeds import derive
from cellgames.utils.errors import InputError
from cellgames.utils.files import PathLike, write_atomic
from cellgames.utils.progress import waiting
from cellgames.utils.report.model import (
    Cell,
    Column,
    Part,
    Report,
    Section,
    Table,
    escape,
    people_table,
    plain_table,
    write_report,
)
from cellgames.utils.version import __version__

from .games import Fixture, Played, Umpire, UmpirePlayer, make_die, results_of
from .schedule import SeasonOptions, SeasonSchedule, draw_schedule, league_counts
from .standings import Bracket, GameResult, Line, Series, bracket, seed_teams, standings
from .teams import Leagues, Team, by_league, check_names

SCHEDULE, STANDINGS, BRACKET_FILE = "schedule.json", "standings.json", "bracket.json"
FILES = (SCHEDULE, STANDINGS, BRACKET_FILE, "report.md")
"""Files that this module writes, some of them before the season is over."""


@dataclass(frozen=True, kw_only=True)
class Season:
    """A season that is over.

    Attributes:
        settings: content of season.json.
        teams: all teams, in the order given.
        schedule: the days.
        table: the standings of all teams, best first.
        bracket: the playoffs.
        forfeits: by agent, the games that it forfeited.
        thinking: by agent, the time of its moves in a season with clocks.
        out: its folder.
        games: number of games played in all, replays too.
        played: number of games played by this call.
        files: all files of the folder that belong to the season.
    """

    settings: Mapping[str, Any]
    teams: tuple[Team, ...]
    schedule: SeasonSchedule
    table: tuple[Line, ...]
    bracket: Bracket
    forfeits: Mapping[str, Forfeits]
    thinking: Mapping[str, Thinking]
    out: Path
    games: int
    played: int
    files: tuple[Path, ...] = ()

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
    return {"days": [list(map(list, day)) for day in schedule.days], "fairness": fairness}


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
    lines = [_series_text(series) for number in bracket.rounds for series in number]
    agent = _champions_agent(bracket, teams)
    return "\n".join([*lines, f"Champion: {bracket.champion}{f', played by {agent}' if agent else ''}"])


def _champions_agent(bracket: Bracket, teams: Sequence[Team]) -> str:
    """Return the name of the champion's agent, "" for a team without one."""
    return next((split_name(team.agent)[0] for team in teams if team.name == bracket.champion), "")


def _series_text(series: Series) -> str:
    """Return the games won by each team, most first."""
    won = sorted(zip(series.teams, series.wins, strict=True), key=lambda one: -one[1])
    return f"{series.key}: " + ", ".join(f"{team} {wins}" for team, wins in won)


# ---------------------------------------------------------------- the page


def _sections(season: Season) -> list[Part]:
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


def _tables(season: Season) -> list[Part]:
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


def _fairness(season: Season) -> str:
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


SETTINGS, GAMES = "season.json", "games.jsonl"
SEASON = RunKind("season", SETTINGS, (GAMES, FORFEIT_LOG, ANSWERS, *FILES))


def play_season(
    teams: Sequence[Team],
    umpire: Umpire,
    options: SeasonOptions | None = None,
    *,
    out: PathLike,
    store: AnyStore = None,
    workers: Executor | None = None,
    say: Callable[[str], None] | None = None,
    warn: Callable[[str], None] = lambda message: None,
) -> Season:
    """Play the days and the playoffs, keep the games, write the tables; see the module, and `round_robin` for errors.

    Args:
        teams: teams with leagues and divisions as `teams.assign_divisions` gives them. Tables and records have the
            names of agents (`agents.agent_specs.split_name`).
        umpire: plays the games, such as `BotUmpire` or `CupUmpire`.
        options: such as `SeasonOptions(days=21, seed=1)`; None for the defaults.
        out: the folder; created if necessary. This season is continued if the folder holds a part of it.
        store: gets the games of agents too, batch by batch (`store.Store`).
        workers: play the days; None for this process. The season is the same.
        say: gets the standings from time to time, and the results of the playoffs; progress is then shown on standard
            error, too. None for silence.
        warn: gets a line for each thing left out, such as a picture without Pillow or a torn line.

    Raises:
        ValueError: teams or options that do not fit, or agents that cannot be sent to workers.
    """
    options, folder = options or SeasonOptions(), Path(out).absolute()
    check_names(teams)
    if without := [team.name for team in teams if not team.league]:
        raise InputError("teams", "teams in leagues, as assign_divisions places them", without[0])
    specs = {name: spec for name, spec in (split_name(team.agent) for team in teams) if name != spec}
    teams = tuple(replace(team, agent=split_name(team.agent)[0]) for team in teams)
    course = _Course(teams, options, folder, (lambda message: None) if say is None else _beside_bar(say))
    known: Mapping[str, str] | None = getattr(umpire, "identities", None)
    settings = {
        **umpire.settings,
        "teams": [asdict(team) for team in teams],
        "days": options.days,
        "within": options.within,
        "seed": options.seed,
        "version": __version__,
        **({} if known is None else {"identities": dict(known)}),
        **({"specs": specs} if specs else {}),
    }
    batches = list(_batches(course.schedule, umpire.chunk))
    days = {fixture for batch in batches for fixture in batch.games}

    def knows(fixture: Fixture) -> bool:
        return not fixture.stage.startswith("day ") or replace(fixture, attempt=0) in days

    place = RunFolder(folder, SEASON)
    games = Tournament(
        UmpirePlayer(umpire, options.seed),
        place,
        settings,
        options.resume,
        knows=knows,
        warn=warn,
        workers=workers,
        progress=say is not None,
        each=course.tell,
    )
    noted: list[Record] = []  # games of agents with clocks or forfeits
    with place, feeding(None if known is None else store, "season", folder, known or {}, warn) as add:

        def keep(played: Sequence[Played]) -> None:
            records = [] if known is None else [Record.from_json(game.to_json()) for game in played]
            noted.extend(record for record in records if record.result.forfeit is not None or record.seconds)
            add(records)

        games.keep = keep
        games.run(course.games(Stage(batches, f"{options.days} days")))
        finished = Season(
            settings=settings,
            teams=teams,
            schedule=course.schedule,
            table=tuple(course.table),
            bracket=course.bracket,
            forfeits=forfeits(noted, complete=False),
            thinking=thinking(noted),
            out=Path(out),
            games=games.games,
            played=games.played,
        )
        with waiting("Writing the report", shown=say is not None):
            files: dict[str, str | bytes] = {BRACKET_FILE: to_text(bracket_data(course.bracket, teams))}
            page = Report(f"A season of {settings['game']}", _sections(finished), more_files=files)
            write_report(folder, page, warn)
        written = [folder / name for name in FILES if (folder / name).exists()]
        data = {path.name: path.read_bytes() for path in (folder / GAMES, *written) if path.suffix.startswith(".json")}
        place.write(finish(settings, data))
    return replace(finished, files=(folder / SETTINGS, folder / GAMES, *written))


def _beside_bar(say: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that prints while progress is shown: it hides a bar of tqdm meanwhile."""

    def say_beside(message: str) -> None:
        tqdm = sys.modules.get("tqdm")
        with tqdm.tqdm.external_write_mode() if tqdm else nullcontext():
            say(message)

    return say_beside


def _batches(schedule: SeasonSchedule, chunk: int) -> Iterator[Batch[Fixture]]:
    """Yield the games of the days in batches of whole days: about `chunk` games each, as even as possible."""
    days = len(schedule.days)
    parts = min(days, -(-schedule.games // chunk))
    for part in range(parts):
        first, last = days * part // parts + 1, days * (part + 1) // parts
        games = (
            Fixture(f"day {day}", number, teams)
            for day in range(first, last + 1)
            for number, teams in enumerate(schedule.days[day - 1], 1)
        )
        yield Batch(f"days {first} to {last} of {days}", tuple(games))


class _Course:
    """The course of a season: the days of the leagues, and the playoffs."""

    def __init__(self, teams: Sequence[Team], options: SeasonOptions, folder: Path, say: Callable[[str], None]) -> None:
        self.teams, self.names, self._folder, self._say = teams, [team.name for team in teams], folder, say
        self._seed, self._leagues = options.seed, by_league(teams)
        rng = random.Random(derive(options.seed, "schedule"))
        divisions = [divisions.values() for divisions in self._leagues.values()]
        self.schedule = draw_schedule(divisions, options.days, options.within, rng)
        self.table: list[Line] = []
        self.bracket = Bracket({}, ((),))
        self._of_days: list[GameResult] = []
        self._of_series: dict[str, list[GameResult]] = {}

    def games(self, days: Stage[Fixture]) -> Schedule[Fixture, Played]:
        """Ask for the days, write the standings, and ask for the games of the playoffs."""
        write_atomic(self._folder / SCHEDULE, to_text(schedule_data(self.schedule, self.teams)))
        yield days
        self.table = self._standings()
        order = [line.team for line in self.table]
        seeds = seed_teams(self.table, self._leagues)
        write_atomic(self._folder / STANDINGS, to_text(standings_data(self.teams, self.table, seeds)))
        while True:  # a game of each series of the round at a time
            self.bracket = bracket(seeds, order, self._of_series)
            if self.bracket.champion is not None:
                return
            pending = self.bracket.pending
            fixtures = tuple(Fixture(series.key, 1 + len(series.results), series.seats()) for series in pending)
            label = f"{pending[0].round}, game {max(fixture.game for fixture in fixtures)}"
            yield Stage([Batch(label, fixtures)], here=True)

    def tell(self, batch: Batch[Fixture], games: Sequence[Played], new: bool) -> None:
        """Take the games of the next batch, and say how it ended if they are new."""
        playoffs = bool(self.table)
        ended = list(results_of(batch.games, games, self._seed, dice=playoffs))
        if playoffs:
            for fixture, result in zip(batch.games, ended, strict=True):
                self._of_series.setdefault(fixture.stage, []).append(result)
        else:
            self._of_days += ended
        if new and playoffs:
            self._say("\n  ".join([f"{batch}:", *map(result_text, ended)]))
        elif new:
            self._say(leaders_text(self._standings(), self.teams, str(batch)))

    def _standings(self) -> list[Line]:
        return standings(self.names, self._of_days, make_die(self._seed, "standings"))

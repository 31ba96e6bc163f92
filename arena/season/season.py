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
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

from cellgames.agents.agent_specs import split_name
from cellgames.arena.play.tournament import Batch, Schedule, Stage, Tournament
from cellgames.arena.records.record_lines import FORFEIT_LOG, RECORDS, Record, finish
from cellgames.arena.records.store import AnyStore, feeding
from cellgames.arena.report.rating_tables import forfeit_notes, thinking_notes
from cellgames.arena.stats.tables import Forfeits, Thinking, forfeits, thinking
from cellgames.runs.run_folder import ANSWERS, RunFolder, RunKind, derive
from cellgames.utils.errors import InputError
from cellgames.utils.files import PathLike, write_atomic
from cellgames.utils.progress import waiting
from cellgames.utils.report.model import (
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

SETTINGS, SCHEDULE, STANDINGS, BRACKET = "season.json", "schedule.json", "standings.json", "bracket.json"
DAY = "day "  # begins the stages of games that count for the standings
DATA, PAGE = (RECORDS, SCHEDULE, STANDINGS, BRACKET), "report.md"
SEASON = RunKind("season", SETTINGS, (*DATA, PAGE, FORFEIT_LOG, ANSWERS))


@dataclass(frozen=True, kw_only=True)
class Season:
    """A season: its teams, its schedule and the results so far, from which tables, playoffs and texts follow.

    Attributes:
        settings: content of season.json.
        teams: all teams, in the order given.
        schedule: the days.
        out: its folder.
        results: results so far, by day ("day 7") or key of a series.
        noted: games of agents with clocks or forfeits.
        games: number of games played in all, replays too.
        played: number of games played by this call.
        files: all files of the folder that belong to the season.
    """

    settings: Mapping[str, Any]
    teams: tuple[Team, ...]
    schedule: SeasonSchedule
    out: Path
    results: dict[str, list[GameResult]] = field(default_factory=dict, repr=False)
    noted: list[Record] = field(default_factory=list, repr=False)
    games: int = 0
    played: int = 0
    files: tuple[Path, ...] = ()

    @property
    def leagues(self) -> Leagues:
        """Names of the teams by league and division."""
        return by_league(self.teams)

    @property
    def fairness(self) -> dict[str, dict[str, Any]]:
        """Measures of how even the schedule is, by league (`league_counts`)."""
        return {league: league_counts(self.schedule, parts.values()) for league, parts in self.leagues.items()}

    @property
    def table(self) -> tuple[Line, ...]:
        """The standings of all teams, best first."""
        played = chain(*(results for stage, results in self.results.items() if stage.startswith(DAY)))
        die = make_die(self.settings["seed"], "standings")
        return tuple(standings([team.name for team in self.teams], played, die))

    @property
    def bracket(self) -> Bracket:
        """The playoffs as far as they are known; they begin when the last day is over."""
        table = self.table
        return bracket(seed_teams(table, self.leagues), [line.team for line in table], self.results)

    @property
    def champions_agent(self) -> str:
        """The name of the champion's agent, "" for a team without one."""
        champion = self.bracket.champion
        return next((team.agent for team in self.teams if team.name == champion), "")

    @property
    def forfeits(self) -> Mapping[str, Forfeits]:
        """By agent, the games that it forfeited."""
        return forfeits(self.noted, complete=False)

    @property
    def thinking(self) -> Mapping[str, Thinking]:
        """By agent, the time of its moves in a season with clocks."""
        return thinking(self.noted)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the time of agents' moves, and on forfeited games."""
        return (*thinking_notes(self.thinking), *forfeit_notes(self.forfeits))


# ---------------------------------------------------------------- data


def to_text(data: Mapping[str, Any]) -> str:
    """Return the content of a JSON file, with lists of plain values in a line each."""
    text = json.dumps(data, indent=2, ensure_ascii=False)  # its strings hold no line breaks
    lists = re.compile(r"\[\n([^\[\]{}]*)\n *\]")
    return lists.sub(lambda match: "[" + re.sub(r"\n +", " ", match[1]).strip() + "]", text) + "\n"


def standings_data(season: Season) -> dict[str, Any]:
    """Return a line for each team, best first, and the seeds of the playoffs."""
    teams = {team.name: {"league": team.league, "division": team.division} for team in season.teams}
    lines = [{**asdict(line), "losses": line.losses, **teams[line.team]} for line in season.table]
    return {"standings": lines, "seeds": season.bracket.seeds}


def bracket_data(season: Season) -> dict[str, Any]:
    """Return the champion, the name of its agent, and the series round by round."""
    found, agent = season.bracket, season.champions_agent
    series = [{**asdict(one), "wins": one.wins, "winner": one.winner} for one in chain(*found.rounds)]
    return {"champion": found.champion, **({"agent": agent} if agent else {}), "seeds": found.seeds, "series": series}


# ---------------------------------------------------------------- text


def score_text(score: float) -> str:
    """Return a score as text: whole numbers as such, others with up to three digits behind the point."""
    return f"{score:.3f}".rstrip("0").rstrip(".")


def _standings(season: Season, names: Sequence[str]) -> Table:
    """Return the standings of the teams of a division; with agents and rolls only where there are any."""
    agents = {team.name: team.agent for team in season.teams if team.name in names}
    lines = [line for line in season.table if line.team in agents]
    columns: list[Column[Line]] = [
        Column("rank", attrgetter("rank"), "rank"),
        Column("team", attrgetter("team"), "team"),
        Column("agent", lambda line: agents[line.team], "agent" if any(agents.values()) else ""),
        Column("wins", attrgetter("wins"), "wins", "g"),
        Column("losses", attrgetter("losses"), "losses", "g"),
        Column("points", lambda line: score_text(line.points), "points", "s"),
        Column("rolls", lambda line: _rolls(line.rolls), "die" if any(line.rolls for line in lines) else ""),
    ]
    return people_table(columns, lines)


def _rolls(rolls: Sequence[int]) -> str:
    return " ".join(map(str, rolls))


def table_text(season: Season) -> str:
    """Return the standings of every division for a terminal."""
    return "\n\n".join(
        f"{league}, {division}\n{plain_table(_standings(season, names))}"
        for league, divisions in season.leagues.items()
        for division, names in divisions.items()
    )


def leaders_text(season: Season, label: object) -> str:
    """Return the four best of each league in a line."""
    lines, table = [f"After {label}:"], season.table
    for league, divisions in season.leagues.items():
        names = {*chain(*divisions.values())}
        best = [f"{line.team} {score_text(line.wins)}" for line in table if line.team in names]
        lines.append(f"  {league}: {', '.join(best[:4])}")
    return "\n".join(lines)


def result_text(result: GameResult) -> str:
    """Return a game in a line, the winner in front, with the replays and dice that it needed."""
    seats = sorted(zip(result.teams, result.scores, strict=True), key=lambda seat: seat[0] != result.winner)
    notes = [f"replays: {result.attempts - 1}"] if result.attempts > 1 else []
    if result.rolls:
        thrown = zip(result.teams, result.rolls, strict=True)
        notes.append(f"dice {', '.join(f'{team} {_rolls(rolls)}' for team, rolls in thrown)}")
    ended = ", ".join(f"{team} {score_text(score)}" for team, score in seats)
    return f"{ended} ({'; '.join(notes)})" if notes else ended


def series_text(series: Series) -> str:
    """Return the games won by each team, most first."""
    won = sorted(zip(series.teams, series.wins, strict=True), key=lambda one: -one[1])
    return f"{series.key}: " + ", ".join(f"{team} {wins}" for team, wins in won)


def bracket_text(season: Season) -> str:
    """Return the series for a terminal, a line each, and the champion with its agent."""
    agent = season.champions_agent
    champion = f"Champion: {season.bracket.champion}{f', played by {agent}' if agent else ''}"
    return "\n".join([*map(series_text, chain(*season.bracket.rounds)), champion])


# ---------------------------------------------------------------- the page


def _sections(season: Season) -> list[Part]:
    settings, playoffs, agent = season.settings, season.bracket, season.champions_agent
    player = f", played by **{escape(agent)}**," if agent else ""
    opening = (
        f"**{escape(str(playoffs.champion))}**{player} is the champion of {len(season.teams)} teams after "
        f"{_counted(settings['days'], 'day')} and {_counted(season.schedule.games, 'game')}; "
        f"seed {settings['seed']}, cellgames {settings['version']}. "
        "[The settings](season.json), [the schedule](schedule.json), [every game](games.jsonl)."
    )
    order = (
        "The order is by wins, then points (scores over the season), then a 100-sided die; half a win is for a game "
        "that nobody won. Ranks are among all teams. [As data](standings.json)."
    )
    rounds = [
        Section(escape(series[0].round), [part for one in series for part in _series(one)])
        for series in playoffs.rounds
    ]
    leagues = [
        Section(
            escape(league),
            [
                f"Seeds: {', '.join(f'{seed} {escape(team)}' for seed, team in enumerate(playoffs.seeds[league], 1))}.",
                *(Section(escape(division), [_standings(season, names)]) for division, names in divisions.items()),
            ],
        )
        for league, divisions in season.leagues.items()
    ]
    notes = {"Clocks": thinking_notes(season.thinking), "Forfeits": forfeit_notes(season.forfeits)}
    return [
        opening,
        Section("Playoffs", rounds),
        Section("Standings", [order, *leagues]),
        *(Section(heading, [*map(escape, lines)]) for heading, lines in notes.items() if lines),
        Section("Schedule", ["\n".join(_evenness(league, counts) for league, counts in season.fairness.items())]),
    ]


def _series(series: Series) -> tuple[str, Table]:
    """Return the result of a series and its games."""
    rows = [
        (number, ", ".join(result.teams), result_text(result), result.winner)
        for number, result in enumerate(series.results, 1)
    ]
    table = Table("", ("game", "seats", "result", "winner"), rows, text=("seats", "result", "winner"))
    return f"**{escape(series_text(series))}**", table


def _evenness(league: str, counts: Mapping[str, Any]) -> str:
    """Return a sentence on how even the schedule of a league is, with ranges such as `5` or `5 to 6`."""
    games, first, within, across = (
        " to ".join(map(str, dict.fromkeys(counts[name]))) for name in ("games", "first", "within", "across")
    )
    return (
        f"- {escape(league)}: {_counted(games, 'game')} a team, {first} of them in the first seat; "
        f"{counts['share']:.1%} within the divisions, {within} a pair of rivals there and {across} a pair across."
    )


def _counted(number: object, noun: str) -> str:
    """Return text such as `1 game`, `49 games` or `48 to 49 games`."""
    return f"{number} {noun}" if str(number) == "1" else f"{number} {noun}s"


# ---------------------------------------------------------------- the run


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
    options, folder, shown = options or SeasonOptions(), Path(out).absolute(), say is not None
    check_names(teams)
    if without := [team.name for team in teams if not team.league]:
        raise InputError("teams", "teams in leagues, as assign_divisions places them", without[0])
    specs = {name: spec for name, spec in (split_name(team.agent) for team in teams) if name != spec}
    teams = tuple(replace(team, agent=split_name(team.agent)[0]) for team in teams)
    known: Mapping[str, str] | None = getattr(umpire, "identities", None)
    settings = {
        **umpire.settings,
        "teams": [asdict(team) for team in teams],
        **{name: getattr(options, name) for name in ("days", "within", "seed")},
        "version": __version__,
        **({} if known is None else {"identities": dict(known)}),
        **({"specs": specs} if specs else {}),
    }
    leagues = [divisions.values() for divisions in by_league(teams).values()]
    schedule = draw_schedule(leagues, options.days, options.within, random.Random(derive(options.seed, "schedule")))
    season = Season(settings=settings, teams=teams, schedule=schedule, out=Path(out))
    batches = list(_batches(schedule, umpire.chunk))
    days = {fixture for batch in batches for fixture in batch.games}

    def stages() -> Schedule[Fixture, Played]:
        write_atomic(folder / SCHEDULE, to_text({"days": schedule.days, "fairness": season.fairness}))
        yield Stage(batches, f"{options.days} days")
        write_atomic(folder / STANDINGS, to_text(standings_data(season)))
        while pending := season.bracket.pending:  # a game of each series of the round at a time
            fixtures = tuple(Fixture(series.key, 1 + len(series.results), series.seats()) for series in pending)
            label = f"{pending[0].round}, game {max(fixture.game for fixture in fixtures)}"
            yield Stage([Batch(label, fixtures)], here=True)

    def each(batch: Batch[Fixture], games: Sequence[Played], new: bool) -> None:
        playoffs = not batch.games[0].stage.startswith(DAY)
        ended = list(results_of(games, options.seed, dice=playoffs))
        for fixture, result in zip(batch.games, ended, strict=True):
            season.results.setdefault(fixture.stage, []).append(result)
        if new and say is not None:
            said = "\n  ".join([f"{batch}:", *map(result_text, ended)]) if playoffs else leaders_text(season, batch)
            tqdm = sys.modules.get("tqdm")
            with tqdm.tqdm.external_write_mode() if tqdm else nullcontext():  # which hides a bar meanwhile
                say(said)

    place = RunFolder(folder, SEASON)
    games = Tournament(
        UmpirePlayer(umpire, options.seed),
        place,
        settings,
        options.resume,
        knows=lambda fixture: not fixture.stage.startswith(DAY) or replace(fixture, attempt=0) in days,
        warn=warn,
        workers=workers,
        progress=shown,
        each=each,
    )
    with place, feeding(None if known is None else store, "season", folder, known or {}, warn) as add:

        def keep(played: Sequence[Played]) -> None:
            records = [] if known is None else [Record.from_json(game.to_json()) for game in played]
            season.noted.extend(record for record in records if record.result.forfeit is not None or record.seconds)
            add(records)

        games.keep = keep
        games.run(stages())
        with waiting("Writing the report", shown=shown):
            files: dict[str, str | bytes] = {BRACKET: to_text(bracket_data(season))}
            page = Report(f"A season of {settings['game']}", _sections(season), page_file=PAGE, more_files=files)
            write_report(folder, page, warn)
        place.write(finish(settings, {name: (folder / name).read_bytes() for name in DATA}))
    paths = tuple(folder / name for name in (SETTINGS, *DATA, PAGE))
    return replace(season, games=games.games, played=games.played, files=paths)


def _batches(schedule: SeasonSchedule, chunk: int) -> Iterator[Batch[Fixture]]:
    """Yield the games of the days in batches of whole days: about `chunk` games each, as even as possible."""
    days = [
        [Fixture(f"{DAY}{day}", number, teams) for number, teams in enumerate(games, 1)]
        for day, games in enumerate(schedule.days, 1)
    ]
    parts = min(len(days), -(-schedule.games // chunk))
    for first, last in pairwise(len(days) * part // parts for part in range(parts + 1)):
        yield Batch(f"days {first + 1} to {last} of {len(days)}", tuple(chain(*days[first:last])))

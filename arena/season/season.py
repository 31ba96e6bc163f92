"""A season and its playoffs, in a folder from which a killed season can be continued.

    season.json       the settings, written first
    schedule.json     who plays whom, and how fair it is
    games.jsonl       one line a game, appended batch by batch (`play.tournament`)
    standings.json    written when the last day is over
    bracket.json, report.md   written when there is a champion (`season_reports`)

Games are played in two leagues of two divisions, and lead to playoffs. All games follow from the settings. So a
continued season plays only what is missing, and the files are the same, byte for byte.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from cellgames.agents.agent_specs import split_name
from cellgames.arena.play.tournament import Batch, Schedule, Stage, Tournament
from cellgames.arena.records.checksums import finish
from cellgames.arena.records.record_lines import FORFEIT_LOG
from cellgames.arena.records.store.store import AnyStore
from cellgames.arena.stats.tables import forfeits, thinking
from cellgames.runs.run_folder import ANSWERS, RunFolder, RunKind
from cellgames.runs.seeds import derive
from cellgames.utils.errors import InputError
from cellgames.utils.files import PathLike, write_atomic
from cellgames.utils.progress import waiting
from cellgames.utils.version import __version__

from . import season_reports as reports
from .games import REPLAYS, Fixture, Played, Umpire, UmpirePlayer, feeding_games, make_die, results_of
from .schedule import SeasonOptions, SeasonSchedule, draw_schedule
from .standings import Bracket, GameResult, Line, bracket, seed_teams, standings
from .teams import Team, by_league, check_names

SETTINGS, GAMES = "season.json", "games.jsonl"
SEASON = RunKind("season", SETTINGS, (GAMES, FORFEIT_LOG, ANSWERS, *reports.FILES))


@dataclass(frozen=True, kw_only=True)
class Season(reports.Summary):
    """A season that is over; `Summary` explains the other fields.

    Attributes:
        out: its folder.
        games: number of games played in all, replays too.
        played: number of games played by this call.
        files: all files of the folder that belong to the season.
    """

    out: Path
    games: int
    played: int
    files: tuple[Path, ...]


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
    settings = {
        **umpire.settings,
        "teams": [asdict(team) for team in teams],
        "days": options.days,
        "within": options.within,
        "seed": options.seed,
        "version": __version__,
        **({"identities": dict(known)} if (known := getattr(umpire, "identities", None)) is not None else {}),
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
    with place, feeding_games(store, folder, umpire, warn) as (games.keep, noted):
        games.run(course.games(Stage(batches, f"{options.days} days")))
        summary = reports.Summary(
            settings=settings,
            teams=teams,
            schedule=course.schedule,
            table=tuple(course.table),
            bracket=course.bracket,
            forfeits=forfeits(noted, complete=False),
            thinking=thinking(noted),
        )
        with waiting("Writing the report", shown=say is not None):
            written = reports.write_season(folder, summary, warn)
        data = {path.name: path.read_bytes() for path in (folder / GAMES, *written) if path.suffix.startswith(".json")}
        place.write(finish(settings, data))
    files = (folder / SETTINGS, folder / GAMES, *written)
    return Season(**vars(summary), out=Path(out), games=games.games, played=games.played, files=files)


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
        yield Batch(f"days {first} to {last} of {days}", tuple(games), replays=REPLAYS)


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
        data = reports.schedule_data(self.schedule, self.teams)
        write_atomic(self._folder / reports.SCHEDULE, reports.to_text(data))
        yield days
        self.table = self._standings()
        order = [line.team for line in self.table]
        seeds = seed_teams(self.table, self._leagues)
        data = reports.standings_data(self.teams, self.table, seeds)
        write_atomic(self._folder / reports.STANDINGS, reports.to_text(data))
        while True:  # a game of each series of the round at a time
            self.bracket = bracket(seeds, order, self._of_series)
            if self.bracket.champion is not None:
                return
            pending = self.bracket.pending
            fixtures = tuple(Fixture(series.key, 1 + len(series.results), series.seats()) for series in pending)
            label = f"{pending[0].round}, game {max(fixture.game for fixture in fixtures)}"
            yield Stage([Batch(label, fixtures, replays=REPLAYS)], here=True)

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
            self._say("\n  ".join([f"{batch}:", *map(reports.result_text, ended)]))
        elif new:
            self._say(reports.leaders_text(self._standings(), self.teams, str(batch)))

    def _standings(self) -> list[Line]:
        return standings(self.names, self._of_days, make_die(self._seed, "standings"))

"""A season and its playoffs, in a folder from which a killed season can be continued.

    season.json       the settings, written first
    schedule.json     who plays whom, and how fair it is
    games.jsonl       one line a game, appended batch by batch (`play.tournament`)
    standings.json    written when the last day is over
    bracket.*, report.md   written when there is a champion (`season_reports`)

All games follow from the settings. So a continued season plays only what is missing, and the files are the same, byte
for byte.

`play_season` plays leagues of games for two. What other kinds of seasons share with it is `conduct`: the folder, the
games, workers and the store. A `Form` is the rest: schedule, standings, the games after the days, reports.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from cellgames.agents.agent_names import split_name
from cellgames.arena.play.tournament import Batch, Schedule, Stage, Tournament
from cellgames.arena.records.checksums import finish
from cellgames.arena.records.forfeit_log import FORFEIT_LOG
from cellgames.arena.records.store.feed import AnyStore
from cellgames.arena.stats.tables import forfeits, thinking
from cellgames.cluster.workers import Workers
from cellgames.runs.comparing import ANSWERS
from cellgames.runs.run_folder import COMMITMENT, RunFolder, RunKind
from cellgames.runs.secret_seed import commitment, covered, revealed_line, with_seed
from cellgames.runs.seeds import derive
from cellgames.utils.files import PathLike, write_atomic
from cellgames.utils.progress import waiting
from cellgames.utils.version import __version__

from . import season_reports as reports
from .games import REPLAYS, AgentUmpire, Fixture, Played, Umpire, make_die, results_of
from .player import UmpirePlayer, feeding_games, last_of
from .playoffs import Bracket, bracket
from .schedule import SeasonOptions, SeasonSchedule, draw_schedule
from .standings import GameResult, Line, seed_teams, standings
from .teams import Team, by_league, check_names

__all__ = ["AnySeason", "Form", "Run", "Season", "SeasonIO", "conduct", "play_season"]

SETTINGS, GAMES = "season.json", "games.jsonl"
# Files of every form, since a season that starts over may take the place of one of another form.
SEASON = RunKind("season", SETTINGS, (GAMES, FORFEIT_LOG, ANSWERS, *reports.FILES, "final.json"))


@dataclass(frozen=True, kw_only=True)
class AnySeason:
    """A season of any form that is over.

    Attributes:
        out: its folder.
        teams: in the order given.
        schedule: its days.
        games: how many were played in all, replays too.
        played: how many of them by this call.
        files: all files of the folder that belong to the season.
        notes: sentences on the time of agents' moves, and on forfeited games.
    """

    out: Path
    teams: tuple[Team, ...]
    schedule: SeasonSchedule
    games: int
    played: int
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Season(AnySeason):
    """A season of leagues that is over; `AnySeason` explains the other fields.

    Attributes:
        table: the standings of all teams.
        bracket: the playoffs.
    """

    table: tuple[Line, ...]
    bracket: Bracket


@dataclass(frozen=True)
class SeasonIO:
    """The folder of a season, who else gets its games, and who is told about it; `play_season` explains the fields.

    Attributes:
        out: the folder.
        store: gets the games of agents.
        workers: play the days; None for this process.
        say: gets standings and results; None for silence.
        warn: gets a line for each thing left out.
    """

    out: PathLike
    store: AnyStore = None
    workers: Workers | None = None
    say: Callable[[str], None] | None = None
    warn: Callable[[str], None] = lambda message: None


class Form(Protocol):
    """The part of a season that depends on how many teams play a game.

    Attributes:
        schedule: the days.
        replays: the most of a game of the days without a winner.
    """

    schedule: SeasonSchedule
    replays: int

    @property
    def settings(self) -> dict[str, Any]:
        """Return the settings of this form, for season.json."""

    def schedule_data(self) -> dict[str, Any]:
        """Return the content of schedule.json."""

    def games(self, days: Stage[Fixture], run: Run) -> Schedule[Fixture, Played]:
        """Ask for the days, write the standings after them, and ask for all other games."""

    def tell(self, batch: Batch[Fixture], games: Sequence[Played], new: bool) -> None:
        """Take the games of the next batch, and say how it ended if they are new."""

    def write(self, folder: Path, season: reports.AnySummary, warn: Callable[[str], None]) -> list[Path]:
        """Write the results of the season that is over; return its files, with those written before."""


F = TypeVar("F", bound=Form)


def play_season(
    teams: Sequence[Team],
    umpire: Umpire,
    options: SeasonOptions | None = None,
    *,
    out: PathLike,
    store: AnyStore = None,
    workers: Workers | None = None,
    say: Callable[[str], None] | None = None,
    warn: Callable[[str], None] = lambda message: None,
) -> Season:
    """Play the days and the playoffs, keep the games and write the tables; see the module.

    Args:
        teams: with leagues and divisions, as `teams.assign_divisions` gives them. Tables and records have the names of
            agents (`agents.agent_names.split_name`).
        umpire: plays the games, which are for two. `play_table_season` takes games of more.
        options: such as `SeasonOptions(days=21, seed=1)`; None for the defaults.
        out: the folder; created if necessary. This season is continued if the folder holds a part of it.
        store: gets the games of agents too, batch by batch (`store.Store`).
        workers: play the days; None for this process. The season is the same.
        say: gets the standings from time to time, and the results of the playoffs; progress is then shown on standard
            error, too. None for silence.
        warn: gets a line for each thing left out, such as a picture without Pillow or a torn line.

    Raises:
        RunError: the folder holds something else or another season, or another process uses it.
        RecordError: games.jsonl has a line that was written like this, and cannot be read.
        StoreError: the store is another kind of file, or cannot be created.
        ClusterError: workers could not play a batch; those before it are in the folder.
        ValueError: teams or options that do not fit, or agents that cannot be sent to workers.
    """
    if (seats := getattr(umpire, "seats", 2)) != 2:
        raise ValueError(f"expected games of two teams, got {seats} of them at a table; play_table_season takes these")
    options = options or SeasonOptions()
    if options.place_points:
        raise ValueError("place_points is for games of more than two; of two teams one wins")
    form, done = conduct(_LeagueForm, teams, umpire, options, SeasonIO(out, store, workers, say, warn))
    return Season(**vars(done), table=tuple(form.table), bracket=form.bracket)


def conduct(
    make_form: Callable[[Sequence[Team], SeasonOptions], F],
    teams: Sequence[Team],
    umpire: Umpire,
    options: SeasonOptions,
    io: SeasonIO,
) -> tuple[F, AnySeason]:
    """Play a season of any form in its folder, and return its form, which has its results; see `play_season`.

    Args:
        make_form: makes the form for the teams, whose agents have the names of tables, and for options with a seed.
        teams: names differ.
        umpire: plays the games.
        options: of the season.
        io: where it is kept.
    """
    folder, warn = Path(io.out).absolute(), io.warn
    check_names(teams)
    options = with_seed(options, folder, SEASON, warn)
    specs = {name: spec for name, spec in (split_name(team.agent) for team in teams) if name != spec}
    teams = tuple(replace(team, agent=split_name(team.agent)[0]) for team in teams)
    seed, progress, say = options.seed, io.say is not None, io.say or (lambda message: None)
    form = make_form(teams, options)
    settings = _settings(umpire, teams, specs, options, form)
    batches = list(_batches(form.schedule, umpire.chunk, form.replays))
    days = {fixture for batch in batches for fixture in batch.games}

    def knows(fixture: Fixture) -> bool:
        return not fixture.stage.startswith("day ") or replace(fixture, attempt=0) in days

    player = UmpirePlayer(umpire, seed)
    if io.workers is not None:
        player.work()  # or say at once that there is none
    with (
        RunFolder(folder, SEASON) as place,
        feeding_games(io.store, "season", folder, umpire, warn) as (keep, noted),
    ):
        place.begin(settings, resume=options.resume)
        place.write(covered(settings) if options.secret_seed else settings)
        write_atomic(folder / reports.SCHEDULE, reports.to_text(form.schedule_data()))
        path = folder / GAMES
        games = Tournament(player, path, knows, keep, warn, io.workers, progress, each=form.tell)
        games.run(form.games(Stage(batches, f"{options.days} days"), Run(seed, folder, _beside_bar(say))))
        if options.secret_seed:
            warn(revealed_line(seed))
        summary = reports.AnySummary(
            settings=settings,
            teams=teams,
            schedule=form.schedule,
            forfeits=forfeits(noted),
            thinking=thinking(noted),
        )
        with waiting("Writing the report", shown=io.say is not None):
            written = form.write(folder, summary, warn)
        data = {path.name: path.read_bytes() for path in (folder / GAMES, *written) if path.suffix.startswith(".json")}
        place.write(finish(settings, data))
    return form, AnySeason(
        out=Path(io.out),
        teams=teams,
        schedule=form.schedule,
        games=games.games,
        played=games.played,
        files=(folder / SETTINGS, folder / GAMES, *written),
        notes=tuple(summary.notes),
    )


def _settings(
    umpire: Umpire,
    teams: Sequence[Team],
    specs: Mapping[str, str],
    options: SeasonOptions,
    form: Form,
) -> dict[str, Any]:
    """Return the content of season.json, with the seed; `specs` are those of agents with names of their own."""
    return {
        **umpire.settings,
        "teams": [asdict(team) for team in teams],
        "days": options.days,
        **form.settings,
        "seed": options.seed,
        "version": __version__,
        **({"identities": dict(umpire.identities)} if isinstance(umpire, AgentUmpire) else {}),
        **({"specs": dict(specs)} if specs else {}),
        **({COMMITMENT: commitment(options.seed)} if options.secret_seed else {}),
    }


def _beside_bar(say: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that prints while progress is shown: it hides a bar of tqdm meanwhile."""

    def say_beside(message: str) -> None:
        tqdm = sys.modules.get("tqdm")
        with tqdm.tqdm.external_write_mode() if tqdm else nullcontext():
            say(message)

    return say_beside


def _batches(schedule: SeasonSchedule, chunk: int, replays: int) -> Iterator[Batch[Fixture]]:
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
        yield Batch(f"days {first} to {last} of {days}", tuple(games), replays=replays)


@dataclass(frozen=True)
class Run:
    """The data of a season that its form needs for its games.

    Attributes:
        seed: the season's.
        folder: its folder.
        say: gets standings and results.
    """

    seed: int
    folder: Path
    say: Callable[[str], None]


class _LeagueForm:
    """Two leagues of two divisions, games of two teams, and playoffs."""

    replays = REPLAYS

    def __init__(self, teams: Sequence[Team], options: SeasonOptions) -> None:
        self.teams, self.leagues, self._within = teams, by_league(teams), options.within
        rng = random.Random(derive(options.seed, "schedule"))
        divisions = [divisions.values() for divisions in self.leagues.values()]
        self.schedule = draw_schedule(divisions, options.days, options.within, rng)
        self.table: list[Line] = []
        self.bracket = Bracket({}, ())
        self._of_days: list[GameResult] = []
        self._run = Run(options.seed, Path(), lambda message: None)

    @property
    def settings(self) -> dict[str, Any]:
        return {"within": self._within}

    def schedule_data(self) -> dict[str, Any]:
        return reports.schedule_data(self.schedule, self.leagues)

    def games(self, days: Stage[Fixture], run: Run) -> Schedule[Fixture, Played]:
        self._run = run
        yield days
        self.table = self._standings()
        seeds = seed_teams(self.table, self.leagues)
        write_atomic(
            run.folder / reports.STANDINGS, reports.to_text(reports.standings_data(self.teams, self.table, seeds))
        )
        order, results = [line.team for line in self.table], dict[str, list[GameResult]]()
        self.bracket = bracket(seeds, order, results)
        while self.bracket.champion is None:  # a game of each series of the round at a time
            pending = self.bracket.pending
            fixtures = tuple(Fixture(series.key, 1 + len(series.results), series.seats()) for series in pending)
            label = f"{pending[0].round}, game {max(fixture.game for fixture in fixtures)}"
            batch = Batch(label, fixtures, replays=REPLAYS)
            (games,) = yield Stage([batch], here=True)
            for series, result in zip(pending, self._results(batch, games, dice=True), strict=True):
                results.setdefault(series.key, []).append(result)
            self.bracket = bracket(seeds, order, results)

    def tell(self, batch: Batch[Fixture], games: Sequence[Played], new: bool) -> None:
        playoffs = bool(self.table)
        ended = self._results(batch, games, dice=playoffs)
        if not playoffs:
            self._of_days += ended
        if new and playoffs:
            self._run.say("\n  ".join([f"{batch}:", *map(reports.result_text, ended)]))
        elif new:
            self._run.say(reports.leaders_text(self._standings(), self.leagues, str(batch)))

    def _results(self, batch: Batch[Fixture], games: Sequence[Played], *, dice: bool) -> list[GameResult]:
        return list(results_of(batch.games, last_of(batch, games), self._run.seed, dice=dice))

    def _standings(self) -> list[Line]:
        return standings([team.name for team in self.teams], self._of_days, make_die(self._run.seed, "standings"))

    def write(self, folder: Path, season: reports.AnySummary, warn: Callable[[str], None]) -> list[Path]:
        summary = reports.Summary(**vars(season), table=tuple(self.table), bracket=self.bracket)
        return reports.write_season(folder, summary, warn)

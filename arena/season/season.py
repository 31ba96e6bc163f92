"""A season and its playoffs, in a folder from which a killed season can be continued.

    season.json       the settings, written first
    schedule.json     who plays whom, and how fair it is
    games.jsonl       one line a game, appended batch by batch (`journal`)
    standings.json    written when the last day is over
    bracket.*, report.md   written when there is a champion (`season_reports`)

All games follow from the settings. So a continued season plays only what is missing, and the files are the same, byte
for byte.

`play_season` plays leagues of games for two. What other kinds of seasons share with it is `conduct`: the folder, the
journal, batches, workers and the store. A `Form` is the rest: schedule, standings, the games after the days, reports.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from cellgames.agents.agent_names import split_name
from cellgames.arena.records.checksums import finish
from cellgames.arena.records.forfeit_log import FORFEIT_LOG, ForfeitLog
from cellgames.arena.records.store.feed import AnyStore
from cellgames.arena.stats.tables import forfeits, thinking
from cellgames.cluster.workers import Workers
from cellgames.runs.comparing import ANSWERS
from cellgames.runs.run_folder import COMMITMENT, RunFolder, RunKind
from cellgames.runs.secret_seed import commitment, covered, revealed_line, with_seed
from cellgames.runs.seeds import derive
from cellgames.utils.files import PathLike, write_atomic
from cellgames.utils.progress import progress as show_progress
from cellgames.utils.progress import waiting
from cellgames.utils.version import __version__

from . import season_reports as reports
from .games import REPLAYS, AgentUmpire, Fixture, Played, Umpire, make_die, settle
from .journal import Journal, feeding_games
from .playoffs import Bracket, bracket
from .prefetch import Ahead, Batch, beside_bar
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

    def play(self, run: Run, batches: Iterable[Batch], folder: Path) -> None:
        """Play all games, and write the standings after the days."""

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
        workers: play the days, some batches ahead (`prefetch`); None for this process. The season is the same.
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
    batches = list(_batches(form.schedule, umpire.chunk))
    player: AbstractContextManager[Umpire] = nullcontext(umpire)
    if io.workers is not None:
        label = f"{options.days} days" if progress else ""
        player = Ahead(umpire, io.workers, seed, batches, label, form.replays)
        progress, say = False, beside_bar(say)
    with (
        RunFolder(folder, SEASON) as place,
        feeding_games(io.store, "season", folder, umpire, warn) as (keep, noted),
        player as plays,
    ):
        place.begin(settings, resume=options.resume)
        place.write(covered(settings) if options.secret_seed else settings)
        write_atomic(folder / reports.SCHEDULE, reports.to_text(form.schedule_data()))
        days = {fixture for batch in batches for fixture in batch.fixtures}
        journal = Journal(folder / GAMES, plays, seed, warn, keep, ForfeitLog(folder), days=days)
        form.play(Run(seed, journal, progress, say), batches, folder)
        journal.close()
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
        games=journal.games,
        played=journal.played,
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


def _batches(schedule: SeasonSchedule, chunk: int) -> Iterator[Batch]:
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


@dataclass(frozen=True)
class Run:
    """The shared data of the parts of a season, for its form.

    Attributes:
        seed: the season's.
        journal: plays and keeps the games.
        progress: True to show it on standard error.
        say: gets standings and results.
    """

    seed: int
    journal: Journal
    progress: bool
    say: Callable[[str], None]

    def play(self, batch: Sequence[Fixture], label: str = "") -> list[Played]:
        """Play games once; show progress where there is a label and something to play."""
        shown = self.progress and bool(label) and not self.journal.holds(batch)
        replays = f", replay {batch[0].attempt}" if batch[0].attempt else ""
        with show_progress(len(batch), label=label + replays, shown=shown) as finished:
            return self.journal.play(batch, finished)


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

    @property
    def settings(self) -> dict[str, Any]:
        return {"within": self._within}

    def schedule_data(self) -> dict[str, Any]:
        return reports.schedule_data(self.schedule, self.leagues)

    def play(self, run: Run, batches: Iterable[Batch], folder: Path) -> None:
        self.table = self._days(run, batches)
        seeds = seed_teams(self.table, self.leagues)
        write_atomic(
            folder / reports.STANDINGS,
            reports.to_text(reports.standings_data(self.teams, self.table, seeds)),
        )
        self.bracket = self._playoffs(run, seeds)

    def _days(self, run: Run, batches: Iterable[Batch]) -> list[Line]:
        """Play the days; the standings after them."""
        names, die = [team.name for team in self.teams], make_die(run.seed, "standings")
        results: list[GameResult] = []
        for batch in batches:
            before = run.journal.played
            results += settle(batch.fixtures, partial(run.play, label=batch.label), run.seed, dice=False)
            if run.journal.played > before:
                run.say(reports.leaders_text(standings(names, results, die), self.leagues, batch.label))
        return standings(names, results, die)

    def _playoffs(self, run: Run, seeds: Mapping[str, Sequence[str]]) -> Bracket:
        """Play the series. Those of a round are played at the same time, one game of each at a time."""
        order = [line.team for line in self.table]
        results: dict[str, list[GameResult]] = {}
        state = bracket(seeds, order, results)
        while state.champion is None:
            pending = state.pending
            fixtures = [Fixture(series.key, 1 + len(series.results), series.seats()) for series in pending]
            number, before = max(fixture.game for fixture in fixtures), run.journal.played
            ended = list(settle(fixtures, run.play, run.seed, dice=True))
            for series, result in zip(pending, ended, strict=True):
                results.setdefault(series.key, []).append(result)
            state = bracket(seeds, order, results)
            if run.journal.played > before:
                run.say("\n  ".join([f"{pending[0].round}, game {number}:", *map(reports.result_text, ended)]))
        return state

    def write(self, folder: Path, season: reports.AnySummary, warn: Callable[[str], None]) -> list[Path]:
        summary = reports.Summary(**vars(season), table=tuple(self.table), bracket=self.bracket)
        return reports.write_season(folder, summary, warn)

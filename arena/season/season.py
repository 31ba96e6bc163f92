"""A season and its playoffs, in a folder from which a killed season can be continued.

    season.json       the settings, written first
    schedule.json     who plays whom, and how fair it is
    games.jsonl       one line a game, appended batch by batch (`journal`)
    games.digests     the digest of each of these lines (`line_digests`)
    standings.json    written when the last day is over
    bracket.*, report.md   written when there is a champion (`season_reports`)

All games follow from the settings. So a continued season plays only what is missing, and the files are the same, byte
for byte.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cellgames.agents.agent_names import split_name
from cellgames.arena.play.chunks import refuse_changed
from cellgames.arena.play.match import derive
from cellgames.arena.play.secret_seed import COMMITMENT, commitment, covered, revealed_line, with_seed
from cellgames.arena.records.forfeit_log import FORFEIT_LOG, ForfeitLog
from cellgames.arena.records.line_digests import DIGESTS
from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.store.feed import AnyStore, feeding
from cellgames.arena.stats.tables import forfeits, thinking
from cellgames.cluster.workers import Workers
from cellgames.utils import last_call
from cellgames.utils.progress import progress as show_progress
from cellgames.utils.run_folders import (
    ANSWERS,
    START_OVER,
    PathLike,
    RunError,
    differences,
    opened,
    refuse_foreign,
    write_atomic,
)
from cellgames.utils.version import __version__

from . import season_reports as reports
from .games import AgentUmpire, Fixture, Played, Umpire, make_die, settle
from .journal import Journal
from .playoffs import Bracket, bracket
from .prefetch import Ahead, Batch, beside_bar
from .schedule import SeasonOptions, SeasonSchedule, draw_schedule
from .standings import GameResult, Line, seed_teams, standings
from .teams import Leagues, Team, by_league, check_names

__all__ = ["Season", "play_season"]

SETTINGS, GAMES = "season.json", "games.jsonl"
_FILES = (SETTINGS, GAMES, DIGESTS, FORFEIT_LOG, ANSWERS, *reports.FILES)


@dataclass(frozen=True)
class Season:
    """A season that is over.

    Attributes:
        out: its folder.
        teams: in the order given.
        schedule: its days.
        table: the standings of all teams.
        bracket: the playoffs.
        games: how many were played in all, replays too.
        played: how many of them by this call.
        files: all files of the folder that belong to the season.
        notes: sentences on the time of agents' moves, and on forfeited games.
    """

    out: Path
    teams: tuple[Team, ...]
    schedule: SeasonSchedule
    table: tuple[Line, ...]
    bracket: Bracket
    games: int
    played: int
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


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
        umpire: plays the games.
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
    folder = Path(out).absolute()
    check_names(teams)
    options = with_seed(options or SeasonOptions(), folder, SETTINGS, warn)
    specs = {name: spec for name, spec in (split_name(team.agent) for team in teams) if name != spec}
    teams = [replace(team, agent=split_name(team.agent)[0]) for team in teams]
    seed, progress, say = options.seed, say is not None, say or (lambda message: None)
    leagues, rng = by_league(teams), random.Random(derive(seed, "schedule"))
    schedule = draw_schedule([divisions.values() for divisions in leagues.values()], options.days, options.within, rng)
    settings = {
        **umpire.settings,
        "teams": [asdict(team) for team in teams],
        "days": options.days,
        "within": options.within,
        "seed": seed,
        "version": __version__,
        **({"identities": dict(umpire.identities)} if isinstance(umpire, AgentUmpire) else {}),
        **({"specs": specs} if specs else {}),
        **({COMMITMENT: commitment(seed)} if options.secret_seed else {}),
    }
    noted: list[Record] = []
    batches = list(_batches(schedule, umpire.chunk))
    player: AbstractContextManager[Umpire] = nullcontext(umpire)
    if workers is not None:
        label = f"{options.days} days" if progress else ""
        player = Ahead(umpire, workers, seed, batches, label)
        progress, say = False, beside_bar(say)
    with (
        opened(folder, _FILES),
        last_call.kept_in(folder, warn),
        _feeding(store, folder, umpire, warn, noted) as keep,
        player as plays,
    ):
        if not options.resume and (folder / SETTINGS).exists():
            for name in _FILES[1:]:
                (folder / name).unlink(missing_ok=True)
        else:
            _check_folder(folder, settings)
        write_atomic(folder / SETTINGS, reports.to_text(covered(settings) if options.secret_seed else settings))
        write_atomic(folder / reports.SCHEDULE, reports.to_text(reports.schedule_data(schedule, leagues)))
        days = {fixture for batch in batches for fixture in batch.fixtures}
        journal = Journal(folder / GAMES, plays, seed, warn, keep, ForfeitLog(folder), days=days)
        run = _Run(teams, leagues, schedule, seed, journal, progress, say)
        table = run.days(batches)
        seeds = seed_teams(table, leagues)
        write_atomic(folder / reports.STANDINGS, reports.to_text(reports.standings_data(teams, table, seeds)))
        playoffs = run.playoffs(table, seeds)
        run.journal.close()
        if options.secret_seed:
            write_atomic(folder / SETTINGS, reports.to_text(settings))
            warn(revealed_line(seed))
        summary = reports.Summary(
            settings, tuple(teams), schedule, tuple(table), playoffs, forfeits(noted), thinking(noted)
        )
        files = reports.write_season(folder, summary, warn)
    games, played = run.journal.games, run.journal.played
    paths = (folder / SETTINGS, folder / GAMES, folder / DIGESTS, *files)
    notes = tuple(summary.notes)
    return Season(Path(out), summary.teams, schedule, summary.table, playoffs, games, played, paths, notes)


@contextmanager
def _feeding(
    store: AnyStore, folder: Path, umpire: Umpire, warn: Callable[[str], None], noted: list[Record]
) -> Iterator[Callable[[Sequence[Played]], None]]:
    """Yield a function that adds games to the store, and those to report to `noted`; without agents it does nothing."""
    if not isinstance(umpire, AgentUmpire):
        yield lambda played: None
        return
    with feeding(store, "season", folder, umpire.identities, warn) as keep:

        def keep_all(played: Sequence[Played]) -> None:
            records = umpire.records(played)
            noted.extend(record for record in records if record.result.forfeit is not None or record.seconds)
            keep(records)

        yield keep_all


def _batches(schedule: SeasonSchedule, chunk: int) -> Iterator[Batch]:
    """Yield the games of the days in batches of whole days: about `chunk` games each, as even as possible."""
    days = len(schedule.days)
    parts = min(days, -(-schedule.games // chunk))
    for part in range(parts):
        first, last = days * part // parts + 1, days * (part + 1) // parts
        games = (
            Fixture(f"day {day}", number, pair)
            for day in range(first, last + 1)
            for number, pair in enumerate(schedule.days[day - 1], 1)
        )
        yield Batch(f"days {first} to {last} of {days}", tuple(games))


@dataclass(frozen=True)
class _Run:
    """The shared data of the parts of a season."""

    teams: Sequence[Team]
    leagues: Leagues
    schedule: SeasonSchedule
    seed: int
    journal: Journal
    progress: bool
    say: Callable[[str], None]

    def days(self, batches: Iterable[Batch]) -> list[Line]:
        """Play the days; the standings after them."""
        names, die = [team.name for team in self.teams], make_die(self.seed, "standings")
        results: list[GameResult] = []
        for batch in batches:
            before = self.journal.played
            results += self._settle(batch.fixtures, batch.label, dice=False)
            if self.journal.played > before:
                self.say(reports.leaders_text(standings(names, results, die), self.leagues, batch.label))
        return standings(names, results, die)

    def playoffs(self, table: Sequence[Line], seeds: Mapping[str, Sequence[str]]) -> Bracket:
        """Play the series. Those of a round are played at the same time, one game of each at a time."""
        order = [line.team for line in table]
        results: dict[str, list[GameResult]] = {}
        state = bracket(seeds, order, results)
        while state.champion is None:
            pending = state.pending
            fixtures = [Fixture(series.key, 1 + len(series.results), series.seats()) for series in pending]
            number, before = max(fixture.game for fixture in fixtures), self.journal.played
            ended = self._settle(fixtures, dice=True)
            for series, result in zip(pending, ended, strict=True):
                results.setdefault(series.key, []).append(result)
            state = bracket(seeds, order, results)
            if self.journal.played > before:
                self.say("\n  ".join([f"{pending[0].round}, game {number}:", *map(reports.result_text, ended)]))
        return state

    def _settle(self, fixtures: Sequence[Fixture], label: str = "", *, dice: bool) -> list[GameResult]:
        """Return the results of games; show progress where there is a label and something to play."""

        def play(batch: Sequence[Fixture]) -> list[Played]:
            shown = self.progress and bool(label) and not self.journal.holds(batch)
            replays = f", replay {batch[0].attempt}" if batch[0].attempt else ""
            with show_progress(len(batch), label=label + replays, shown=shown) as finished:
                return self.journal.play(batch, finished)

        return list(settle(fixtures, play, self.seed, dice=dice))


def _check_folder(folder: Path, settings: dict[str, Any]) -> None:
    """Raise a `RunError` unless the folder is empty or holds this season."""
    refuse_foreign(folder, SETTINGS)
    path = folder / SETTINGS
    if not path.exists():
        return
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        expected = _flat(found)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"{path} cannot be read ({error!r}); {START_OVER}") from None
    refuse_changed(folder, found.get("identities"), settings.get("identities", {}))
    wanted = _flat(settings)
    if wrong := differences({**dict.fromkeys(wanted), **expected}, wanted):
        raise RunError(f"{folder} holds another season. {wrong}; {START_OVER}")


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with a field for each team, so that a message on differences is short."""
    teams = {f"team {number}": list(team.values()) for number, team in enumerate(settings["teams"], 1)}
    apart = {"teams", "identities", "specs", *(["seed"] if settings.get(COMMITMENT) else [])}
    others = {name: value for name, value in settings.items() if name not in apart}
    return {**others, **teams}

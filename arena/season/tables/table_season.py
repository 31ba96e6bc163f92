"""A season of games of more than two seats, such as Grid Adaptation, or the Toroidal Cup with four teams a game.

All teams are in one field: no leagues, no divisions. On each day they are dealt to tables, whose places bring points
(`place_standings`), and the best of the season play the final table (`final_table`). Folder, journal, batches, workers
and store are those of any season (`season.conduct`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from cellgames.arena.play.match import derive
from cellgames.arena.records.record_lines import Record
from cellgames.arena.season import season_reports
from cellgames.arena.season.games import Fixture, Played, Umpire, last_attempts, make_die
from cellgames.arena.season.prefetch import Batch
from cellgames.arena.season.schedule import SeasonOptions, SeasonSchedule
from cellgames.arena.season.season import Run, SeasonIO, conduct
from cellgames.arena.season.standings import roll_off
from cellgames.arena.season.teams import Team
from cellgames.arena.season.titles.title import NO_TITLE, Title
from cellgames.arena.stats.tables import forfeits, thinking
from cellgames.utils.run_folders import write_atomic

from . import table_reports as reports
from .final_table import FINAL, FinalTable
from .place_standings import PlaceLine, TableResult, place_standings, points_of_places
from .table_schedule import draw_tables

__all__ = ["TableSeason", "TableUmpire", "play_table_season"]


@runtime_checkable
class TableUmpire(Umpire, Protocol):
    """An umpire that says how many seats its games have; those it plays have `Played.places`."""

    seats: int


@dataclass(frozen=True)
class TableSeason:
    """A season of tables that is over.

    Attributes:
        out: its folder.
        teams: in the order given.
        schedule: its days.
        table: the standings of all teams.
        final: the final table.
        games: how many were played in all, replays too.
        played: how many of them by this call.
        files: all files of the folder that belong to the season.
        notes: sentences on the time of agents' moves, and on forfeited games.
        title: as the season began, with the champions of those before it.
    """

    out: Path
    teams: tuple[Team, ...]
    schedule: SeasonSchedule
    table: tuple[PlaceLine, ...]
    final: FinalTable
    games: int
    played: int
    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    title: Title = NO_TITLE


def play_table_season(
    teams: Sequence[Team], umpire: TableUmpire, options: SeasonOptions | None = None, *, io: SeasonIO
) -> TableSeason:
    """Play the days and the final table, keep the games and write the tables.

    Args:
        teams: with different names, without leagues; as many as a game has seats, or more.
        umpire: plays the games, such as `BotUmpire` or `CupUmpire`.
        options: such as `SeasonOptions(days=21, seed=1)`; None for the defaults. `within` is for seasons of leagues.
        io: the folder, and what else `play_season` takes.

    Raises:
        ValueError: games for two, teams or options that do not fit, or agents that cannot be sent to workers. All other
            errors are those of `play_season`.
    """
    options = options or SeasonOptions()
    if umpire.seats < 3:
        raise ValueError(f"expected games of three seats or more, got {umpire.seats}; play_season takes games for two")
    if options.within != SeasonOptions.within:
        raise ValueError("within is for seasons of leagues, whose games are for two; tables have no divisions")
    if placed := [team.name for team in teams if team.league or team.division]:
        raise ValueError(f"expected teams without leagues, since tables have none, but {placed[0]} is in one")
    done = conduct(partial(_TableForm, umpire.seats), teams, umpire, options, io)
    return TableSeason(
        out=Path(io.out),
        teams=done.teams,
        schedule=done.form.schedule,
        table=tuple(done.form.table),
        final=done.form.final,
        games=done.games,
        played=done.played,
        files=done.files,
        notes=tuple(done.form.notes),
        title=done.form.title,
    )


class _TableForm:
    """Tables of one field of teams, and a final table; see `season.Form`."""

    replays = 0  # places that are shared are a result
    files: Sequence[str] = reports.FILES

    def __init__(self, seats: int, teams: Sequence[Team], options: SeasonOptions) -> None:
        self.points = points_of_places(options.place_points, seats)
        self.names, self._teams, self._seats = [team.name for team in teams], teams, seats
        self.schedule = draw_tables(self.names, seats, options.days, random.Random(derive(options.seed, "schedule")))
        self.table: list[PlaceLine] = []
        self.final, self.title = FinalTable(()), NO_TITLE
        self.notes: list[str] = []

    @property
    def settings(self) -> dict[str, Any]:
        return {"place_points": list(self.points)}

    def schedule_data(self) -> dict[str, Any]:
        return reports.schedule_data(self.schedule, self.names)

    def play(self, run: Run, batches: Iterable[Batch], folder: Path) -> None:
        self.title = run.title
        die, results = make_die(run.seed, "standings"), list[TableResult]()
        for batch in batches:
            before = run.journal.played
            played = last_attempts(batch.fixtures, partial(run.play, label=batch.label), self.replays)
            results += map(_result, batch.fixtures, played)
            if run.journal.played > before:
                table = place_standings(self.names, results, self.points, die)
                run.say(reports.leaders_text(table, batch.label, self._seats))
        self.table = place_standings(self.names, results, self.points, die)
        self.final = FinalTable(tuple(line.team for line in self.table[: self._seats]))
        data = reports.standings_data(self._teams, self.table, self.final, self.title)
        write_atomic(folder / season_reports.STANDINGS, season_reports.to_text(data))
        while self.final.champion is None:
            fixture, before = run.fixture(FINAL, 1 + len(self.final.results), self.final.seats()), run.journal.played
            (last,) = last_attempts([fixture], run.play)
            result = _result(fixture, last, run.seed)
            self.final = self.final.after(result)
            if run.journal.played > before:
                run.say(f"{FINAL}, game {fixture.game}:\n  {reports.result_text(result)}")

    def write(
        self, folder: Path, settings: Mapping[str, Any], noted: Sequence[Record], warn: Callable[[str], None]
    ) -> list[Path]:
        summary = reports.TableSummary(
            settings,
            tuple(self._teams),
            self.schedule,
            tuple(self.table),
            self.final,
            forfeits(noted),
            thinking(noted),
            self.title,
        )
        self.notes = summary.notes
        return reports.write_table_season(folder, summary, warn)


def _result(fixture: Fixture, played: Played, seed: int | None = None) -> TableResult:
    """Return the result of a game; with a seed, dice decide between those who share the first place."""
    if len(played.places) != len(fixture.teams):
        raise ValueError(f"{fixture}: expected an umpire that gives places, got {played.places} of one")
    winner = None if played.winner is None else fixture.teams[played.winner]
    rolls: tuple[tuple[int, ...], ...] = ()
    if winner is None and seed is not None:
        first = [team for team, place in zip(fixture.teams, played.places, strict=True) if place == 1]
        thrown = dict(roll_off(first, make_die(seed, fixture.stage, fixture.game)))
        winner, rolls = next(iter(thrown)), tuple(thrown.get(team, ()) for team in fixture.teams)
    return TableResult(fixture.teams, played.scores, played.places, winner, 1 + played.fixture.attempt, rolls)

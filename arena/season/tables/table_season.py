"""A season of games of more than two seats, such as Grid Adaptation, or the Toroidal Cup with four teams a game.

All teams are in one field: no leagues, no divisions. On each day they are dealt to tables, whose places bring points
(`place_standings`), and the best of the season play the final table (`final_table`). Folder, games, workers and store
are those of any season (`season.conduct`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from cellgames.arena.play.tournament import Batch, Schedule, Stage
from cellgames.arena.season import season_reports
from cellgames.arena.season.games import REPLAYS, Fixture, Played, Umpire, make_die
from cellgames.arena.season.player import last_of
from cellgames.arena.season.schedule import SeasonOptions
from cellgames.arena.season.season import AnySeason, Run, SeasonIO, conduct
from cellgames.arena.season.standings import roll_off
from cellgames.arena.season.teams import Team
from cellgames.runs.seeds import derive
from cellgames.utils.files import write_atomic

from . import table_reports as reports
from .final_table import FINAL, FinalTable
from .place_standings import PlaceLine, TableResult, place_standings, points_of_places
from .table_schedule import draw_tables

__all__ = ["TableSeason", "TableUmpire", "play_table_season"]


@runtime_checkable
class TableUmpire(Umpire, Protocol):
    """An umpire that says how many seats its games have; those it plays have `Played.places`."""

    seats: int


@dataclass(frozen=True, kw_only=True)
class TableSeason(AnySeason):
    """A season of tables that is over; `AnySeason` explains the other fields.

    Attributes:
        table: the standings of all teams.
        final: the final table.
    """

    table: tuple[PlaceLine, ...]
    final: FinalTable


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
    form, done = conduct(partial(_TableForm, umpire.seats), teams, umpire, options, io)
    return TableSeason(**vars(done), table=tuple(form.table), final=form.final)


class _TableForm:
    """Tables of one field of teams, and a final table; see `season.Form`."""

    replays = 0  # places that are shared are a result

    def __init__(self, seats: int, teams: Sequence[Team], options: SeasonOptions) -> None:
        self.points = points_of_places(options.place_points, seats)
        self.names, self._teams, self._seats = [team.name for team in teams], teams, seats
        self.schedule = draw_tables(self.names, seats, options.days, random.Random(derive(options.seed, "schedule")))
        self.table: list[PlaceLine] = []
        self.final = FinalTable(())
        self._of_days: list[TableResult] = []
        self._run = Run(options.seed, Path(), lambda message: None)

    @property
    def settings(self) -> dict[str, Any]:
        return {"place_points": list(self.points)}

    def schedule_data(self) -> dict[str, Any]:
        return reports.schedule_data(self.schedule, self.names)

    def games(self, days: Stage[Fixture], run: Run) -> Schedule[Fixture, Played]:
        self._run = run
        yield days
        self.table = self._standings()
        self.final = FinalTable(tuple(line.team for line in self.table[: self._seats]))
        data = reports.standings_data(self._teams, self.table, self.final)
        write_atomic(run.folder / season_reports.STANDINGS, season_reports.to_text(data))
        while self.final.champion is None:
            fixture = Fixture(FINAL, 1 + len(self.final.results), self.final.seats())
            yield Stage([Batch(f"{FINAL}, game {fixture.game}", (fixture,), replays=REPLAYS)], here=True)

    def tell(self, batch: Batch[Fixture], games: Sequence[Played], new: bool) -> None:
        ended = last_of(batch, games)
        if self.table:
            result = _result(batch.games[0], ended[0], self._run.seed)
            self.final = self.final.after(result)
            if new:
                self._run.say(f"{batch}:\n  {reports.result_text(result)}")
            return
        self._of_days += map(_result, batch.games, ended)
        if new:
            self._run.say(reports.leaders_text(self._standings(), str(batch), self._seats))

    def _standings(self) -> list[PlaceLine]:
        return place_standings(self.names, self._of_days, self.points, make_die(self._run.seed, "standings"))

    def write(self, folder: Path, season: season_reports.AnySummary, warn: Callable[[str], None]) -> list[Path]:
        summary = reports.TableSummary(**vars(season), table=tuple(self.table), final=self.final)
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

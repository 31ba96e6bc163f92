"""The sections of a report on games with Life over time: population, territory, killed units and objects.

Letters: `G` games, `P` seats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.arena.analyse.reader import without_forfeits
from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.utils.report.model import Cell, Plot, Section, Table
from cellgames.utils.report.plots import Curve

from . import objects_section
from .life_stats import curves, life_series, moments
from .objects_section import LifeDataset

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats: TypeAlias = npt.NDArray[np.float64]

_MOST_GROUPS = 8  # curves of one plot
_FEW = 0.05  # of all games; times with fewer are not drawn
_MOST_LIVES = 400  # games of the Cup, each of which is thousands of generations
_RESULTS = {"win": "winners", "draw": "drawn", "loss": "losers"}
_ALL = "all"


def sections(game: Game, records: Sequence[Record]) -> list[Section]:
    """Return the sections on games over time and on Life objects; none for a game without Life.

    Of more than 400 games of the Toroidal Cup an even selection of 400 is played again, which takes time.

    Args:
        game: The game with its parameters.
        records: Games with these rules; those that ended by a forfeit are left out.

    Raises:
        ReplayError: A record does not reproduce.
        ImportError: SciPy is not installed.
    """
    played = without_forfeits(records)
    series = life_series(game)
    if series is None or not played:
        return []
    total = len(played)
    if series.unit == "generation" and total > _MOST_LIVES:
        played = [played[number * total // _MOST_LIVES] for number in range(_MOST_LIVES)]
    dataset = LifeDataset(game, series, played, total)
    for moment in moments(game, played):
        dataset.add(moment)
    return [_games_over_time(dataset), objects_section.section(dataset)]


# ---------------------------------------------------------------- measures


def _groups(records: Sequence[Record], players: Sequence[str]) -> dict[str, dict[str, npt.NDArray[np.bool_]]]:
    """Return ways to group seats of games, each a dictionary of bool [G, P]."""
    outcome = np.array([record.result.outcome for record in records])
    agents = np.array([record.agents for record in records])
    seats = np.broadcast_to(np.arange(agents.shape[1]), agents.shape)
    by_result = {name: outcome == word for word, name in _RESULTS.items() if (outcome == word).any()}
    by_agent = {name: agents == name for name in sorted(set(agents.ravel().tolist()))}
    by_seat = {name: seats == seat for seat, name in enumerate(players)}
    return {"result": by_result, "agent": by_agent, "seat": by_seat}


@dataclass(frozen=True)
class _Line:
    """A measure of a group over time: mean and quartiles over games and seats."""

    times: list[int]
    games: list[int]
    mean: list[float]
    low: list[float]
    median: list[float]
    high: list[float]


def _line(rows: Floats) -> _Line:
    times = sorted(set(rows[:, 0].tolist()))
    parts = [rows[rows[:, 0] == time, 3] for time in times]
    quartiles = [np.quantile(part, (0.25, 0.5, 0.75)).tolist() for part in parts]
    low, median, high = (list(column) for column in zip(*quartiles, strict=True))
    return _Line(
        [int(time) for time in times], list(map(len, parts)), [float(part.mean()) for part in parts], low, median, high
    )


Lines: TypeAlias = dict[tuple[str, str, str], _Line]
"""Lines by measure, way to group, and group."""


def _lines(dataset: LifeDataset) -> Lines:
    ways, lines = _groups(dataset.records, dataset.game.info.players), {}
    for measure, parts in dataset.values.items():
        rows = np.concatenate(parts)
        if dataset.series.unit == "generation":
            rows = rows[rows[:, 4] == 0]  # ends come at any time
        if (rows[:, 2] < 0).all():
            lines[measure, _ALL, _ALL] = _line(rows)
            continue
        game, seat = rows[:, 1].astype(int), rows[:, 2].astype(int)
        for way, groups in ways.items():
            for name, members in groups.items():
                lines[measure, way, name] = _line(rows[members[game, seat]])
    return lines


def _games_over_time(dataset: LifeDataset) -> Section:
    lines = _lines(dataset)
    unit = dataset.series.unit
    rows: list[tuple[Cell, ...]] = [
        (measure, way, group, *(value if isinstance(value, int) else round(value, 3) for value in values))
        for (measure, way, group), line in lines.items()
        for values in zip(line.times, line.games, line.mean, line.low, line.median, line.high, strict=True)
    ]
    titles = ("measure", "grouped by", "group", unit, "seats", "mean", "lower quartile", "median", "upper quartile")
    plots = []
    for way in ("result", "agent", "seat"):
        groups = {group for _, other, group in lines if other == way}
        if 2 <= len(groups) <= _MOST_GROUPS:
            caption = (
                f"By {way}: means over games (lines) and the middle half of them (bands), {unit} by {unit}, as long as "
                "one game in twenty goes on."
            )
            plots.append(Plot(f"time_series_by_{way}", caption, partial(_draw_lines, lines=lines, way=way, unit=unit)))
    return Section(
        title="Games over time",
        parts=(_text(dataset, lines), Table("time_series", titles, rows, shown=0), *plots),
        data={
            f"{measure}, {way}, {group}": {unit: line.times, "mean": [round(value, 3) for value in line.mean]}
            for (measure, way, group), line in lines.items()
        },
    )


def _text(dataset: LifeDataset, lines: Lines) -> str:
    """Return a line for each measure: its start and end, and when winners and losers first differ."""
    words = []
    outcome = np.array([record.result.outcome for record in dataset.records])
    for measure, parts in dataset.values.items():
        rows = np.concatenate(parts)
        ends = rows[rows[:, 4] > 0]
        winners, losers = (lines.get((measure, "result", name)) for name in ("winners", "losers"))
        if winners is None or losers is None:
            if (alone := lines.get((measure, _ALL, _ALL))) is not None:
                words.append(
                    f"- {measure}: {alone.mean[0]:.1f} on average at {dataset.series.unit} {alone.times[0]}, "
                    f"{ends[:, 3].mean():.1f} at the end."
                )
            continue
        of_losers = dict(zip(losers.times, losers.high, strict=True))
        apart = (t for t, low in zip(winners.times, winners.low, strict=True) if low > of_losers.get(t, np.inf))
        since = next(
            (
                f"; three winners in four are above three losers in four first at {dataset.series.unit} {time}"
                for time in apart
            ),
            "",
        )
        words_of = outcome[ends[:, 1].astype(int), ends[:, 2].astype(int)]
        last = [ends[words_of == word, 3].mean() for word in ("win", "loss")]
        words.append(
            f"- {measure}: winners {winners.mean[0]:.1f} and losers {losers.mean[0]:.1f} on average at "
            f"{dataset.series.unit} {winners.times[0]}, {last[0]:.1f} and {last[1]:.1f} at the end{since}."
        )
    shown, total = len(dataset.records), dataset.total
    games = f"{shown} games" if shown == total else f"{shown} of {total:,} games, taken evenly"
    return "\n".join([f"{games}, played again.", "", *words])


def _draw_lines(figure: Figure, *, lines: Lines, way: str, unit: str) -> None:
    measures = dict.fromkeys(measure for measure, _, _ in lines)
    steps = sorted({time for line in lines.values() for time in line.times})
    parts = []
    for measure in measures:
        drawn = []
        for (name, grouped, group), line in lines.items():
            if name == measure and grouped in (way, _ALL):
                few = _FEW * max(line.games)
                timed = enumerate(zip(line.times, line.games, strict=True))
                places = {time: place for place, (time, games) in timed if games >= few}
                mean, low, high = (
                    [column[places[step]] if step in places else np.nan for step in steps]
                    for column in (line.mean, line.low, line.high)
                )
                drawn.append(Curve("all" if grouped == _ALL else group, mean, low, high))
        parts.append((measure, drawn))
    curves(figure, f"Games over time by {way}", steps, parts, unit)
    if unit == "generation":
        for axes in figure.axes:
            axes.set_xscale("symlog", linthresh=1)
            axes.set_xlim(left=-0.1)

"""The section of a report on Life objects: over time, at the end, and which of them winners have more of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.runs.run_folder import derive
from cellgames.utils.report.model import Cell, Plot, Section, Table
from cellgames.utils.report.plots import COLOURS, INK, Curve, remove_frame, shorten
from cellgames.utils.statistics import percentile_interval

from .census import Census, census
from .life_objects import ACTIVE, Kind
from .life_stats import LifeSeries, Moment, curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = 12  # objects of a plot
_DRAWS = 1000  # of the bootstrap
_FEW = 0.05  # of all games; times with fewer are not drawn


def section(dataset: LifeDataset) -> Section:
    """Return the section with tables and plots of the objects that were found."""
    unit = dataset.series.unit
    totals: dict[Kind, int] = defaultdict(int)
    for (_, kind), total in dataset.found.items():
        totals[kind] += total
    for kind, total in dataset.final.items():
        totals[kind] += total
    kinds = sorted(totals, key=lambda kind: (-dataset.final[kind], -totals[kind], kind.code))
    games = len(dataset.records)
    over_time: list[tuple[Cell, ...]] = [
        (time, kind.name, kind.code, dataset.found[time, kind] / shown, shown)
        for time, shown in sorted(dataset.shown.items())
        for kind in kinds
        if dataset.found.get((time, kind))
    ]
    final: list[tuple[Cell, ...]] = [
        (kind.name, kind.code, kind.form, kind.period or None, dataset.final[kind], dataset.final[kind] / games)
        for kind in kinds
        if dataset.final[kind]
    ]
    tables = [
        Table("census_final", ("object", "apgcode", "form", "period", "count", "a game"), final),
        Table("census_time_series", (unit, "object", "apgcode", "a game", "games"), over_time, shown=0),
    ]
    named = [kind for kind in kinds if kind.form != "active"]
    caption = f"The most frequent objects a game, {unit} by {unit}, as long as one game in twenty goes on."
    plots = [Plot("census_time_series", caption, partial(_draw_objects, dataset=dataset, kinds=named[:_SHOWN]))]
    owners = _owners(dataset, named) if dataset.series.seats_own else []
    if owners:
        titles = ("object", "apgcode", "winners", "losers", "difference", "low", "high", "games")
        tables.append(Table("census_owners", titles, [row[:8] for row in owners]))
        caption = "Objects on the last board: how many more winners have than losers, with the 95 % interval."
        plots.append(Plot("census_owners", caption, partial(_draw_owners, rows=owners[:_SHOWN])))
    elif not dataset.series.seats_own:
        tables.append(_by_sequence(dataset, named))
    data = {"final": {kind.code: dataset.final[kind] for kind in kinds if dataset.final[kind]}, "games": games}
    return Section("Life objects", (_objects_text(dataset, kinds, owners), *tables, *plots), data)


def _owners(dataset: LifeDataset, kinds: Sequence[Kind]) -> list[tuple[Cell, ...]]:
    """Return a row for each kind: means of winners and losers, and their difference with an interval by bootstrap."""
    rows: list[tuple[Cell, ...]] = []
    for kind in kinds:
        won, lost = dataset.owned_by(kind, "win"), dataset.owned_by(kind, "loss")
        if len(won) == 0 or not (won.any() or lost.any()):
            continue
        generator = np.random.default_rng(derive("census_owners", kind.code, len(won)))
        picked = generator.integers(0, len(won), (_DRAWS, len(won)))
        low, high = percentile_interval((won - lost)[picked].mean(1))
        means = won.mean(), lost.mean(), (won - lost).mean(), low, high
        rows.append((kind.name, kind.code, *(round(float(value), 4) for value in means), len(won)))
    return rows


def _by_sequence(dataset: LifeDataset, kinds: Sequence[Kind]) -> Table:
    """Return objects of Grid Adaptation's last boards by the sequence that most of their tiles have."""
    rows: list[tuple[Cell, ...]] = []
    for kind in kinds:
        totals = [0] * 8
        for (_, owner), count in dataset.owned[kind].items():
            totals[owner - 1] += count
        if any(totals):
            rows.append((kind.name, kind.code, *totals))
    return Table("census_sequences", ("object", "apgcode", *(f"{sequence:03b}" for sequence in range(8))), rows)


def _objects_text(dataset: LifeDataset, kinds: Sequence[Kind], owners: Sequence[tuple[Cell, ...]]) -> str:
    games, final = len(dataset.records), dataset.final
    settled = [kind for kind in kinds if kind is not ACTIVE and final[kind]]
    total = sum(final[kind] for kind in settled)
    words = [
        f"Last boards hold {total / games:.1f} objects a game that last by themselves, of {len(settled)} kinds, and "
        f"{final[ACTIVE] / games:.2f} groups still in motion. Most frequent: "
        + (", ".join(f"{kind.name} ({final[kind] / games:.2f} a game)" for kind in settled[:6]) or "none")
        + "."
    ]
    if sure := [row for row in owners if float(row[5] or 0) > 0 or float(row[6] or 0) < 0]:
        listed = ", ".join(f"{row[0]} ({float(row[4] or 0):+.2f})" for row in sure[:6])
        words.append(
            "Winners have more, or fewer, than losers, by intervals of 95 % that leave out 0, one kind at a time: "
            f"{listed}."
        )
    if dataset.series.remark:
        words.append(dataset.series.remark)
    return "\n\n".join(words)


def _draw_objects(figure: Figure, *, dataset: LifeDataset, kinds: Sequence[Kind]) -> None:
    few = _FEW * len(dataset.records)
    steps = sorted(time for time, shown in dataset.shown.items() if shown >= few)
    none = [np.nan] * len(steps)
    lines = [
        Curve(kind.name, [dataset.found.get((time, kind), 0) / dataset.shown[time] for time in steps], none, none)
        for kind in kinds
    ]
    half = (len(lines) + 1) // 2
    parts = [("a game", part) for part in (lines[:half], lines[half:]) if part]
    curves(figure, "Life objects over time", steps, parts, dataset.series.unit)
    if dataset.series.unit == "generation":
        for axes in figure.axes:
            axes.set_xscale("symlog", linthresh=1)
            axes.set_xlim(left=-0.1)


def _draw_owners(figure: Figure, *, rows: Sequence[tuple[Cell, ...]]) -> None:
    height = 1.2 + 0.3 * len(rows)
    figure.set_size_inches(7.2, height)
    axes = figure.add_axes((0.3, 0.6 / height, 0.66, (height - 1.05) / height))
    remove_frame(axes)
    axes.axvline(0, color=INK, linewidth=0.8)
    for place, row in enumerate(rows):
        difference, low, high = (float(value or 0) for value in row[4:7])
        axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=2, alpha=0.55)
        axes.plot(difference, place, "o", color=COLOURS[0], markersize=6)
    axes.set_yticks(range(len(rows)), [shorten(str(row[0])) for row in rows], fontsize=9)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(axis="x", linewidth=0.5, alpha=0.6)
    axes.set_xlabel("winners' less losers', a game", fontsize=9, color=INK)
    figure.text(0.02, 1 - 0.28 / height, "Objects of winners and losers", fontsize=12, weight="bold", color=INK)


Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass
class LifeDataset:
    """Measures and objects at all moments of games.

    Attributes:
        total: Number of games, of which `records` may be a part.
        values: By measure, columns of time, game, seat (-1 for nobody's own), value of each observation, and whether it
            is the last.
        shown: Number of games by time.
        found: Number of objects by time and kind.
        final: Number of objects on last boards by kind.
        owned: The same by kind, and by game and owner.
    """

    game: Game
    series: LifeSeries
    records: Sequence[Record]
    total: int
    values: dict[str, list[Floats]] = field(default_factory=lambda: defaultdict(list))
    shown: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    found: dict[tuple[int, Kind], int] = field(default_factory=lambda: defaultdict(int))
    final: dict[Kind, int] = field(default_factory=lambda: defaultdict(int))
    owned: dict[Kind, dict[tuple[int, int], int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))

    def add(self, moment: Moment) -> None:
        """Count a moment."""
        for name, values in moment.measures.items():
            games, seats = np.indices(values.shape)
            alone = values.shape[1] == 1 and self.game.info.num_players > 1
            seat = np.full(values.shape, -1) if alone else seats
            time = np.full(values.shape, moment.time)
            rows = np.stack([time, moment.games[games], seat, values, moment.last[games]], -1).reshape(-1, 5)
            self.values[name].append(rows.astype(np.float64))
        counted = census(moment.live, wrap=self.series.wrap, owners=moment.board)
        if not (self.series.unit == "generation" and moment.last.all()):  # ends come at any time
            self.shown[moment.time] += len(moment.games)
            for kind, total in zip(counted.kinds, counted.totals(), strict=True):
                self.found[moment.time, kind] += total
        self._add_last(moment, counted)

    def _add_last(self, moment: Moment, counted: Census) -> None:
        last = moment.last[counted.board] if len(counted) else np.zeros(0, dtype=bool)
        columns = (moment.games[counted.board[last]], counted.owner[last], counted.kind[last])
        for game, owner, kind in zip(*(column.tolist() for column in columns), strict=True):
            self.final[counted.kinds[kind]] += 1
            self.owned[counted.kinds[kind]][game, owner] += 1

    def owned_by(self, kind: Kind, rank: str) -> Floats:
        """Return objects a seat that the winners, or the losers, had: [games with both winners and losers]."""
        counts = []
        for number, record in enumerate(self.records):
            seats = [seat for seat, outcome in enumerate(record.result.outcome) if outcome == rank]
            if {"win", "loss"} <= set(record.result.outcome):
                counts.append(sum(self.owned[kind].get((number, seat + 1), 0) for seat in seats) / len(seats))
        return np.array(counts)

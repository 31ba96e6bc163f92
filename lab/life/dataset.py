"""A dataset of games with Life in them, collected while their records are played again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game

from .census import Census, census
from .life_objects import Kind
from .life_stats import LifeSeries, Moment

__all__ = ["LifeDataset"]

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

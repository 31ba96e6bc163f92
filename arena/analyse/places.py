"""Counts of claimed cells by agent, seat and phase, and of those who won and who lost.

Letters: `N` cells of a frame, `T` phases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game

from .reader import Frame, Reader, make_reader, read_all
from .record_groups import agents_of, scores

__all__ = ["Counts", "Places", "count_places", "effective", "share"]

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Places:
    """Counts of claims in one frame.

    Attributes:
        frame: The frame in which cells are counted.
        agents: Names.
        seats: Names.
        phases: `T` names.
        counts: int64 [agents, seats, T, N].
        ahead: int64 [2, T, N]: claims of seats that did better than half of the others, and of those that did worse.
    """

    frame: Frame
    agents: tuple[str, ...]
    seats: tuple[str, ...]
    phases: tuple[str, ...]
    counts: Counts
    ahead: Counts

    def shares(self, agent: str | None = None, seat: int | None = None, phase: int | None = None) -> Any:
        """Return the share of each cell among some of the claims, float [N]; zeros if there are none."""
        return share(self.claims(agent, seat, phase))

    def claims(self, agent: str | None = None, seat: int | None = None, phase: int | None = None) -> Counts:
        """Return the number of claims of each cell, of an agent, seat or phase if given, int64 [N]."""
        counts = self.counts
        counts = counts if agent is None else counts[[self.agents.index(agent)]]
        counts = counts if seat is None else counts[:, [seat]]
        counts = counts if phase is None else counts[:, :, [phase]]
        return np.asarray(counts.sum((0, 1, 2)))

    def lead(self, phase: int | None = None) -> Any:
        """Return each cell's share of the claims of those ahead minus its share among those behind, float [N]."""
        counts = self.sides(phase)
        return share(counts[0]) - share(counts[1]) if counts.any(1).all() else np.zeros(counts.shape[1])

    def sides(self, phase: int | None = None) -> Counts:
        """Return the claims of those ahead and of those behind, int64 [2, N]."""
        return np.asarray(self.ahead.sum(1) if phase is None else self.ahead[:, phase])

    def striking(self) -> npt.NDArray[np.float64]:
        """Return the difference of both shares in standard errors of chance (test of two proportions), float [N]."""
        ahead, behind = self.sides()
        sizes = ahead.sum(), behind.sum()
        if not all(sizes):
            return np.zeros(len(ahead))
        both = (ahead + behind) / sum(sizes)
        error = np.sqrt(both * (1 - both) * (1 / sizes[0] + 1 / sizes[1]))
        return np.asarray(np.divide(self.lead(), error, out=np.zeros(len(ahead)), where=error > 0))


def share(counts: Counts) -> npt.NDArray[np.float64]:
    """Return each count's share of the sum; zeros if the sum is zero."""
    return counts / max(int(counts.sum()), 1)


def effective(counts: Counts) -> float:
    """Return the number of equally frequent cells with the same entropy, exp of the entropy (Hill number of order 1).

    Hill, "Diversity and Evenness: A Unifying Notation and Its Consequences", Ecology 54, 1973. 0 without claims.
    """
    part = share(counts[counts > 0])
    return float(np.exp(-(part * np.log(part)).sum())) if len(part) else 0.0


def count_places(game: Game, records: Sequence[Record], reader: Reader | None = None) -> list[Places]:
    """Count the claims of games, once for each of the reader's frames; a game without frames has none.

    Args:
        game: The game with its parameters.
        records: The games; moves that were forced at their beginning do not count.
        reader: The reader of the game; None for its usual one.
    """
    reader = make_reader(game) if reader is None else reader
    agents, players = agents_of(records), game.info.players
    number = {agent: place for place, agent in enumerate(agents)}
    found: list[list[tuple[int, ...]]] = [[] for _ in reader.frames]
    for record, placed in zip(records, read_all(game, records, reader.placed), strict=True):
        who, ahead = [number[name] for name in record.agents], [_ahead(score) for score in scores(record)]
        for place, seat, phase, cell in placed:
            found[place].append((who[seat], seat, phase, cell, ahead[seat]))
    places = []
    for frame, claims in zip(reader.frames, found, strict=True):
        shape = (len(agents), len(players), len(reader.phases), len(frame.layout.names))
        rows = np.array(claims, dtype=np.int64).reshape(-1, 5)
        counts = np.bincount(np.ravel_multi_index(tuple(rows[:, :4].T), shape), minlength=math.prod(shape))
        split = []
        for side in (1, -1):
            some = rows[rows[:, 4] == side]
            split.append(
                np.bincount(np.ravel_multi_index(tuple(some[:, 2:4].T), shape[2:]), minlength=shape[2] * shape[3])
            )
        ahead_counts = np.stack(split).reshape(2, *shape[2:])
        places.append(Places(frame, agents, players, reader.phases, counts.reshape(shape), ahead_counts))
    return places


def _ahead(score: float) -> int:
    return (score > 0.5) - (score < 0.5)

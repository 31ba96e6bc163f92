"""The sections of a report on Grid Adaptation: who profits from whom, and what players spend.

Every tile on the board gives every player the digits that it shares with the player's sequence: 3 less the Hamming
distance (`envs/grid_adaptation/rules.py`). So points flow from tiles of one sequence to players of another, and who
has a similar sequence gains by one's tiles too.

Letters: `G` games, `R` rounds, `P` seats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.arena.analyse.reader import without_forfeits
from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.envs.grid_adaptation import rules
from cellgames.utils.report.model import Cell, Plot, Section, Table
from cellgames.utils.report.plots import Scale
from cellgames.utils.report.plots import matrix as draw_matrix

from .grid_rounds import Flows, Spending, read

__all__ = ["Flows", "Spending", "by_distance", "flows", "read", "sections"]

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

_SEQUENCES = [f"{sequence:03b}" for sequence in range(8)]
_DISTANCE = np.array([[(a ^ b).bit_count() for b in range(8)] for a in range(8)])


# ---------------------------------------------------------------- points


def flows(read: Flows) -> Floats:
    """Return points a round that a player of the column's sequence has from tiles of the row's, float64 [8, 8].

    NaN where nobody ever had the sequence.
    """
    worth = np.stack([rules.bits_matched(1, [int(tile & value > 0) for value in rules.DIGITS]) for tile in range(8)])
    held = np.stack([(read.sequence == sequence).sum(2) for sequence in range(8)], 2)  # [G, R, 8] players
    total = np.einsum("grt,grs->ts", read.tiles, held) * worth
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(held.sum((0, 1)) > 0, total / held.sum((0, 1)), np.nan))


def by_distance(read: Flows) -> Ints:
    """Return the points of each player from tiles at Hamming distance 0 to 3 from its own sequence, int64 [G, P, 4]."""
    distance = _DISTANCE[read.sequence]  # [G, R, P, 8]
    counts = np.stack([(read.tiles[:, :, None] * (distance == far)).sum((1, 3)) for far in range(4)], -1)
    return np.asarray(counts * (3 - np.arange(4)))


# ---------------------------------------------------------------- sections


def sections(game: Game, records: Sequence[Record]) -> list[Section]:
    """Return the sections on score flows, alliances, contested spaces and spending of Grid Adaptation.

    Args:
        game: Grid Adaptation with its parameters.
        records: Games with these rules; those that ended by a forfeit are left out.

    Raises:
        ReplayError: A record does not reproduce.
    """
    played = without_forfeits(records)
    if not played:
        return []
    found = read(game, played)
    return [_profit(found), _spending(found, played)]


def _profit(found: Flows) -> Section:
    matrix, distance = flows(found), by_distance(found)
    first = found.places == 1
    points = found.scores.sum()
    rows: list[tuple[Cell, ...]] = [
        (
            far,
            round(float(distance[..., far].mean()), 2),
            round(100 * float(distance[..., far].sum() / max(points, 1)), 2),
            round(100 * float(distance[first][:, far].sum() / max(found.scores[first].sum(), 1)), 2),
        )
        for far in range(4)
    ]
    text = (
        f"Of all points {rows[0][2]} % come from tiles of one's own sequence, {rows[1][2]} % from tiles that differ in "
        f"one digit, {rows[2][2]} % from those that differ in two. Of the points of those who finish first, "
        f"{rows[0][3]} % are from their own sequence."
    )
    title = "Points a round, from tiles (rows) to players (columns)"
    scale = Scale(float(np.nanmax(matrix)) or 1.0, factor=1.0, digits=1, unit="")
    tables = (
        Table("flows_distance", ("distance", "points a player", "% of points", "% of points of first places"), rows),
        Table(
            "flows_sequences",
            ("tiles", *_SEQUENCES),
            [(_SEQUENCES[tile], *map(rounded, matrix[tile].tolist())) for tile in range(8)],
        ),
    )
    plots = (
        Plot(
            "flows_sequences",
            "Points a round that a player with the sequence of the column has from tiles of the row's.",
            lambda figure: draw_matrix(figure, title, _SEQUENCES, _SEQUENCES, matrix, scale),
        ),
    )
    data = {
        "points by distance": [row[1] for row in rows],
        "flows": [[rounded(value) for value in line] for line in matrix.tolist()],
    }
    return Section("Who profits from whom", (text, *tables, *plots), data)


def rounded(value: float, digits: int = 2) -> float | int | None:
    """Return the number as tables and JSON hold it; None for NaN."""
    return None if value != value else value if isinstance(value, int) else round(value, digits)


def _spending(found: Flows, records: Sequence[Record]) -> Section:
    spent = found.spending
    names = np.array([record.agents for record in records])
    first = found.places == 1  # all, if they are level
    last = (found.scores == found.scores.min(1, keepdims=True)) & ~first
    groups = {"all": np.ones(names.shape, dtype=bool), "finish first": first}
    groups |= {"finish middle": ~first & ~last, "finish last": last}
    groups |= {f"agent {name}": names == name for name in sorted(set(names.ravel().tolist()))}
    columns = Spending.__annotations__
    rows: list[tuple[Cell, ...]] = []
    for group, who in groups.items():
        if not who.any():
            continue
        values = np.stack([getattr(spent, name).swapaxes(1, 2)[who].mean(0) for name in columns], 1)  # [R, columns]
        rows += [(number, group, *line) for number, line in enumerate(np.round(values, 4).tolist(), 1)]
        rows.append(("all", group, *np.round(values.sum(0), 4).tolist()))
    total = {name: int(getattr(spent, name).sum()) for name in columns}
    each = found.scores.size
    text = (
        f"Of {total['named']} spaces named, {total['clashed']} ({100 * total['clashed'] / max(total['named'], 1):.1f} "
        f"%) were contested, so that their tiles were lost. A player played {total['reserves'] / each:.2f} reserve "
        f"tiles a game, bought {total['bought'] / each:.2f} and flipped a digit {total['flips'] / each:.2f} times."
    )
    return Section(
        "Contested spaces, reserves and flips",
        (
            text,
            Table("flows_spending", ("round", "players", *columns), rows),
        ),
        {**total, "players": each},
    )

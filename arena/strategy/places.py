"""Where agents place: how often each cell was claimed, by agent, seat and phase, and by those who won and who lost.

Letters: `N` cells of a frame, `T` phases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cellgames.arena.records import Record
from cellgames.arena.report_parts import escape
from cellgames.envs.core import Game

from .readers import Frame, Reader, make_reader, read_all
from .reading import agents_of, scores
from .sections import Cell, Plot, Section, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Places", "count_places", "effective", "section"]

Counts = npt.NDArray[np.int64]

_AGENTS = 8  # that plots show, those with most games
_PHASES = 6
_TOP = 5  # cells that the text names


@dataclass(frozen=True)
class Places:
    """Counts of claims in one frame.

    frame:  how cells are looked at.
    agents: names.
    seats:  names.
    phases: `T` names.
    counts: int64 [agents, seats, T, N].
    ahead:  int64 [2, T, N]: claims of seats that did better than half of the others, and of those that did worse.
    """

    frame: Frame
    agents: tuple[str, ...]
    seats: tuple[str, ...]
    phases: tuple[str, ...]
    counts: Counts
    ahead: Counts

    def shares(self, agent: str | None = None, seat: int | None = None, phase: int | None = None) -> Any:
        """The share of each cell among some of the claims, float [N]; zeros where there are none."""
        counts = self.counts
        counts = counts if agent is None else counts[[self.agents.index(agent)]]
        counts = counts if seat is None else counts[:, [seat]]
        counts = counts if phase is None else counts[:, :, [phase]]
        return _share(counts.sum((0, 1, 2)))

    def lead(self, phase: int | None = None) -> Any:
        """Share of each cell among the claims of those ahead, minus that among those behind; float [N]."""
        counts = self.ahead.sum(1) if phase is None else self.ahead[:, phase]
        return _share(counts[0]) - _share(counts[1]) if counts.any(1).all() else np.zeros(counts.shape[1])

    def striking(self) -> npt.NDArray[np.float64]:
        """How far the shares of those ahead and behind differ, in standard errors of chance (two proportions); [N]."""
        ahead, behind = self.ahead.sum(1)
        sizes = ahead.sum(), behind.sum()
        if not all(sizes):
            return np.zeros(len(ahead))
        both = (ahead + behind) / sum(sizes)
        error = np.sqrt(both * (1 - both) * (1 / sizes[0] + 1 / sizes[1]))
        return np.asarray(np.divide(self.lead(), error, out=np.zeros(len(ahead)), where=error > 0))


def _share(counts: Counts) -> npt.NDArray[np.float64]:
    return counts / max(int(counts.sum()), 1)


def effective(counts: Counts) -> float:
    """How many cells as frequent as each other are as varied as these: exp of the entropy (Hill number of order 1).

    Hill, "Diversity and Evenness: A Unifying Notation and Its Consequences", Ecology 54, 1973. 0 without claims.
    """
    share = _share(counts[counts > 0])
    return float(np.exp(-(share * np.log(share)).sum())) if len(share) else 0.0


def count_places(game: Game[Any], records: Sequence[Record], reader: Reader | None = None) -> list[Places]:
    """Count the claims of games, once for each of the reader's frames; none for a game without.

    Args:
        game: the rules of all of them.
        records: the games; moves that were forced at their beginning do not count.
        reader: of the game.
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


# ---------------------------------------------------------------- the report


def section(game: Game[Any], records: Sequence[Record], reader: Reader | None = None) -> Section | None:
    """Places as a part of a report; None for games whose cells are not known. The arguments are `count_places`'s."""
    places = [found for found in count_places(game, records, reader) if found.counts.any()]
    if not places:
        return None
    plots = [plot for found in places for plot in _plots(found)]
    lines = [
        "Shares of all cells that a seat claimed of its own choice; forced openings do not count. *Effective cells* "
        "are as many as would be equally varied if all were equally frequent (exp of the entropy).",
        *(_told(found) for found in places),
    ]
    tables = (
        Table("places_by_agent", _COLUMNS, [row for found in places for row in _rows(found)], shown=16),
        Table("places", _CELLS, [row for found in places for row in _cells(found)], shown=0),
    )
    data = [
        {
            "frame": found.frame.name,
            "claims": int(found.counts.sum()),
            "by agent": {agent: _summary(found, place) for place, agent in enumerate(found.agents)},
        }
        for found in places
    ]
    return Section("Where agents place", "\n\n".join(lines), tables, tuple(plots), data)


_COLUMNS = ("frame", "agent", "phase", "claims", "effective cells", "most frequent cells, %")
_CELLS = ("frame", "agent", "seat", "phase", "cell", "claims", "share")


def _rows(found: Places) -> Iterable[tuple[Cell, ...]]:
    for place, agent in enumerate(found.agents):
        for phase, name in enumerate(found.phases):
            counts = found.counts[place, :, phase].sum(0)
            if counts.any():
                yield found.frame.name, agent, name, int(counts.sum()), round(effective(counts), 1), _top(found, counts)


def _cells(found: Places) -> Iterable[tuple[Cell, ...]]:
    totals = found.counts.sum(3)
    for agent, seat, phase, cell in np.argwhere(found.counts).tolist():
        count = int(found.counts[agent, seat, phase, cell])
        yield (
            found.frame.name,
            found.agents[agent],
            found.seats[seat],
            found.phases[phase],
            found.frame.layout.names[cell],
            count,
            round(count / int(totals[agent, seat, phase]), 6),
        )


def _top(found: Places, counts: Counts, most: int = _TOP) -> str:
    order = np.argsort(-counts, kind="stable")[:most]
    total = counts.sum()
    return ", ".join(
        f"{found.frame.layout.names[cell]} {100 * counts[cell] / total:.1f}" for cell in order if counts[cell]
    )


def _summary(found: Places, agent: int) -> dict[str, Any]:
    counts = found.counts[agent].sum((0, 1))
    cells = np.argsort(-counts, kind="stable")[:_TOP]
    return {
        "claims": int(counts.sum()),
        "effective cells": round(effective(counts), 3),
        "most frequent": {found.frame.layout.names[cell]: int(counts[cell]) for cell in cells if counts[cell]},
    }


def _told(found: Places) -> str:
    total = found.counts.sum((0, 1, 2))
    parts = [
        f"{escape(agent)} {effective(found.counts[place].sum((0, 1))):.1f}"
        for place, agent in enumerate(found.agents)
        if found.counts[place].any()
    ]
    frame, names = found.frame, found.frame.layout.names
    start = f"On {frame.title}" if frame.marked < 0 else f"As {frame.title} (at {names[frame.marked]})"
    text = (
        f"{start}: {int(total.sum())} claims of {len(names)} cells, most of {_top(found, total)} %. "
        f"Effective cells: {', '.join(parts)}. {_ahead_told(found)}"
    )
    return text.strip()


def _ahead_told(found: Places) -> str:
    """Which cells those ahead and those behind claimed more often than chance explains, in a sentence."""
    lead, apart, names = found.lead(), found.striking(), found.frame.layout.names
    if not lead.any():
        return ""
    bound = NormalDist().inv_cdf(1 - 0.025 / len(names))  # of boards where chance rules one in twenty has such a cell
    order = np.argsort(-np.abs(apart), kind="stable")
    sides = [
        [f"{names[cell]} ({100 * lead[cell]:+.1f})" for cell in order if sign * apart[cell] > bound][:3]
        for sign in (1, -1)
    ]
    parts = [f"{', '.join(cells)} {word} often" for cells, word in zip(sides, ("more", "less"), strict=True) if cells]
    if not parts:
        return "No cell was claimed by those ahead and those behind so differently that chance does not explain it."
    return f"Those ahead claimed {' and '.join(parts)} than those behind (points of share)."


def _plots(found: Places) -> Iterable[Plot]:
    name, title = found.frame.name.replace(" ", "_"), found.frame.title
    phases = _some_phases(found)
    busy = [place for place in range(len(found.agents)) if found.counts[place].any()]
    busy = sorted(sorted(busy, key=lambda place: -int(found.counts[place].sum()))[:_AGENTS])
    agents = [found.agents[place] for place in busy]
    scale = "Shares of all claims of the row in the column, in one scale."
    if (block := found.frame.layout.block) > 1:
        scale += f" Blocks of {block} x {block} cells."
    by_agent = [(agent, lambda phase, agent=agent: found.shares(agent=agent, phase=phase)) for agent in agents]
    yield Plot(
        f"places_{name}_by_agent",
        f"Where agents place ({title}), by phase. {scale}",
        _maps_of(found, f"Where agents place: {title}", by_agent, phases),
    )
    seats = [seat for seat in range(len(found.seats)) if found.counts[:, seat].any()]
    by_seat = [(found.seats[seat], lambda phase, seat=seat: found.shares(seat=seat, phase=phase)) for seat in seats]
    yield Plot(
        f"places_{name}_by_seat",
        f"Where seats place ({title}), by phase. {scale}",
        _maps_of(found, f"Where seats place: {title}", by_seat, phases),
    )
    if found.lead().any():
        note = (
            f"Share among those ahead minus share among those behind ({title}), by phase; orange: winners place there."
        )
        yield Plot(
            f"places_{name}_lead",
            note,
            _maps_of(found, f"Those ahead minus those behind: {title}", [("", found.lead)], phases, signed=True),
        )


def _some_phases(found: Places) -> list[int]:
    """Those with as many claims as there are cells, since fewer show chance; of many phases some."""
    claims = found.counts.sum((0, 1, 3))
    phases = [phase for phase, count in enumerate(claims.tolist()) if count >= found.counts.shape[3]]
    phases = phases or [phase for phase, count in enumerate(claims.tolist()) if count]
    if len(phases) <= _PHASES:
        return phases
    return sorted({phases[round(place)] for place in np.linspace(0, len(phases) - 1, _PHASES)})


def _maps_of(
    found: Places,
    title: str,
    rows: Sequence[tuple[str, Callable[[int | None], Any]]],
    phases: Sequence[int],
    *,
    signed: bool = False,
) -> Any:
    def draw(figure: Figure) -> None:
        from .heat_maps import Panel, maps

        columns: list[tuple[str, int | None]] = [(found.phases[phase], phase) for phase in phases]
        if len(phases) > 1:
            columns = [("all", None), *columns]
        panels = [
            Panel(row, column, name if row == 0 else "", values(phase))
            for row, (_, values) in enumerate(rows)
            for column, (name, phase) in enumerate(columns)
        ]
        maps(
            figure,
            title,
            found.frame.layout,
            [name for name, _ in rows],
            panels,
            signed=signed,
            marked=found.frame.marked,
        )

    return draw

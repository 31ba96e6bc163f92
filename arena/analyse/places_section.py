"""The section of a report on where agents place: text, tables and plots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.utils.report.model import Cell, Plot, Section, Table
from cellgames.utils.report.text import escape

from .heat_maps import Panel, maps
from .places import Counts, Places, count_places, effective, share
from .reader import Reader

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["section"]

_AGENTS = 8  # that plots show, those with most games
_PHASES = 6
_TOP = 5  # cells that the text names
_FEW = 10  # claims; fewer make no map


def section(game: Game, records: Sequence[Record], reader: Reader | None = None) -> Section | None:
    """Return the section on places, None if the game's cells are not known; arguments as of `count_places`."""
    places = [found for found in count_places(game, records, reader) if found.counts.any()]
    if not places:
        return None
    plots = [plot for found in places for plot in _plots(found)]
    lines = [
        "Shares of all cells that a seat claimed of its own choice; forced openings do not count. *Effective cells* "
        "are as many as would be equally varied if all were equally frequent (exp of the entropy).",
        *(_text(found) for found in places),
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
    return Section("Where agents place", (*lines, *tables, *plots), data)


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


def _text(found: Places) -> str:
    total = found.claims()
    parts = [
        f"{escape(agent)} {effective(found.counts[place].sum((0, 1))):.1f}"
        for place, agent in enumerate(found.agents)
        if found.counts[place].any()
    ]
    frame, names = found.frame, found.frame.layout.names
    start = f"On {frame.title}" if frame.marked < 0 else f"As {frame.title} (at {names[frame.marked]})"
    text = (
        f"{start}: {int(total.sum())} claims of {len(names)} cells, most of {_top(found, total)} %. "
        f"Effective cells: {', '.join(parts)}. {_lead_text(found)}"
    )
    if total.sum() < _enough(found):
        text += f" A map takes {_enough(found)} claims."
    return text.strip()


def _lead_text(found: Places) -> str:
    """Return a sentence on the cells that those ahead claimed more or less often than chance explains."""
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
    return (
        f"Those ahead claimed {' and '.join(parts)} than those behind (points of share). Stronger agents are ahead "
        "more often, so this tells of agents as well as of cells."
    )


_Values = npt.NDArray[np.float64] | None
_Row = tuple[str, Callable[[int | None], _Values]]
"""A name, and what is drawn of a phase, or of all; None where there are too few claims."""


def _plots(found: Places) -> Iterable[Plot]:
    name, title = found.frame.name.replace(" ", "_"), found.frame.title
    phases = _some_phases(found)
    busy = [place for place in range(len(found.agents)) if found.counts[place].any()]
    busy = sorted(sorted(busy, key=lambda place: -int(found.counts[place].sum()))[:_AGENTS])
    few = f"Boards with fewer than {_enough(found)} claims are grey."
    scale = f"Shares of all claims of the row in the column, in one scale. {few}"
    if (block := found.frame.layout.block) > 1:
        scale += f" Blocks of {block} x {block} cells."
    for who, rows in (
        ("agents", [(found.agents[place], _shares_of(found, agent=found.agents[place])) for place in busy]),
        ("seats", [(seat, _shares_of(found, seat=place)) for place, seat in enumerate(found.seats)]),
    ):
        if shown := _with_maps(rows, phases):
            yield Plot(
                f"places_{name}_by_{who.removesuffix('s')}",
                f"Where {who} place ({title}), by phase. {scale}",
                partial(_draw_maps, found=found, title=f"Where {who} place: {title}", rows=shown, phases=phases),
            )
    if shown := _with_maps([("", _lead_of(found))], phases):
        note = (
            f"Share among those ahead minus share among those behind ({title}), by phase; orange: winners place there. "
            "Stronger agents are ahead more often, so this tells of agents as well as of cells. "
            f"Boards with fewer than {_enough(found)} claims on either side are grey."
        )
        yield Plot(
            f"places_{name}_lead",
            note,
            partial(
                _draw_maps,
                found=found,
                title=f"Those ahead minus those behind: {title}",
                rows=shown,
                phases=phases,
                signed=True,
            ),
        )


def _enough(found: Places) -> int:
    """Return the number of claims that make a map: a fifth of the cells drawn."""
    layout = found.frame.layout
    return max(_FEW, layout.shown(np.zeros(len(layout.names))).size // 5)


def _shares_of(found: Places, agent: str | None = None, seat: int | None = None) -> Callable[[int | None], _Values]:
    def values(phase: int | None) -> _Values:
        counts = found.claims(agent, seat, phase)
        return share(counts) if counts.sum() >= _enough(found) else None

    return values


def _lead_of(found: Places) -> Callable[[int | None], _Values]:
    def values(phase: int | None) -> _Values:
        return np.asarray(found.lead(phase)) if found.sides(phase).sum(1).min() >= _enough(found) else None

    return values


def _with_maps(rows: Sequence[_Row], phases: Sequence[int]) -> list[_Row]:
    """Return the rows that are not all grey."""
    return [row for row in rows if any(row[1](phase) is not None for phase in (None, *phases))]


def _some_phases(found: Places) -> list[int]:
    """Return the phases with at least as many claims as cells, since fewer show chance; of many phases, some."""
    claims = found.counts.sum((0, 1, 3))
    phases = [phase for phase, count in enumerate(claims.tolist()) if count >= found.counts.shape[3]]
    phases = phases or [phase for phase, count in enumerate(claims.tolist()) if count]
    if len(phases) <= _PHASES:
        return phases
    return sorted({phases[round(place)] for place in np.linspace(0, len(phases) - 1, _PHASES)})


def _draw_maps(
    figure: Figure,
    found: Places,
    title: str,
    rows: Sequence[_Row],
    phases: Sequence[int],
    signed: bool = False,
) -> None:
    kept = [phase for phase in phases if any(values(phase) is not None for _, values in rows)]
    columns: list[tuple[str, int | None]] = [(found.phases[phase], phase) for phase in kept]
    if found.counts.any((0, 1, 3)).sum() > 1:
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

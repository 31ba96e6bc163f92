"""Places: which cells agents claim, by agent, seat and phase, and the section of a report on it.

Letters: `N` cells, `T` phases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game
from cellgames.utils.report import plots as drawing
from cellgames.utils.report.model import Cell, Plot, Section, Table, escape

from .reader import Frame, Layout, Values, agents_of, make_reader, read_all, scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Counts = npt.NDArray[np.int64]

_AGENTS = 8  # that plots show, those with most games
_PHASES = 6
_TOP = 5  # cells that the text names
_FEW = 10  # claims; fewer make no map


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

    def claims(self, agent: int | None = None, phase: int | None = None) -> Counts:
        """Return the number of claims of each cell, of an agent or phase if given, int64 [N]."""
        counts = self.counts if agent is None else self.counts[[agent]]
        return np.asarray((counts if phase is None else counts[:, :, [phase]]).sum((0, 1, 2)))

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


def count_places(game: Game, records: Sequence[Record]) -> list[Places]:
    """Count the claims of games, once for each of the reader's frames; a game without frames has none.

    Args:
        game: The game with its parameters.
        records: The games; moves that were forced at their beginning do not count.
    """
    reader = make_reader(game)
    agents, players = agents_of(records), game.info.players
    number = {agent: place for place, agent in enumerate(agents)}
    found: list[list[tuple[int, ...]]] = [[] for _ in reader.frames]
    for record, placed in zip(records, read_all(game, records, reader.placed), strict=True):
        who = [number[name] for name in record.agents]
        ahead = [(score > 0.5) - (score < 0.5) for score in scores(record)]
        for place, seat, phase, cell in placed:
            found[place].append((who[seat], seat, phase, cell, ahead[seat]))
    places = []
    for frame, claims in zip(reader.frames, found, strict=True):
        shape = (len(agents), len(players), len(reader.phases), len(frame.layout.names))
        rows = np.array(claims, dtype=np.int64).reshape(-1, 5)
        sides = (rows[rows[:, 4] == side, 2:4] for side in (1, -1))
        ahead_counts = np.stack([_counted(some, shape[2:]) for some in sides])
        places.append(Places(frame, agents, players, reader.phases, _counted(rows[:, :4], shape), ahead_counts))
    return places


def _counted(rows: Counts, shape: tuple[int, ...]) -> Counts:
    """Return the number of times that each index [N, dimensions] comes, int64 [shape]."""
    flat = np.ravel_multi_index(tuple(rows.T), shape)
    return np.asarray(np.bincount(flat, minlength=math.prod(shape)).reshape(shape))


# ---------------------------------------------------------------- the section


def sections(game: Game, records: Sequence[Record]) -> list[Section]:
    """Return the section on places, if the game's cells are known; the arguments are those of `count_places`."""
    places = [found for found in count_places(game, records) if found.counts.any()]
    if not places:
        return []
    plots = [plot for found in places for plot in (_agents_plot(found), _lead_plot(found)) if plot is not None]
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
    return [Section("Where agents place", (*lines, *tables, *plots), data)]


_COLUMNS = ("frame", "agent", "phase", "claims", "effective cells", "most frequent cells, %")
_CELLS = ("frame", "agent", "seat", "phase", "cell", "claims", "share")


def _rows(found: Places) -> Iterator[tuple[Cell, ...]]:
    for place, agent in enumerate(found.agents):
        for phase, name in enumerate(found.phases):
            counts = found.counts[place, :, phase].sum(0)
            if counts.any():
                yield found.frame.name, agent, name, int(counts.sum()), round(effective(counts), 1), _top(found, counts)


def _cells(found: Places) -> Iterator[tuple[Cell, ...]]:
    totals = found.counts.sum(3)
    frame = found.frame
    for agent, seat, phase, cell in np.argwhere(found.counts).tolist():
        count = int(found.counts[agent, seat, phase, cell])
        names = found.agents[agent], found.seats[seat], found.phases[phase], frame.layout.names[cell]
        yield frame.name, *names, count, round(count / int(totals[agent, seat, phase]), 6)


def _top(found: Places, counts: Counts) -> str:
    order = np.argsort(-counts, kind="stable")[:_TOP]
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


def _enough(found: Places) -> int:
    """Return the number of claims that make a map: a fifth of the cells drawn."""
    layout = found.frame.layout
    return max(_FEW, layout.shown(np.zeros(len(layout.names))).size // 5)


def _agents_plot(found: Places) -> Plot | None:
    """Return heat maps of the agents with most claims, by phase."""
    busy = sorted(np.argsort(-found.counts.sum((1, 2, 3)), kind="stable")[:_AGENTS].tolist())
    values = [[found.claims(agent, phase) for phase in (None, *_some_phases(found))] for agent in busy]
    boards = np.array(
        [[share(counts) if counts.sum() >= _enough(found) else counts * np.nan for counts in row] for row in values]
    )
    note = f"Shares of all claims of the row in the column, in one scale. Boards with fewer than {_enough(found)} "
    note += "claims are grey."
    if (block := found.frame.layout.block) > 1:
        note += f" Blocks of {block} x {block} cells."
    return _plot(found, "by_agent", "Where agents place", note, [found.agents[agent] for agent in busy], boards)


def _lead_plot(found: Places) -> Plot | None:
    """Return heat maps of the shares among those ahead minus those among those behind, by phase."""
    phases = (None, *_some_phases(found))
    enough = [found.sides(phase).sum(1).min() >= _enough(found) for phase in phases]
    boards = np.array(
        [[found.lead(p) if many else found.lead(p) * np.nan for p, many in zip(phases, enough, strict=True)]]
    )
    note = (
        "Orange: winners place there. Stronger agents are ahead more often, so this tells of agents as well as of "
        f"cells. Boards with fewer than {_enough(found)} claims on either side are grey."
    )
    return _plot(found, "lead", "Those ahead minus those behind", note, [""], boards, signed=True)


def _plot(
    found: Places, name: str, words: str, note: str, rows: Sequence[str], boards: Values, *, signed: bool = False
) -> Plot | None:
    """Return a plot of boards [rows, 1 + phases, N], without rows and columns that are all grey."""
    known, frame = np.asarray(np.isfinite(boards).all(axis=2)), found.frame
    if not known.any():
        return None
    names = ["all", *(found.phases[phase] for phase in _some_phases(found))]
    several = found.counts.any((0, 1, 3)).sum() > 1  # phases; a single one is all
    columns = [place for place in range(len(names)) if (known[:, place].any() if place else several)]
    lines = [place for place in range(len(rows)) if known[place].any()]
    draw = partial(
        maps,
        title=f"{words}: {frame.title}",
        layout=frame.layout,
        rows=[rows[place] for place in lines],
        columns=[names[place] for place in columns],
        values=boards[np.ix_(lines, columns)],
        signed=signed,
        marked=frame.marked,
    )
    return Plot(f"places_{frame.name.replace(' ', '_')}_{name}", f"{words} ({frame.title}), by phase. {note}", draw)


def _some_phases(found: Places) -> list[int]:
    """Return the phases with one claim per cell or more, since fewer show chance; of many phases, some."""
    claims = found.counts.sum((0, 1, 3))
    phases = [phase for phase, count in enumerate(claims.tolist()) if count >= found.counts.shape[3]]
    phases = phases or [phase for phase, count in enumerate(claims.tolist()) if count]
    if len(phases) <= _PHASES:
        return phases
    return sorted({phases[round(place)] for place in np.linspace(0, len(phases) - 1, _PHASES)})


def maps(
    figure: Figure,
    title: str,
    layout: Layout,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Values,
    *,
    signed: bool = False,
    marked: int = -1,
) -> None:
    """Draw boards with one scale, from 0 to the greatest number, or from minus that number if `signed`.

    Args:
        figure: Empty; gets its size here.
        title: Text above it.
        layout: Layout of the board.
        rows: Names of the rows.
        columns: Names of the columns.
        values: [rows, columns, N], some of them numbers; boards of NaN are grey.
        signed: True if numbers may be negative.
        marked: A cell that gets a cross; -1 for none.
    """
    import matplotlib
    from matplotlib.colors import Normalize

    names = [drawing.shorten(name, 24) for name in rows]
    tall = min(2.1, max(1.0, 2.6 / layout.aspect))
    wide = min(tall * layout.aspect, 6.0)
    label, gap, above, foot = 0.25 + drawing.name_width(names), 0.15, 0.75, 0.2
    width = max(label + len(columns) * (wide + gap) + 1.0, 0.6 + 0.105 * len(title))
    height = above + len(names) * (tall + gap) + foot
    figure.set_size_inches(width, height)
    top = max(float(np.abs(layout.shown(board)).max()) for row in values for board in row if np.isfinite(board).all())
    top = top or 1.0
    colours = matplotlib.colormaps[drawing.DIFFERENCE if signed else drawing.AMOUNT].with_extremes(bad="#dcdcdc")
    image: Any = None
    for row, name in enumerate(names):
        y = height - above - row * (tall + gap) - tall
        beside = (label - 0.12) / width, (y + tall / 2) / height
        figure.text(*beside, name, fontsize=9, color=drawing.INK, ha="right", va="center")
        for column, head in enumerate(columns):
            axes = figure.add_axes(((label + column * (wide + gap)) / width, y / height, wide / width, tall / height))
            drawing.remove_frame(axes)
            axes.set_facecolor("#ffffff")
            board = values[row, column]
            image = layout.draw(axes, board, cmap=colours, norm=Normalize(-top if signed else 0.0, top))
            if marked >= 0 and np.isfinite(board).all():
                x, y = np.mean(layout.outlines[marked], axis=0)
                axes.plot(x, y, "x", color=drawing.COLOURS[1], markersize=6, markeredgewidth=2)
            if row == 0:
                axes.set_title(head, fontsize=8.5, color=drawing.INK, pad=3)
    left, below = label + len(columns) * (wide + gap), height - above - tall
    bar_axes = figure.add_axes((left / width, below / height, 0.13 / width, tall / height))
    ticks = [-top, 0.0, top] if signed else [0.0, top / 2, top]
    drawing.colour_bar(figure, image, bar_axes, ticks, [f"{100 * tick:.3g} %" for tick in ticks])
    drawing.draw_title(figure, title)

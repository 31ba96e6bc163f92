"""Ratings and cross tables as plots; needs matplotlib (`pip install "cellgames[render]"`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from cellgames.arena.stats.tables import Tables
from cellgames.utils.report.plots import COLOURS, FAINT, INK, draw_title, heat_map, remove_frame, shorten


class Bar(NamedTuple):
    """A rating with the bounds of its interval."""

    name: str
    elo: float
    low: float
    high: float


def draw_ratings(figure: Figure, bars: Sequence[Bar], axis: str, title: str = "Ratings", marked: str = "") -> None:
    """Draw ratings, the first on top, each with its interval; the one named `marked` in another colour."""
    names = [shorten(bar.name, 34) for bar in bars]
    label = 0.35 + 0.085 * max(map(len, names))  # inches for the names
    width, height = label + 5.6, 1.15 + 0.36 * len(bars)
    figure.set_size_inches(width, height)
    axes = figure.add_axes((label / width, 0.62 / height, (width - label - 0.3) / width, (height - 1.05) / height))
    remove_frame(axes)
    for place, bar in enumerate(bars):
        colour = COLOURS[1] if bar.name == marked else COLOURS[0]
        axes.plot([bar.low, bar.high], [place] * 2, color=colour, linewidth=2.2, alpha=0.55, solid_capstyle="butt")
        axes.plot(bar.elo, place, "o", color=colour, markersize=7)
        style: dict[str, Any] = {
            "textcoords": "offset points",
            "ha": "center",
            "va": "bottom",
            "fontsize": 8.5,
            "color": INK,
        }
        axes.annotate(f"{bar.elo:+.0f}".replace("-", "\N{MINUS SIGN}"), (bar.elo, place), (0, 6), **style)
    axes.set_yticks(range(len(bars)), names, fontsize=10)
    axes.set_ylim(len(bars) - 0.45, -0.75)
    axes.margins(x=0.08)
    axes.grid(axis="x", color=FAINT, linewidth=0.6, alpha=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(axis, fontsize=9, color=INK)
    draw_title(figure, title)


def draw_cross_table(figure: Figure, tables: Tables) -> None:
    """Draw the cross table as a heat map, best agents first."""
    title, counts = "Score of the row against the column", "wins-draws-losses"
    if tables.by_score:
        title, counts = "Row finishes ahead of column", "ahead-level-behind"
    met = [[tables.cross.get((a, b)) for b in tables.agents] for a in tables.agents]
    scores = [[math.nan if tally is None else tally.score for tally in row] for row in met]
    below = [["" if t is None else f"{t.wins}-{t.draws}-{t.losses}" for t in row] for row in met]
    heat_map(figure, tables.agents, scores, below, title, counts)

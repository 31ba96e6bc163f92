"""Ratings and cross tables as plots; needs matplotlib (`pip install "cellgames[render]"`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from cellgames.arena.stats.ratings import Ratings
from cellgames.arena.stats.tables import Standing, Tables
from cellgames.utils.report.plots import COLOURS, FAINT, INK, draw_title, heat_map, remove_frame, shorten


def draw_ratings(figure: Figure, lines: Sequence[Standing], rated: Ratings) -> None:
    """Draw the ratings, best on top, each with its interval."""
    names = [shorten(line.agent, 34) for line in lines]
    label = 0.35 + 0.085 * max(map(len, names))  # inches for the names
    width, height = label + 5.6, 1.15 + 0.36 * len(lines)
    figure.set_size_inches(width, height)
    axes = figure.add_axes((label / width, 0.62 / height, (width - label - 0.3) / width, (height - 1.05) / height))
    remove_frame(axes)
    for place, line in enumerate(lines):
        low, high = (line.elo if x is None else x for x in (line.low, line.high))
        axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=2.2, alpha=0.55, solid_capstyle="butt")
        axes.plot(line.elo, place, "o", color=COLOURS[0], markersize=7)
        style: dict[str, Any] = {
            "textcoords": "offset points",
            "ha": "center",
            "va": "bottom",
            "fontsize": 8.5,
            "color": INK,
        }
        axes.annotate(f"{line.elo:+.0f}".replace("-", "\N{MINUS SIGN}"), (line.elo, place), (0, 6), **style)
    axes.set_yticks(range(len(lines)), names, fontsize=10)
    axes.set_ylim(len(lines) - 0.45, -0.75)
    axes.margins(x=0.08)
    axes.grid(axis="x", color=FAINT, linewidth=0.6, alpha=0.6)
    axes.set_axisbelow(True)
    zero = "mean of all" if rated.anchor is None else shorten(rated.anchor, 34)
    axes.set_xlabel(f"Elo ({zero} = 0), bars: {100 * rated.level:.0f} % interval", fontsize=9, color=INK)
    draw_title(figure, "Ratings")


def draw_cross_table(figure: Figure, tables: Tables) -> None:
    """Draw the cross table as a heat map, best agents first."""
    title, counts = "Score of the row against the column", "wins-draws-losses"
    if tables.by_score:
        title, counts = "Row finishes ahead of column", "ahead-level-behind"
    met = [[tables.cross.get((a, b)) for b in tables.agents] for a in tables.agents]
    scores = [[math.nan if tally is None else tally.score for tally in row] for row in met]
    below = [["" if t is None else f"{t.wins}-{t.draws}-{t.losses}" for t in row] for row in met]
    heat_map(figure, tables.agents, scores, below, title, counts)

"""Tables as pictures; needs matplotlib (`pip install "cellgames[render]"`), but no display."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from cellgames.arena.stats.ratings import Ratings
from cellgames.arena.stats.tables import Standing, Tally

__all__ = ["BLUE", "FAINT", "INK", "bare", "clipped", "cross_png", "heat_map", "png", "ratings_png"]

INK, FAINT = "#262626", "#b8b8b8"
BLUE = "#0072b2"  # blue of Okabe and Ito, told from grey in every kind of colour vision
_DPI = 150


def png(figure: Figure) -> bytes:
    """The content of a file."""
    FigureCanvasAgg(figure)
    data = io.BytesIO()
    # Without the version of matplotlib in the file, equal pictures are equal bytes.
    figure.savefig(data, format="png", dpi=_DPI, metadata={"Software": None})
    return data.getvalue()


def clipped(name: str, length: int = 34) -> str:
    """As matplotlib takes it, without mathematics; long names keep their end, which tells checkpoints apart."""
    return (name if len(name) <= length else "…" + name[1 - length :]).replace("$", r"\$")


def bare(axes: Axes) -> None:
    """Without frame and ticks."""
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, colors=INK)


def ratings_png(lines: Sequence[Standing], rated: Ratings) -> bytes:
    """Ratings, best on top, each with its interval; `lines` as `tables.ranked` makes them of the ratings."""
    names = [clipped(line.agent) for line in lines]
    label = 0.35 + 0.085 * max(map(len, names))  # inches for the names
    width, height = label + 5.6, 1.15 + 0.36 * len(lines)
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((label / width, 0.62 / height, (width - label - 0.3) / width, (height - 1.05) / height))
    bare(axes)
    places = range(len(lines))
    for place, line in zip(places, lines, strict=True):
        low, high = (line.elo if x is None else x for x in (line.low, line.high))
        axes.plot([low, high], [place, place], color=BLUE, linewidth=2.2, alpha=0.55, solid_capstyle="butt")
        axes.plot(line.elo, place, "o", color=BLUE, markersize=7)
        axes.annotate(
            f"{line.elo:+.0f}".replace("-", "\N{MINUS SIGN}"),
            (line.elo, place),
            (0, 6),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=8.5,
            color=INK,
        )
    axes.set_yticks(list(places), names, fontsize=10)
    axes.set_ylim(len(lines) - 0.45, -0.75)
    axes.margins(x=0.08)
    axes.grid(axis="x", color=FAINT, linewidth=0.6, alpha=0.6)
    axes.set_axisbelow(True)
    zero = "mean of all" if rated.anchor is None else clipped(rated.anchor)
    axes.set_xlabel(f"Elo ({zero} = 0), bars: {100 * rated.level:.0f} % interval", fontsize=9, color=INK)
    figure.text(0.12 / width, 1 - 0.3 / height, "Ratings", fontsize=12, weight="bold", color=INK)
    return png(figure)


def cross_png(
    agents: Sequence[str],
    cross: Mapping[tuple[str, str], Tally],
    title: str = "Score of the row against the column",
    counts: str = "wins-draws-losses",
) -> bytes:
    """The cross table as a heat map.

    Args:
        agents: best first.
        cross: the row's tally against the column's agent; pairs may be absent.
        title: what a score is.
        counts: what the three numbers below it are.
    """
    figure = Figure()
    cells = [[cross[a, b].score if (a, b) in cross else math.nan for b in agents] for a in agents]
    below = [
        [f"{t.wins}-{t.draws}-{t.losses}" if (t := cross.get((a, b))) is not None else "" for b in agents]
        for a in agents
    ]
    heat_map(figure, agents, cells, below, title, counts)
    return png(figure)


def heat_map(
    figure: Figure,
    agents: Sequence[str],
    scores: Sequence[Sequence[float]],
    below: Sequence[Sequence[str]],
    title: str,
    counts: str,
) -> None:
    """Scores of agents against each other.

    Args:
        figure: empty; gets its size here.
        agents: in the order of rows and columns.
        scores: of the row against the column, from 0 to 1; NaN where there is none.
        below: a second line in each cell, shown where the cells are large.
        title: what a score is.
        counts: what the second line is.
    """
    names, count = [clipped(agent) for agent in agents], len(agents)
    small = count > 12
    side = 0.62 if small else 0.95  # inches of a cell
    label = 0.3 + 0.085 * max(map(len, names))
    head = 0.62 + 0.052 * max(map(len, names))  # the names of the columns are slanted
    beside = max(1.35, 0.068 * max(map(len, names)))  # the scale, and the last column's name above it
    legend = f"{title}{' in %' if small else f', {counts}'}"
    width, height = max(label + count * side + beside, 6.2, 0.3 + 0.098 * len(legend)), head + count * side + 0.35
    figure.set_size_inches(width, height)
    axes = figure.add_axes((label / width, 0.35 / height, count * side / width, count * side / height))
    bare(axes)
    # Orange below one half, purple above: told apart in every kind of colour vision.
    colours = matplotlib.colormaps["PuOr"].with_extremes(bad="#dcdcdc")
    image = axes.imshow(scores, cmap=colours, vmin=0, vmax=1, aspect="auto")
    for row, column in product(range(count), repeat=2):
        if not math.isnan(score := scores[row][column]):
            _write_cell(axes, row, column, score, "" if small else below[row][column], colours(score))
    axes.set_yticks(range(count), names, fontsize=10)
    axes.xaxis.tick_top()
    axes.set_xticks(range(count), names, fontsize=10, rotation=35, ha="left", rotation_mode="anchor")
    for edge in range(1, count):
        axes.axhline(edge - 0.5, color="#ffffff", linewidth=2)
        axes.axvline(edge - 0.5, color="#ffffff", linewidth=2)
    bar_axes = figure.add_axes(
        ((label + count * side + 0.3) / width, 0.35 / height, 0.16 / width, count * side / height)
    )
    bar = figure.colorbar(image, cax=bar_axes, ticks=[0, 0.25, 0.5, 0.75, 1])
    bar.ax.set_yticklabels(["0 %", "25 %", "50 %", "75 %", "100 %"], fontsize=8.5)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, colors=INK)
    figure.text(0.12 / width, 1 - 0.3 / height, legend, fontsize=12, weight="bold", color=INK)


def _write_cell(axes: Axes, row: int, column: int, score: float, below: str, colour: Sequence[float]) -> None:
    """A score in its cell, whose colour is (red, green, blue, opacity), and what is below it."""
    light = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": INK if light > 0.55 else "#ffffff"}
    if not below:
        axes.text(column, row, f"{100 * score:.0f}", fontsize=9, **style)
        return
    axes.text(column, row - 0.1, f"{100 * score:.1f} %", fontsize=11, **style)
    axes.text(column, row + 0.22, below, fontsize=7.5, **style)

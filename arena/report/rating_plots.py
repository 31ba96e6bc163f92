"""Tables as pictures; needs matplotlib (`pip install "cellgames[render]"`), but no display."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from cellgames.arena.stats.ratings import Ratings
from cellgames.arena.stats.tables import Standing, Tally
from cellgames.utils.report.plots import COLOURS, FAINT, INK, heat_map, remove_frame, shorten

__all__ = ["cross_png", "png", "ratings_png"]


def png(figure: Figure) -> bytes:
    """The content of a file."""
    FigureCanvasAgg(figure)
    data = io.BytesIO()
    # Without the version of matplotlib in the file, equal pictures are equal bytes.
    figure.savefig(data, format="png", dpi=150, metadata={"Software": None})
    return data.getvalue()


def ratings_png(lines: Sequence[Standing], rated: Ratings) -> bytes:
    """Ratings, best on top, each with its interval; `lines` as `tables.ranked` makes them of the ratings."""
    names = [shorten(line.agent, 34) for line in lines]
    label = 0.35 + 0.085 * max(map(len, names))  # inches for the names
    width, height = label + 5.6, 1.15 + 0.36 * len(lines)
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((label / width, 0.62 / height, (width - label - 0.3) / width, (height - 1.05) / height))
    remove_frame(axes)
    places = range(len(lines))
    for place, line in zip(places, lines, strict=True):
        low, high = (line.elo if x is None else x for x in (line.low, line.high))
        axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=2.2, alpha=0.55, solid_capstyle="butt")
        axes.plot(line.elo, place, "o", color=COLOURS[0], markersize=7)
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
    zero = "mean of all" if rated.anchor is None else shorten(rated.anchor, 34)
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

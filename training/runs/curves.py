"""Strength over steps as a picture; needs matplotlib (`pip install "cellgames[render]"`), but no display."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter

__all__ = ["curve_png"]

_INK, _FAINT = "#262626", "#b8b8b8"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # of Okabe and Ito


def curve_png(title: str, eval_opponents: Sequence[str], history: Sequence[Mapping[str, float]]) -> bytes:
    """A line for each evaluation opponent: how often the learner is ahead of it, against the steps learned from.

    Args:
        title: above it.
        eval_opponents: columns.
        history: lines of a run's table.
    """
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    steps = [line["steps"] for line in history]
    for number, spec in enumerate(eval_opponents):
        shares = [line[spec] for line in history]
        colour = _COLOURS[number % len(_COLOURS)]
        axes.plot(steps, shares, color=colour, linewidth=1.8, marker="o", markersize=3, label=f"against {spec}")
    axes.axhline(0.5, color=_FAINT, linewidth=1, linestyle=(0, (4, 3)))
    most = max(steps, default=0) or 1000  # before anything is learned there is one point, and no scale
    axes.set_xlim(-0.05 * most, 1.05 * most)
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.set_xlabel("actions learned from", fontsize=9, color=_INK)
    axes.set_ylabel("ahead", fontsize=9, color=_INK)
    axes.set_title(title, fontsize=11, weight="bold", color=_INK, loc="left")
    axes.grid(color=_FAINT, linewidth=0.6, alpha=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9)
    data = io.BytesIO()
    # Without the version of matplotlib in the file, equal pictures are equal bytes.
    figure.savefig(data, format="png", dpi=150, metadata={"Software": None})
    return data.getvalue()

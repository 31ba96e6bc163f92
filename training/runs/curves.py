"""The plot of a learning curve, drawn on a figure of matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cellgames.utils.report.plots import FAINT, INK, Curve, label_ends, line_style
from cellgames.utils.statistics import wilson_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_learning_curve"]


def draw_learning_curve(
    title: str, eval_opponents: Sequence[str], games: int, history: Sequence[Mapping[str, float]], figure: Figure
) -> None:
    """Draw a line for each evaluation opponent: the share of games in which the learner is ahead, over steps.

    A band around each line is the 95 % Wilson interval. It takes the games as independent.

    Args:
        title: Text above the plot.
        eval_opponents: Columns of the table.
        games: Games against each opponent in an evaluation.
        history: Rows of a run's table.
        figure: Empty.
    """
    from matplotlib.ticker import EngFormatter, PercentFormatter

    figure.set_size_inches(8.2, 4.2)
    figure.set_layout_engine("constrained")
    axes = figure.add_subplot()
    steps = [row["steps"] for row in history]
    lines = []
    for number, spec in enumerate(eval_opponents):
        shares = [row[spec] for row in history]
        low, high = zip(*(wilson_interval(share, games) for share in shares), strict=True)
        style = line_style(number)
        axes.fill_between(steps, low, high, color=style["color"], alpha=0.16, linewidth=0)
        axes.plot(steps, shares, linewidth=1.8, markersize=3.5, **style)
        lines.append(Curve(f"against {spec}", shares, low, high))
    axes.axhline(0.5, color=FAINT, linewidth=1, linestyle=(0, (4, 3)))
    most = max(steps, default=0) or 1000  # before anything is learned there is one point, and no scale
    axes.set_xlim(-0.05 * most, 1.05 * most)
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.set_xlabel("actions learned from", fontsize=9, color=INK)
    axes.set_ylabel(f"games ahead, of {games}; band: 95 % interval", fontsize=9, color=INK)
    axes.set_title(title, fontsize=11, weight="bold", color=INK, loc="left")
    axes.grid(color=FAINT, linewidth=0.6, alpha=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    label_ends(axes, lines, 3.2)

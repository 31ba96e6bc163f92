"""The plots of a sweep, drawn on figures of matplotlib."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cellgames.utils.report.plots import COLOURS, FAINT, INK, escape_math, prepare

from .search_space import format_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from optuna.trial import FrozenTrial

    from .sweep_reports import Sweep

__all__ = ["draw_curves", "draw_settings"]

_COLUMNS = 3  # panels of a row
_LETTERS = 18  # of a value below an axis


def draw_settings(sweep: Sweep, figure: Figure) -> None:
    """Draw the score against each setting: a panel for each, and a point for each trial."""
    names, columns = [*sweep.trials[0].params], min(len(sweep.trials[0].params), _COLUMNS)
    rows = math.ceil(len(names) / columns)
    prepare(figure, "Score of each trial by its settings", max(3.1 * columns + 0.6, 5.2), 2.9 * rows + 1.05)
    kinds: dict[str, dict[str, Any]] = {
        "stopped early": {"facecolor": "none", "edgecolor": COLOURS[0]},
        "finished": {"color": COLOURS[0]},
        "best": {"color": COLOURS[1]},
    }
    groups: dict[str, list[FrozenTrial]] = {label: [] for label in kinds}
    for trial in sweep.trials:
        if trial.value is not None:
            stopped = trial.state.name == "PRUNED"
            groups["best" if trial is sweep.best else "stopped early" if stopped else "finished"].append(trial)
    for number, name in enumerate(names):
        axes = figure.add_subplot(rows, columns, number + 1)
        place = _x_axis(axes, name, [trial.params[name] for group in groups.values() for trial in group])
        for label, group in groups.items():
            x, y = [place(trial.params[name]) for trial in group], [trial.value for trial in group]
            axes.scatter(x, y, s=34, label=label if group else "", **kinds[label])
        _y_axis(axes, sweep.target if number % columns == 0 else "")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)


def _x_axis(axes: Axes, name: str, values: Sequence[Any]) -> Callable[[Any], float]:
    """Label the axis of a setting; return the function that gives the place of a value on it."""
    from matplotlib.ticker import NullFormatter

    axes.set_xlabel(name, fontsize=9, color=INK)
    different = sorted(set(values), key=lambda value: (isinstance(value, str), value))
    if len(different) <= 4 or isinstance(different[0], bool | str):  # at equal distances
        labels = [
            text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…" for text in map(format_value, different)
        ]
        slanted: dict[str, Any] = {"rotation": 20, "ha": "right"} if max(map(len, labels)) > 9 else {}
        axes.set_xticks(range(len(different)), [escape_math(label) for label in labels], **slanted)
        axes.set_xlim(-0.6, len(different) - 0.4)
        return different.index
    if different[0] > 0 and (ratio := different[-1] / different[0]) >= 8:
        axes.set_xscale("log")
        if ratio >= 30:  # else powers of ten alone would leave the axis bare
            axes.xaxis.set_minor_formatter(NullFormatter())
    return float


def draw_curves(sweep: Sweep, figure: Figure) -> None:
    """Draw the score over steps: a line for each trial, the best in orange; a dot ends trials that were stopped."""
    from matplotlib.ticker import EngFormatter

    prepare(figure, "Score of each trial over steps; the best is orange", 7.2, 4.4)
    axes = figure.add_subplot()
    for trial in reversed(sweep.trials):  # the best are drawn last
        steps, scores = [*trial.intermediate_values], [*trial.intermediate_values.values()]
        best, stopped = trial is sweep.best, trial.state.name == "PRUNED"
        colour, width, alpha = (COLOURS[1], 2.2, 1.0) if best else (COLOURS[0], 1.2, 0.35 if stopped else 0.55)
        axes.plot(steps, scores, color=colour, linewidth=width, alpha=alpha)
        if stopped:
            axes.plot(steps[-1:], scores[-1:], "o", markersize=4, color=colour, alpha=alpha)
    axes.xaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.set_xlabel("actions learned from", fontsize=9, color=INK)
    _y_axis(axes, sweep.target)


def _y_axis(axes: Axes, target: str) -> None:
    """Scale the axis of scores; label it unless the target is ""."""
    from matplotlib.ticker import PercentFormatter

    axes.axhline(0.5, color=FAINT, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylabel(f"ahead of {escape_math(target)}" if target else "", fontsize=9, color=INK)
    axes.grid(axis="y", color=FAINT, linewidth=0.6, alpha=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8.5, colors=INK)

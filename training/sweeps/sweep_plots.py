"""A sweep as pictures; needs matplotlib (`pip install "cellgames[render]"`), but no display."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullFormatter, PercentFormatter

from .sweep_reports import Sweep, SweepTrial
from .sweep_space import shown
from .sweep_trials import evaluations

__all__ = ["curves_png", "settings_png"]

_INK, _FAINT, _BLUE, _ORANGE = "#262626", "#b8b8b8", "#0072b2", "#d55e00"
_COLUMNS = 3  # panels side by side
_WORDS = 18  # letters of a value below an axis


def _png(figure: Figure) -> bytes:
    FigureCanvasAgg(figure)
    data = io.BytesIO()
    # Without the version of matplotlib in the file, equal pictures are equal bytes.
    figure.savefig(data, format="png", dpi=150, metadata={"Software": None})
    return data.getvalue()


def settings_png(sweep: Sweep) -> bytes:
    """The score against each setting: a panel each, a point a trial; hollow ones were stopped early."""
    names = list(sweep.trials[0].settings)
    columns = 2 if len(names) == 4 else min(len(names), _COLUMNS)
    rows = math.ceil(len(names) / columns)
    figure = Figure(figsize=(max(3.1 * columns + 0.6, 5.2), 2.9 * rows + 0.75), layout="constrained")
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False)
    trials = [trial for trial in sweep.trials if not math.isnan(trial.score)]
    for number, axes in enumerate(panels.flat):
        if number >= len(names):
            axes.set_visible(False)
            continue
        _panel(axes, names[number], trials, sweep.best)
        if number % columns == 0:
            axes.set_ylabel(f"ahead of {sweep.target}".replace("$", r"\$"), fontsize=9, color=_INK)
    marks = [panels[0, 0].scatter([], [], s=34, facecolor=_BLUE, edgecolor=_BLUE, label="finished")]
    if any(trial.state == "stopped" for trial in trials):
        marks.append(panels[0, 0].scatter([], [], s=34, facecolor="none", edgecolor=_BLUE, label="stopped early"))
    if sweep.best is not None:
        marks.append(panels[0, 0].scatter([], [], s=34, facecolor=_ORANGE, edgecolor=_ORANGE, label="best"))
    figure.legend(handles=marks, loc="outside lower center", ncols=len(marks), frameon=False, fontsize=9)
    figure.suptitle("Score by setting", fontsize=12, weight="bold", color=_INK, x=0.02, ha="left")
    return _png(figure)


def _panel(axes: Axes, name: str, trials: Sequence[SweepTrial], best: SweepTrial | None) -> None:
    values = [trial.settings[name] for trial in trials]
    different = sorted(set(values), key=lambda value: (isinstance(value, str | tuple), value))
    listed = not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    few = listed or len(different) <= 4
    if few:  # side by side at equal distances, with their names below
        positions = _beside([different.index(value) for value in values])
        labels = [text if len(text) <= _WORDS else text[: _WORDS - 1] + "…" for text in map(shown, different)]
        slanted: dict[str, Any] = {"rotation": 20, "ha": "right"} if max(map(len, labels)) > 9 else {}
        axes.set_xticks(range(len(different)), [label.replace("$", r"\$") for label in labels], **slanted)
        axes.set_xlim(-0.6, len(different) - 0.4)
    else:
        positions = [float(value) for value in values]
        if min(positions) > 0 and max(positions) / min(positions) >= 8:
            axes.set_xscale("log")
            if max(positions) / min(positions) >= 30:  # else powers of ten alone would leave the axis bare
                axes.xaxis.set_minor_formatter(NullFormatter())
    for trial, x in zip(trials, positions, strict=True):
        colour = _ORANGE if best is not None and trial.name == best.name else _BLUE
        face = colour if trial.state == "finished" else "none"
        low, high = trial.interval
        axes.plot([x, x], [low, high], color=colour, linewidth=1, alpha=0.3, zorder=1)
        axes.scatter([x], [trial.score], s=34, facecolor=face, edgecolor=colour, zorder=3 if colour == _ORANGE else 2)
    axes.axhline(0.5, color=_FAINT, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel(name, fontsize=9, color=_INK)
    _plain(axes)


def _beside(places: Sequence[int]) -> list[float]:
    """Places on an axis, those of equal ones a little apart, in their order."""
    found, met = [], Counter[int]()
    for place, count in zip(places, map(Counter(places).__getitem__, places), strict=True):
        found.append(place + min(0.12, 0.6 / count) * (met[place] - (count - 1) / 2))
        met[place] += 1
    return found


def curves_png(sweep: Sweep) -> bytes:
    """The score over steps, a line a trial; the best one stands out, and a dot ends those that were stopped early."""
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.add_subplot()
    most = 1.0
    for trial in reversed(sweep.trials):  # the best are drawn last
        lines = [line for line in evaluations(trial.folder) if line["steps"] <= trial.steps or trial.state == "failed"]
        steps, scores = [line["steps"] for line in lines], [line[sweep.target] for line in lines]
        most = max(most, *steps, 1.0)
        best = sweep.best is not None and trial.name == sweep.best.name
        colour, width = (_ORANGE, 2.2) if best else (_BLUE, 1.2)
        alpha = 1.0 if best else 0.55 if trial.state == "finished" else 0.35
        axes.plot(steps, scores, color=colour, linewidth=width, alpha=alpha, zorder=3 if best else 2)
        if trial.state == "stopped" and steps:
            axes.plot(steps[-1], scores[-1], "o", markersize=4, color=colour, alpha=alpha)
    axes.axhline(0.5, color=_FAINT, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    axes.set_xlim(-0.03 * most, 1.03 * most)
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.xaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.set_xlabel("actions learned from", fontsize=9, color=_INK)
    axes.set_ylabel(f"ahead of {sweep.target}".replace("$", r"\$"), fontsize=9, color=_INK)
    best_text = "" if sweep.best is None else "; orange the best"
    axes.set_title(f"All trials{best_text}", fontsize=11, weight="bold", color=_INK, loc="left")
    _plain(axes)
    return _png(figure)


def _plain(axes: Axes) -> None:
    axes.grid(axis="y", color=_FAINT, linewidth=0.6, alpha=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8.5, colors=_INK)

"""Kinds of plots that sections share; every function draws on an empty figure and sets its size.

Colours are told apart in every kind of colour vision: blue of Okabe and Ito, cividis for amounts, PuOr for differences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "AMOUNT",
    "COLOURS",
    "DIFFERENCE",
    "INK",
    "Curve",
    "Dot",
    "bare",
    "clipped",
    "colour_bar",
    "curves",
    "dots",
    "head",
    "literal",
    "matrix",
    "scatter",
    "width_of",
]

INK, FAINT = "#262626", "#b8b8b8"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000")
"""Of Okabe and Ito, with a grey for yellow, which is too light for lines."""
AMOUNT, DIFFERENCE = "cividis", "PuOr_r"
_MARKS = "osD^v"
_NAME = 0.078  # inches of a letter in names of size 9
_LONGEST = 30


def clipped(name: str, length: int = _LONGEST) -> str:
    """As matplotlib takes it; long names keep their end, which tells checkpoints apart."""
    return literal(name if len(name) <= length else "…" + name[1 - length :])


def literal(text: str) -> str:
    """Without mathematics between dollar signs, which matplotlib would set, or fail at."""
    return text.replace("$", r"\$")


def width_of(names: Sequence[str]) -> float:
    """Inches that the longest name takes."""
    return _NAME * max(map(len, names), default=0)


def bare(axes: Axes) -> None:
    """Without a frame and ticks."""
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, colors=INK)


def head(figure: Figure, text: str) -> None:
    """A title at the upper left."""
    width, height = figure.get_size_inches()
    figure.text(0.12 / width, 1 - 0.3 / height, text, fontsize=12, weight="bold", color=INK)


def colour_bar(figure: Figure, image: Any, axes: Axes, high: float, scale: float, unit: str, low: float = 0.0) -> None:
    """A scale with three numbers, times `scale`, from `low` to `high`."""
    ticks = [low, (low + high) / 2, high]
    bar = figure.colorbar(image, cax=axes, ticks=ticks)
    bar.ax.set_yticklabels([f"{scale * tick:.3g}{unit}".replace("-", "\N{MINUS SIGN}") for tick in ticks], fontsize=8)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, colors=INK)


# ---------------------------------------------------------------- rows with intervals


@dataclass(frozen=True)
class Dot:
    """A row: a share with its interval, from 0 to 1, a mark to compare it with (NaN for none), and a note."""

    name: str
    value: float
    low: float
    high: float
    mark: float
    note: str


def dots(figure: Figure, title: str, rows: Sequence[Dot], axis: str, notes: str) -> None:
    """A line for each row, the first on top; `notes` stands above their notes."""
    names = [clipped(row.name, 46) for row in rows]
    label, side = 0.35 + width_of(names), 0.35 + 0.07 * max(map(len, [notes, *(row.note for row in rows)]))
    width, height = label + 4.2 + side, 1.35 + 0.27 * len(rows)
    figure.set_size_inches(width, height)
    axes = figure.add_axes((label / width, 0.62 / height, 4.2 / width, (height - 1.3) / height))
    bare(axes)
    for place, row in enumerate(rows):
        axes.plot([row.low, row.high], [place, place], color=COLOURS[0], linewidth=2, alpha=0.55)
        axes.plot(row.value, place, "o", color=COLOURS[0], markersize=6)
        axes.plot(row.mark, place, "|", color=COLOURS[1], markersize=11, markeredgewidth=2)
        axes.annotate(row.note, (1, place), (8, 0), ("axes fraction", "data"), "offset points", va="center", fontsize=8)
    axes.annotate(notes, (1, -1), (8, 0), ("axes fraction", "data"), "offset points", va="center", fontsize=8)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(len(rows) - 0.4, -1.0)
    axes.set_yticks(range(len(rows)), names, fontsize=9)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"], fontsize=8.5)
    axes.grid(axis="x", color=FAINT, linewidth=0.6, alpha=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(axis, fontsize=9, color=INK)
    head(figure, title)


# ---------------------------------------------------------------- a matrix


def matrix(
    figure: Figure,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: npt.NDArray[np.float64],
    *,
    colours: str = AMOUNT,
    digits: int = 0,
    scale: float = 100.0,
    unit: str = " %",
    high: float = 1.0,
) -> None:
    """Numbers in coloured cells, NaN left grey.

    Args:
        figure: empty.
        title: above it.
        rows: names.
        columns: names.
        values: [rows, columns].
        colours: a colour map, from 0 to `high`.
        digits: after the point, of a number times `scale`, with its `unit` at the scale.
        scale: see there.
        unit: see there.
        high: the greatest value.
    """
    import matplotlib

    left, top = [clipped(name) for name in rows], [clipped(name) for name in columns]
    side = 0.62 if max(len(left), len(top)) > 6 else 0.78  # inches of a cell
    label, above = 0.3 + width_of(left), 0.75 + 0.7 * width_of(top)
    beside = max(1.2, 0.75 * width_of(top))
    wide, tall = side * len(top), 0.75 * side * len(left)
    width, height = max(label + wide + beside, 5.2, 0.8 + 0.1 * len(title)), above + tall + 0.3
    figure.set_size_inches(width, height)
    axes = figure.add_axes((label / width, 0.3 / height, wide / width, tall / height))
    bare(axes)
    palette = matplotlib.colormaps[colours].with_extremes(bad="#dcdcdc")
    image = axes.imshow(values, cmap=palette, vmin=0, vmax=high, aspect="auto")
    for row, column in np.ndindex(values.shape):
        if not math.isnan(value := float(values[row, column])):
            red, green, blue, _ = palette(value / high)
            ink = INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "#ffffff"
            axes.text(column, row, f"{scale * value:.{digits}f}", ha="center", va="center", color=ink, fontsize=9)
    axes.set_yticks(range(len(left)), left, fontsize=9)
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(top)), top, fontsize=9, rotation=40, ha="left", rotation_mode="anchor")
    for edge in range(1, len(top)):
        axes.axvline(edge - 0.5, color="#ffffff", linewidth=1.5)
    for edge in range(1, len(left)):
        axes.axhline(edge - 0.5, color="#ffffff", linewidth=1.5)
    bar_axes = figure.add_axes(((label + wide + 0.2) / width, 0.3 / height, 0.14 / width, tall / height))
    colour_bar(figure, image, bar_axes, high, scale, unit)
    head(figure, title)


# ---------------------------------------------------------------- points and curves


def scatter(figure: Figure, title: str, names: Sequence[str], places: npt.NDArray[np.float64], note: str) -> None:
    """Named points in two dimensions, [K, 2], in one scale; points of one place are all told apart at the side."""
    shown = [clipped(name) for name in names]
    width, height = 5.6 + width_of(shown), max(4.6, 1.1 + 0.22 * len(shown))
    figure.set_size_inches(width, height)
    axes = figure.add_axes((0.7 / width, 0.65 / height, 4.3 / width, (height - 1.25) / height))
    bare(axes)
    axes.axhline(0, color=FAINT, linewidth=0.5)
    axes.axvline(0, color=FAINT, linewidth=0.5)
    for place, (x, y) in enumerate(places):
        lap, colour = divmod(place, len(COLOURS))
        # See-through, so that a point below another one is seen.
        style: dict[str, Any] = {
            "color": COLOURS[colour],
            "alpha": 0.75,
            "markeredgecolor": INK,
            "markeredgewidth": 0.6,
        }
        axes.plot(x, y, _MARKS[lap % len(_MARKS)], markersize=10, linestyle="none", label=shown[place], **style)
    axes.set_aspect("equal", "datalim")
    axes.margins(0.15)
    axes.tick_params(labelsize=8)
    axes.set_xlabel(note, fontsize=9, color=INK)
    axes.legend(
        fontsize=8.5, frameon=False, loc="center left", bbox_to_anchor=(1.03, 0.5), labelcolor=INK, markerscale=0.8
    )
    head(figure, title)


@dataclass(frozen=True)
class Curve:
    """Values over steps with an interval, NaN where there are none."""

    name: str
    values: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def curves(
    figure: Figure, title: str, steps: Sequence[float], parts: Sequence[tuple[str, Sequence[Curve]]], axis: str
) -> None:
    """Plots below each other, each of curves over the same steps and with a name for what it shows."""
    tall = 2.1
    width, height = 7.6, 0.95 + (tall + 0.25) * len(parts)
    figure.set_size_inches(width, height)
    for number, (name, lines) in enumerate(parts):
        y = height - 0.6 - number * (tall + 0.25) - tall + 0.1
        axes = figure.add_axes((0.75 / width, y / height, 4.6 / width, tall / height))
        bare(axes)
        axes.grid(color=FAINT, linewidth=0.5, alpha=0.6)
        for place, line in enumerate(lines):
            colour = COLOURS[place % len(COLOURS)]
            axes.fill_between(steps, line.low, line.high, color=colour, alpha=0.16, linewidth=0)
            style = "-" if place < len(COLOURS) else "--"
            label = clipped(line.name, 26)
            axes.plot(steps, line.values, style, color=colour, linewidth=1.8, marker="o", markersize=3, label=label)
        axes.set_ylabel(name, fontsize=9, color=INK)
        axes.tick_params(labelsize=8)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter(_short)
        if number + 1 < len(parts):
            axes.tick_params(labelbottom=False)
        else:
            axes.set_xlabel(axis, fontsize=9, color=INK)
        axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), labelcolor=INK)
    head(figure, title)


def _short(value: float, _: float = 0.0) -> str:
    """Steps such as 250k and 1.5M."""
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{sign}"
    return f"{value:.4g}"

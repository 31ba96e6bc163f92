"""Kinds of plots that reports share; each function draws on an empty figure and sets its size.

Colours are told apart in every kind of colour vision: blue of Okabe and Ito, cividis for amounts, PuOr for differences.
Drawing needs matplotlib (`pip install "cellgames[render]"`), but no display.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT = "#262626", "#b8b8b8"
SCORES = ("#d55e00", "#ffffff", "#0072b2")
"""The colours of scores, from 0 to 1, as the page has them."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000")
"""The colours of Okabe and Ito, with a grey for yellow, which is too light for lines."""
AMOUNT, DIFFERENCE = "cividis", "PuOr_r"
_MISSING = "#dcdcdc"  # colour of a cell without a number
MARKS = "osD^v"
_DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
"""Lines that are neighbours in a list differ in their dashes, too, for whoever does not tell their colours apart."""
_LETTER = 0.078  # inches of a letter in names of size 9
_LONGEST = 30


def shorten(name: str, length: int = _LONGEST) -> str:
    """Return a name as matplotlib takes it; a long name keeps its end, which tells checkpoints apart."""
    return escape_math(name if len(name) <= length else "…" + name[1 - length :])


def escape_math(text: str) -> str:
    """Return text whose dollar signs matplotlib does not take for mathematics."""
    return text.replace("$", r"\$")


def name_width(names: Sequence[str]) -> float:
    """Return the width of the longest name in inches."""
    return _LETTER * max(map(len, names), default=0)


def remove_frame(axes: Axes) -> None:
    """Remove the frame and the ticks."""
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0, colors=INK)


def draw_title(figure: Figure, text: str) -> None:
    """Write a title at the upper left; the figure has its size."""
    width, height = figure.get_size_inches()
    figure.text(0.12 / width, 1 - 0.3 / height, text, fontsize=12, weight="bold", color=INK)


def draw_subject(figure: Figure, text: str) -> float:
    """Write a line above a figure that has its size; return the inches that it takes beyond the upper edge."""
    width, height = figure.get_size_inches()
    line = figure.text(0.12 / width, 1 + 0.02 / height, escape_math(text), fontsize=10, va="bottom", color="#595959")
    line.set_in_layout(False)  # the figure keeps its layout
    return 0.24


def line_style(place: int) -> dict[str, Any]:
    """Return the colour, the dashes and the marker of a line by its place, from 0, as `Axes.plot` takes them."""
    return {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": _DASHES[place % len(_DASHES)],
        "marker": MARKS[place % len(MARKS)],
    }


def prepare(figure: Figure, title: str, width: float, height: float) -> None:
    """Give an empty figure its size in inches, a layout that fits itself, and a title at the upper left."""
    figure.set_size_inches(width, height)
    figure.set_layout_engine("constrained")
    figure.suptitle(title, x=0.012, ha="left", fontsize=12, weight="bold", color=INK)


def colour_bar(figure: Figure, image: Any, axes: Axes, ticks: Sequence[float], labels: Sequence[str]) -> None:
    """Draw the scale of an image without a frame."""
    bar = figure.colorbar(image, cax=axes, ticks=list(ticks))
    bar.ax.set_yticklabels([label.replace("-", "\N{MINUS SIGN}") for label in labels])
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, colors=INK, labelsize=8 if len(ticks) < 4 else 8.5)


# ---------------------------------------------------------------- rows with intervals


@dataclass(frozen=True)
class Dot:
    """A row of `dots`.

    Attributes:
        name: Name at the left.
        value: A number, such as a share from 0 to 1.
        low: Lower bound of its interval.
        high: Upper bound of its interval.
        mark: A number to compare it with; NaN for none.
        note: Text at the right.
    """

    name: str
    value: float
    low: float
    high: float
    mark: float = math.nan
    note: str = ""


def dots(
    figure: Figure, title: str, rows: Sequence[Dot], axis: str, notes: str, marked: str = "", *, shares: bool = True
) -> None:
    """Draw a line for each row, the first on top, with the column name `notes` above their notes.

    The row named `marked` has another colour. The axis is one of shares, else it is as long as the intervals.
    """
    names = [shorten(row.name, 46) for row in rows]
    label, side = 0.35 + name_width(names), 0.35 + 0.07 * max(map(len, [notes, *(row.note for row in rows)]))
    width, height = label + 4.2 + side, 1.35 + 0.27 * len(rows)
    figure.set_size_inches(width, height)
    axes = figure.add_axes((label / width, 0.62 / height, 4.2 / width, (height - 1.3) / height))
    remove_frame(axes)
    for place, row in enumerate(rows):
        colour = COLOURS[row.name == marked]
        axes.plot([row.low, row.high], [place, place], color=colour, linewidth=2, alpha=0.55)
        axes.plot(row.value, place, "o", color=colour, markersize=6)
        axes.plot(row.mark, place, "|", color=COLOURS[1], markersize=11, markeredgewidth=2)
    for place, note in enumerate([notes, *(row.note for row in rows)], -1):
        axes.annotate(note, (1, place), (8, 0), ("axes fraction", "data"), "offset points", va="center", fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -1.0)
    axes.set_yticks(range(len(rows)), names, fontsize=9)
    axes.margins(x=0.05)
    if shares:
        axes.set_xlim(-0.02, 1.02)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.tick_params(axis="x", labelsize=8.5)
    axes.grid(axis="x", color=FAINT, linewidth=0.6, alpha=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(axis, fontsize=9, color=INK)
    draw_title(figure, title)


# ---------------------------------------------------------------- matrices


@dataclass(frozen=True)
class Scale:
    """The scale on which a matrix shows its values.

    Attributes:
        high: The value at the end of the colour map, which begins at 0.
        factor: What values are multiplied with where they are written.
        digits: Digits after the point there.
        unit: Text after the numbers of the colour bar.
        palette: A colour map of matplotlib, or colours from low to high.
    """

    high: float = 1.0
    factor: float = 100.0
    digits: int = 0
    unit: str = " %"
    palette: str | tuple[str, ...] = AMOUNT


def matrix(
    figure: Figure,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: npt.NDArray[np.float64],
    scale: Scale | None = None,
    below: Sequence[Sequence[str]] = (),
) -> None:
    """Draw numbers in coloured cells; NaN stays grey.

    Args:
        figure: Empty.
        title: Text above the matrix.
        rows: Names.
        columns: Names.
        values: [rows, columns].
        scale: How values are shown; None for shares from 0 to 1, in percent.
        below: A second line in each cell.
    """
    import matplotlib
    from matplotlib.colors import LinearSegmentedColormap

    scale = scale or Scale()
    left, top = [shorten(name) for name in rows], [shorten(name) for name in columns]
    side = 0.95 if below else 0.62 if max(len(left), len(top)) > 6 else 0.78  # inches of a cell
    label, above = 0.3 + name_width(left), 0.75 + 0.7 * name_width(top)
    beside = max(1.2, 0.75 * name_width(top))
    wide, tall = side * len(top), 0.75 * side * len(left)
    width, height = max(label + wide + beside, 5.2, 0.8 + 0.1 * len(title)), above + tall + 0.3
    figure.set_size_inches(width, height)
    axes = figure.add_axes((label / width, 0.3 / height, wide / width, tall / height))
    given = scale.palette
    palette = matplotlib.colormaps[given] if isinstance(given, str) else LinearSegmentedColormap.from_list("", given)
    palette = palette.with_extremes(bad=_MISSING)
    image = axes.imshow(values, cmap=palette, vmin=0, vmax=scale.high, aspect="auto")
    for row, column in product(range(len(left)), range(len(top))):
        if not math.isnan(value := float(values[row, column])):
            red, green, blue, _ = palette(value / scale.high)
            ink = INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "#ffffff"
            text = f"{scale.factor * value:z.{scale.digits}f}"  # never "-0"
            text += f"\n{below[row][column]}" if below else ""
            axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=9)
    remove_frame(axes)
    axes.set_yticks(range(len(left)), left, fontsize=9)
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(top)), top, fontsize=9, rotation=40, ha="left", rotation_mode="anchor")
    for line, names in ((axes.axvline, top), (axes.axhline, left)):
        for edge in range(1, len(names)):
            line(edge - 0.5, color="#ffffff", linewidth=1.5)
    bar_axes = figure.add_axes(((label + wide + 0.2) / width, 0.3 / height, 0.14 / width, tall / height))
    ticks = [0.0, scale.high / 2, scale.high]
    colour_bar(figure, image, bar_axes, ticks, [f"{scale.factor * tick:.3g}{scale.unit}" for tick in ticks])
    draw_title(figure, title)


def heat_map(
    figure: Figure,
    agents: Sequence[str],
    scores: Sequence[Sequence[float]],
    below: Sequence[Sequence[str]],
    title: str,
    counts: str,
) -> None:
    """Draw the scores of agents against each other, orange below one half and blue above, as on the page.

    Args:
        figure: Empty.
        agents: Names of the rows and of the columns.
        scores: Score of the row against the column, from 0 to 1; NaN without games.
        below: A second line in each cell, shown where the cells are large.
        title: caption that explains a score.
        counts: caption that explains the second line.
    """
    small = len(agents) > 12
    legend = f"{title}{' in %' if small else f', {counts}'}"
    matrix(figure, legend, agents, agents, np.asarray(scores), Scale(palette=SCORES), () if small else below)


# ---------------------------------------------------------------- points and curves


@dataclass(frozen=True)
class Curve:
    """A line of `curves`: values over steps with an interval, NaN without a value.

    Attributes:
        name: Name in the legend.
        values: A value for each step.
        low: Lower bounds.
        high: Upper bounds.
    """

    name: str
    values: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def label_ends(axes: Axes, lines: Sequence[Curve], tall: float) -> None:
    """Write the name of each curve beside its last point; names that would overlap move apart.

    Args:
        axes: With all curves, and with their limits.
        lines: The curves, in the order in which they were drawn.
        tall: The height of the axes in inches.
    """
    low, high = axes.get_ylim()
    numbers = [[value for value in line.values if not math.isnan(value)] for line in lines]
    ends = sorted(((values[-1] - low) / (high - low), place) for place, values in enumerate(numbers) if values)
    gap = 0.14 / tall  # a line of text of size 8
    heights = [end for end, _ in ends]
    for number in range(1, len(heights)):
        heights[number] = max(heights[number], heights[number - 1] + gap)
    excess = max(0.0, heights[-1] - 1.0) if heights else 0.0
    for height, (end, place) in zip(heights, ends, strict=True):
        colour = COLOURS[place % len(COLOURS)]
        at, label = (1.0, end), (1.05, height - excess)
        axes.annotate(
            shorten(lines[place].name, 26),
            at,
            label,
            "axes fraction",
            "axes fraction",
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 2},
            va="center",
            fontsize=8,
            color=colour if colour != COLOURS[4] and colour != COLOURS[5] else INK,
            annotation_clip=False,
        )

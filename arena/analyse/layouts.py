"""Heat maps on boards: layouts that say where each cell lies, and the plot of many boards in one scale.

Letters: `N` cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cellgames.utils.report.plots import (
    AMOUNT,
    COLOURS,
    DIFFERENCE,
    INK,
    colour_bar,
    draw_title,
    name_width,
    remove_frame,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = npt.NDArray[np.float64]

_MARGIN = 0.05  # around cells
_MOST = 50  # rows or columns that are drawn one by one; of more, several make one block


@dataclass(frozen=True)
class Layout:
    """A board in a plot.

    Attributes:
        names: names of the cells, `N` of them.
        outlines: corners of each cell, or block of cells, whose mean is its middle; y grows downwards.
        blocks: the outline of each cell, where several cells make one block; () if each has its own.
        block: number of rows and columns that are drawn as one.
    """

    names: tuple[str, ...]
    outlines: tuple[tuple[tuple[float, float], ...], ...]
    blocks: tuple[int, ...] = ()
    block: int = 1

    @classmethod
    def rectangle(cls, names: tuple[str, ...], rows: int, cols: int) -> Layout:
        """Return a board of rows of cells; cell = row * cols + col."""
        side = -(-max(rows, cols) // _MOST)
        down, across = -(-rows // side), -(-cols // side)
        corners = [
            (side * left, side * top, min(side * (left + 1), cols), min(side * (top + 1), rows))
            for top in range(down)
            for left in range(across)
        ]
        blocks = tuple(row // side * across + col // side for row in range(rows) for col in range(cols))
        outlines = tuple(((left, top), (right, top), (right, low), (left, low)) for left, top, right, low in corners)
        return cls(names, outlines, blocks, side)

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """The least and the greatest x, and the least and the greatest y."""
        columns, rows = zip(*(corner for outline in self.outlines for corner in outline), strict=True)
        return min(columns), max(columns), min(rows), max(rows)

    @property
    def aspect(self) -> float:
        """Width over height."""
        left, right, top, bottom = self.extent
        return (right - left) / (bottom - top)

    def shown(self, values: Values) -> Values:
        """Return the numbers as they are drawn; the cells of a block are added up."""
        return np.asarray(np.bincount(self.blocks, values, len(self.outlines)) if self.blocks else values)

    def draw(self, axes: Axes, values: Values, **style: Any) -> Any:
        """Draw a number of each cell, [N], as a colour (`cmap`, `norm`); return what a colour bar takes."""
        from matplotlib.collections import PolyCollection

        shapes, shown = [np.array(outline) for outline in self.outlines], self.shown(values)
        drawn = PolyCollection(shapes, array=shown, edgecolors="#ffffff", linewidths=0.4, **style)
        axes.add_collection(drawn)
        left, right, top, bottom = self.extent
        axes.set(xlim=(left - _MARGIN, right + _MARGIN), ylim=(bottom + _MARGIN, top - _MARGIN), aspect="equal")
        axes.set(xticks=[], yticks=[])
        return drawn


def maps(
    figure: Figure,
    title: str,
    layout: Layout,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Values,
    *,
    signed: bool = False,
    marked: int = -1,
) -> None:
    """Draw boards with one scale, from 0 to the greatest number, or from minus that number if `signed`.

    Args:
        figure: Empty; gets its size here.
        title: Text above it.
        layout: Layout of the board.
        rows: Names of the rows.
        columns: Names of the columns.
        values: [rows, columns, N], some of them numbers; boards of NaN are grey.
        signed: True if numbers may be negative.
        marked: A cell that gets a cross; -1 for none.
    """
    import matplotlib
    from matplotlib.colors import Normalize

    names = [shorten(name, 24) for name in rows]
    tall = min(2.1, max(1.0, 2.6 / layout.aspect))
    wide = min(tall * layout.aspect, 6.0)
    label, gap, above, foot = 0.25 + name_width(names), 0.15, 0.75, 0.2
    width = max(label + len(columns) * (wide + gap) + 1.0, 0.6 + 0.105 * len(title))
    height = above + len(names) * (tall + gap) + foot
    figure.set_size_inches(width, height)
    top = max(float(np.abs(layout.shown(board)).max()) for row in values for board in row if np.isfinite(board).all())
    top = top or 1.0
    colours = matplotlib.colormaps[DIFFERENCE if signed else AMOUNT].with_extremes(bad="#dcdcdc")
    image: Any = None
    for row, name in enumerate(names):
        y = height - above - row * (tall + gap) - tall
        figure.text(
            (label - 0.12) / width, (y + tall / 2) / height, name, fontsize=9, color=INK, ha="right", va="center"
        )
        for column, head in enumerate(columns):
            axes = figure.add_axes(((label + column * (wide + gap)) / width, y / height, wide / width, tall / height))
            remove_frame(axes)
            axes.set_facecolor("#ffffff")
            board = values[row, column]
            image = layout.draw(axes, board, cmap=colours, norm=Normalize(-top if signed else 0.0, top))
            if marked >= 0 and np.isfinite(board).all():
                x, y = np.mean(layout.outlines[marked], axis=0)
                axes.plot(x, y, "x", color=COLOURS[1], markersize=6, markeredgewidth=2)
            if row == 0:
                axes.set_title(head, fontsize=8.5, color=INK, pad=3)
    left, below = label + len(columns) * (wide + gap), height - above - tall
    bar_axes = figure.add_axes((left / width, below / height, 0.13 / width, tall / height))
    ticks = [-top, 0.0, top] if signed else [0.0, top / 2, top]
    colour_bar(figure, image, bar_axes, ticks, [f"{100 * tick:.3g} %" for tick in ticks])
    draw_title(figure, title)

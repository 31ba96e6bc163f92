"""Heat maps on boards: layouts that say where each cell lies, and the plot of many boards in one scale.

Letters: `N` cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

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

_MARGIN = 0.05  # around cells of any form
_MOST = 50  # rows or columns that are drawn one by one; of more, several make one block


@dataclass(frozen=True)
class Layout:
    """A board in a plot.

    Attributes:
        names: Names of the cells, `N` of them.
    """

    names: tuple[str, ...]

    @property
    def aspect(self) -> float:
        """Width over height."""
        return 1.0

    def draw(self, axes: Axes, values: Values, **style: Any) -> Any:
        """Draw a number of each cell, [N], as a colour (`cmap`, `vmin`, `vmax`); return what a colour bar takes."""
        raise NotImplementedError

    def middle(self, cell: int) -> tuple[float, float]:
        """Return x and y of a cell's middle."""
        raise NotImplementedError

    def shown(self, values: Values) -> Values:
        """Return the numbers as they are drawn; the cells of a block are added up."""
        return values

    @property
    def block(self) -> int:
        """The number of rows and columns that are drawn as one."""
        return 1


@dataclass(frozen=True)
class Rectangle(Layout):
    """A board of rows of cells; cell = row * cols + col."""

    rows: int
    cols: int

    @property
    @override
    def aspect(self) -> float:
        return self.cols / self.rows

    @override
    def middle(self, cell: int) -> tuple[float, float]:
        row, col = divmod(cell, self.cols)
        return col, row

    @property
    @override
    def block(self) -> int:
        return -(-max(self.rows, self.cols) // _MOST)

    @override
    def shown(self, values: Values) -> Values:
        side = self.block
        grid = np.pad(values.reshape(self.rows, self.cols), ((0, -self.rows % side), (0, -self.cols % side)))
        rows, cols = (size // side for size in grid.shape)
        return np.asarray(grid.reshape(rows, side, cols, side).sum((1, 3)))

    @override
    def draw(self, axes: Axes, values: Values, **style: Any) -> Any:
        image = axes.imshow(self.shown(values), extent=(-0.5, self.cols - 0.5, self.rows - 0.5, -0.5), **style)
        axes.set_xticks([])
        axes.set_yticks([])
        return image


@dataclass(frozen=True)
class Polygons(Layout):
    """A board of cells of any form.

    Attributes:
        outlines: Corners of each cell, whose mean is its middle; y grows downwards.
    """

    outlines: tuple[tuple[tuple[float, float], ...], ...]

    @property
    @override
    def aspect(self) -> float:
        (left, top), (right, bottom) = self._extent
        return (right - left) / (bottom - top)

    @property
    def _extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        corners = [corner for outline in self.outlines for corner in outline]
        columns, rows = zip(*corners, strict=True)
        return (min(columns), min(rows)), (max(columns), max(rows))

    @override
    def middle(self, cell: int) -> tuple[float, float]:
        x, y = np.mean(self.outlines[cell], axis=0).tolist()
        return x, y

    @override
    def draw(self, axes: Axes, values: Values, **style: Any) -> Any:
        from matplotlib.collections import PolyCollection

        shapes = [np.array(outline) for outline in self.outlines]
        vmin, vmax = style.pop("vmin", None), style.pop("vmax", None)
        drawn = PolyCollection(shapes, array=values, edgecolors="#ffffff", linewidths=0.4, **style)
        drawn.set_clim(vmin, vmax)
        axes.add_collection(drawn)
        (left, top), (right, bottom) = self._extent
        axes.set_xlim(left - _MARGIN, right + _MARGIN)
        axes.set_ylim(bottom + _MARGIN, top - _MARGIN)
        axes.set_aspect("equal")
        axes.set_xticks([])
        axes.set_yticks([])
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
            image = layout.draw(axes, board, cmap=colours, vmin=-top if signed else 0.0, vmax=top)
            if marked >= 0 and np.isfinite(board).all():
                axes.plot(*layout.middle(marked), "x", color=COLOURS[1], markersize=6, markeredgewidth=2)
            if row == 0:
                axes.set_title(head, fontsize=8.5, color=INK, pad=3)
    left, below = label + len(columns) * (wide + gap), height - above - tall
    bar_axes = figure.add_axes((left / width, below / height, 0.13 / width, tall / height))
    ticks = [-top, 0.0, top] if signed else [0.0, top / 2, top]
    colour_bar(figure, image, bar_axes, ticks, [f"{100 * tick:.3g} %" for tick in ticks])
    draw_title(figure, title)

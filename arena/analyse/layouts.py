"""Layouts of boards in plots: the place of each cell, so that numbers by cell become a heat map.

Letters: `N` cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Layout", "Polygons", "Rectangle"]

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

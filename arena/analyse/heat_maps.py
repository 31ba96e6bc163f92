"""Heat maps on boards and drawings of positions, on an empty figure whose size they set."""

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

from .layouts import Layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Panel", "boards", "maps"]


@dataclass(frozen=True)
class Panel:
    """The numbers of the cells, [N], in a row and column of a figure; None for a grey board."""

    row: int
    column: int
    title: str
    values: npt.NDArray[np.float64] | None


def maps(
    figure: Figure,
    title: str,
    layout: Layout,
    rows: Sequence[str],
    panels: Sequence[Panel],
    *,
    signed: bool = False,
    marked: int = -1,
) -> None:
    """Draw boards with one scale, from 0 to the greatest number, or from minus that number if `signed`.

    Args:
        figure: Empty.
        title: Text above it.
        layout: Layout of the board.
        rows: Names of the rows.
        panels: The boards and their places, at least one of them with numbers.
        signed: True if numbers may be negative.
        marked: A cell that gets a cross; -1 for none.
    """
    import matplotlib

    names = [shorten(name, 24) for name in rows]
    across = 1 + max(panel.column for panel in panels)
    tall = min(2.1, max(1.0, 2.6 / layout.aspect))
    wide = min(tall * layout.aspect, 6.0)
    label, gap, above, foot = 0.25 + name_width(names), 0.15, 0.75, 0.2
    width = max(label + across * (wide + gap) + 1.0, 0.6 + 0.105 * len(title))
    height = above + len(names) * (tall + gap) + foot
    figure.set_size_inches(width, height)
    known = [panel.values for panel in panels if panel.values is not None]
    top = max(float(np.abs(layout.shown(values)).max()) for values in known) or 1.0
    colours = matplotlib.colormaps[DIFFERENCE if signed else AMOUNT].with_extremes(bad="#dcdcdc")
    style = {"cmap": colours, "vmin": -top if signed else 0.0, "vmax": top}
    image: Any = None
    for panel in panels:
        x, y = label + panel.column * (wide + gap), height - above - panel.row * (tall + gap) - tall
        axes = figure.add_axes((x / width, y / height, wide / width, tall / height))
        remove_frame(axes)
        axes.set_facecolor("#ffffff")
        values = np.full(len(layout.names), np.nan) if panel.values is None else panel.values
        image = layout.draw(axes, values, **style)
        if marked >= 0 and panel.values is not None:
            axes.plot(*layout.middle(marked), "x", color=COLOURS[1], markersize=6, markeredgewidth=2)
        if panel.title:
            axes.set_title(panel.title, fontsize=8.5, color=INK, pad=3)
    for row, name in enumerate(names):
        y = height - above - row * (tall + gap) - tall / 2
        figure.text((label - 0.12) / width, y / height, name, fontsize=9, color=INK, ha="right", va="center")
    bar_axes = figure.add_axes(
        ((label + across * (wide + gap)) / width, (height - above - tall) / height, 0.13 / width, tall / height)
    )
    ticks = [-top, 0.0, top] if signed else [0.0, top / 2, top]
    colour_bar(figure, image, bar_axes, ticks, [f"{100 * tick:.3g} %" for tick in ticks])
    draw_title(figure, title)


def boards(figure: Figure, title: str, drawn: Sequence[tuple[str, npt.NDArray[np.uint8]]]) -> None:
    """Draw positions, uint8 [H, W, 3], each with a text below it."""
    across = min(5, len(drawn))
    down = -(-len(drawn) // across)
    side, words = 2.2, 0.42
    tall = side * max(image.shape[0] / image.shape[1] for _, image in drawn)
    width, height = across * (side + 0.15) + 0.2, 0.5 + down * (tall + words)
    figure.set_size_inches(width, height)
    for place, (text, image) in enumerate(drawn):
        row, column = divmod(place, across)
        x, y = 0.12 + column * (side + 0.15), height - 0.5 - row * (tall + words) - tall
        axes = figure.add_axes((x / width, y / height, side / width, tall / height))
        axes.imshow(image)
        axes.axis("off")
        axes.annotate(
            text, (0.5, 0), (0, -4), "axes fraction", "offset points", ha="center", va="top", fontsize=8, color=INK
        )
    draw_title(figure, title)

"""A board of stones with an analysis of its free cells: of Torus (game by Mark Steere), Hex and Y.

The share of the search is a colour of the cell, from sand to vermillion, darker where there is more. Numbers stand in
the cells; the moves of the line are small stones with their places in it. Words below the board say so.
"""

from __future__ import annotations

from collections.abc import Iterator

from cellgames.envs.core.drawing import PAPER, Circle, Inset, Notes, Picture, Shape, Text, fitted, mix
from cellgames.utils.errors import InputError

from .stone_view import StoneView

LINE = 6
"""So many moves of a line are drawn."""

_INK = "#1d1a16"
_MOST = "#d55e00"  # vermillion, which gets darker on its way from sand in every kind of colour vision
_STONE = (("#25282d", "#ffffff"), ("#ffffff", "#000000"))  # of Black and of White; its edge and the digit on it
_SIDE = 640.0


def draw_annotated(board: StoneView, notes: Notes) -> Picture:
    """Return the board of an unfinished game with notes.

    Args:
        board: the board; its title and colours are those of the notes.
        notes: shares from 0 to 1; actions are cells, players 0 Black and 1 White. `LINE` moves of the line are drawn.

    Raises:
        ValueError: notes of cells that are taken or off the board.
    """
    cells = board.cells
    taken = [cell for cell in {*notes.shares, *notes.numbers} if not 0 <= cell < len(cells) or cells[cell]]
    if taken:
        raise InputError("notes", "notes of free cells only", f"some of {sorted(taken)}")
    most = max(notes.shares.values(), default=0.0) if notes.most is None else notes.most
    depths = {cell: _depth(share, notes.least, most) for cell, share in notes.shares.items()}
    fills = {cell: mix(board.ground(cell), _MOST, depth) for cell, depth in depths.items()}
    shown = board.drawn(notes.title, fills, (*_draw_numbers(notes, board), *_draw_line(notes, board)), _SIDE)
    legend = (
        Text(26, shown.height + 20 + 24 * place, words, fitted(words, 14, shown.width - 36), _INK)
        for place, words in enumerate(_legend(notes, most))
    )
    return Picture(shown.width, shown.height + 62, PAPER, (Inset(0, 0, shown), *legend), shown.title)


def _depth(share: float, least: float, most: float) -> float:
    """Return the depth of the colour of a share, 0 to 1.

    Shares of a whole are shown by their square roots, so that small ones can be seen beside large ones.
    """
    part = min(1.0, max(0.0, (share - least) / (most - least))) if most > least else 0.0
    return part if least > 0 else part**0.5


def _draw_numbers(notes: Notes, board: StoneView) -> Iterator[Shape]:
    """Yield numbers in the middle of cells, or in their lower half where there is a stone of the line above."""
    best = max(notes.shares, key=lambda cell: notes.shares[cell], default=-1)
    line = {cell for cell, _ in notes.line[:LINE]}
    for cell, number in notes.numbers.items():
        (x, y), square = board.form.centre(cell), board.form.small(cell)
        font = (0.235 if square else 0.33) * min(1.0, 2.6 / max(2, len(number)))
        lower = (0.055 if square else 0.14) * (cell in line)
        yield Text(x, y + lower + 0.35 * font, number, font, _INK, "middle", bold=cell == best)


def _draw_line(notes: Notes, board: StoneView) -> Iterator[Shape]:
    """Yield a small stone for each of the moves to come, with its place in the line."""
    for place, (cell, player) in enumerate(notes.line[:LINE], 1):
        (x, y), square, (fill, ink) = board.form.centre(cell), board.form.small(cell), _STONE[player]
        radius = 0.125 if square else 0.16
        if cell in notes.numbers:
            y -= 0.2 if square else 0.23
        yield Circle(x, y, radius, fill, ink, 0.13 * radius)
        yield Text(x, y + 0.5 * radius, str(place), 1.42 * radius, ink, "middle", bold=True)


def _legend(notes: Notes, most: float) -> list[str]:
    """Return the meaning of colours, of numbers and of small stones in words."""
    percents = [f"{100 * share:.{'0f' if share >= 0.1 else '2g'}} %" for share in (notes.least, most)]
    colours = [f"colours: from {' to '.join(percents)} {notes.of}"] if most > 0 else []
    numbers = [f"numbers: {notes.meaning}"] if notes.numbers and notes.meaning else []
    stones = ["small stones: the moves to come, as the search expects them"] if notes.line else []
    return ["; ".join((*colours, *numbers)), *stones]

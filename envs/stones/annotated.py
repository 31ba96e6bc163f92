"""A board of stones with an analysis of its free cells: of Torus (game by Mark Steere), Hex and Y.

The share of the search is a colour of the cell, from sand to vermillion, darker where there is more. Numbers stand in
the cells; the moves of the line are small stones with their places in it. Below the board a legend says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from cellgames.envs.core.drawing import Circle, Inset, Notes, Picture, Rectangle, Shape, Text, mix
from cellgames.utils.errors import InputError

from .stone_view import StoneView

LINE = 6
"""So many moves of a line are drawn."""

_PAPER, _INK = "#fffdf8", "#1d1a16"
_MOST = "#d55e00"  # vermillion, which gets darker on its way from sand in every kind of colour vision
_STONE = (("#25282d", "#ffffff"), ("#ffffff", "#000000"))  # of Black and of White; its edge and the digit on it
_SIDE = 640.0
_LEFT, _LEGEND, _SWATCH, _FONT = 26.0, 62.0, 26.0, 14.0
_SWATCHES = (0.0, 0.05, 0.25, 1.0)  # of the largest share


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
    fills = {cell: _shade(board.ground(cell), _depth(share, notes.least, most)) for cell, share in notes.shares.items()}
    above = [*_draw_numbers(notes, board), *_draw_line(notes, board)]
    shown = board.drawn(notes.title, fills, above, _SIDE)
    legend = tuple(_draw_legend(notes, most, board.ground(0), shown))
    return Picture(shown.width, shown.height + _LEGEND, _PAPER, (Inset(0, 0, shown), *legend), shown.title)


def _shade(ground: str, depth: float) -> str:
    return mix(ground, _MOST, depth)


def _depth(share: float, least: float, most: float) -> float:
    """Return the depth of the colour of a share, 0 to 1.

    Shares of a whole are shown by their square roots, so that small ones can be seen beside large ones.
    """
    part = min(1.0, max(0.0, (share - least) / (most - least))) if most > least else 0.0
    return part if least > 0 else part**0.5


def _draw_numbers(notes: Notes, board: StoneView) -> Iterator[Shape]:
    """Yield numbers in the middle of cells, or in their lower half where there is a stone of the line above."""
    best = max(notes.shares, key=lambda cell: notes.shares[cell], default=-1)
    for cell, number in notes.numbers.items():
        x, y = board.form.centre(cell)
        square = board.form.small(cell)
        font = (0.235 if square else 0.33) * min(1.0, 2.6 / max(2, len(number)))
        if cell in _numbered(notes):
            y += 0.055 if square else 0.14
        yield Text(x, y + 0.35 * font, number, font, _INK, "middle", bold=cell == best)


def _draw_line(notes: Notes, board: StoneView) -> Iterator[Shape]:
    for cell, (place, player) in _numbered(notes).items():
        x, y = board.form.centre(cell)
        square = board.form.small(cell)
        radius = 0.125 if square else 0.16
        if cell in notes.numbers:
            y -= 0.2 if square else 0.23
        yield from _stone(x, y, radius, str(place), player)


def _stone(x: float, y: float, radius: float, digit: str, player: int) -> Iterator[Shape]:
    fill, ink = _STONE[player]
    yield Circle(x, y, radius, fill, ink, 0.13 * radius)
    yield Text(x, y + 0.5 * radius, digit, 1.42 * radius, ink, "middle", bold=True)


def _numbered(notes: Notes) -> dict[int, tuple[int, int]]:
    """Return the first moves of the line by cell: their places from 1, and who makes them."""
    return {cell: (place, player) for place, (cell, player) in enumerate(notes.line[:LINE], 1)}


def _draw_legend(notes: Notes, most: float, ground: str, shown: Picture) -> Iterator[Shape]:
    """Yield swatches with shares; the numbers and the stones of the line in words."""
    x, y = _LEFT, shown.height + 12
    for part in () if most <= 0 else (0.0, 1 / 3, 2 / 3, 1.0) if notes.least > 0 else _SWATCHES:
        percent = 100 * (notes.least + part * (most - notes.least))
        label = f"{percent:.{'0f' if percent >= 10 else '2g' if percent >= 1 else '1g'}} %"
        yield Rectangle(x, y - 5, _SWATCH, 16, _shade(ground, part if notes.least > 0 else part**0.5), "#b9a37b", 1.0)
        yield Text(x + _SWATCH + 5, y + 8, label, _FONT, _INK)
        x += _SWATCH + 14 + 0.56 * _FONT * len(label)
    if most > 0:
        yield Text(x, y + 8, notes.of, _FONT, _INK)
    words = [f"numbers: {notes.meaning}"] if notes.numbers and notes.meaning else []
    x, y = _LEFT, y + 31
    if words:
        yield Text(x, y + 5, words[0], _FONT, _INK)
        x += 0.54 * _FONT * len(words[0]) + 22
    if notes.line:
        yield from _stone(x + 9, y, 9, "1", notes.line[0][1])
        yield Text(x + 26, y + 5, "the moves to come, as the search expects them", _FONT, _INK)

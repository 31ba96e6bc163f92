"""Systematic names of Life objects: Adam P. Goucher's apgcodes, xs4_33 for the block.

Source: "Apgcode" on LifeWiki (conwaylife.com/wiki/Apgcode). A prefix says what the object is: xs and the number of
cells for a still life, xp and the period for an oscillator, xq and the period for a spaceship; ov_s, ov_p, ov_q for
what fits no box of 40 x 40. After the underscore stands one phase in extended Wechsler format: strips of five rows,
split by z; in a strip a character for each column, whose five bits are cells, the top row the lowest; w, x and y with
one more character are two, three and 4 to 39 empty columns. Of all phases and all eight orientations the shortest text
counts, of several the first by their characters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from cellgames.envs.boards.rle import Cell, orientations

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_STRIP = 5
_LONGEST_RUN = 39
_LARGEST = 40  # rows and columns of a box that codes are defined for


def apgcode(phases: Collection[Collection[Cell]], moves: bool) -> str:
    """Return the code of an object.

    Args:
        phases: Its live cells in every generation of a period, anywhere.
        moves: True if it comes back in another place.
    """
    period, fewest = len(phases), min(map(len, phases))
    kind = "q" if moves else "s" if period == 1 else "p"
    number = fewest if kind == "s" else period
    texts = [text for phase in phases if _fits(phase) for text in map(wechsler, orientations(phase))]
    if not texts:
        return f"ov_{kind}{number}"
    return f"x{kind}{number}_{min(texts, key=lambda text: (len(text), text))}"


def _fits(cells: Iterable[Cell]) -> bool:
    rows, cols = zip(*cells, strict=True)
    return bool(max(max(rows) - min(rows), max(cols) - min(cols)) < _LARGEST)


def wechsler(cells: Collection[Cell]) -> str:
    """Return the text of one phase in one orientation, whose box begins at (0, 0)."""
    strips: list[dict[int, int]] = [{} for _ in range(max(row for row, _ in cells) // _STRIP + 1)]
    for row, col in cells:
        columns = strips[row // _STRIP]
        columns[col] = columns.get(col, 0) | 1 << row % _STRIP
    return "z".join(map(_strip, strips))


def _strip(columns: dict[int, int]) -> str:
    text, end = "", 0
    for col in sorted(columns):
        text += _gap(col - end) + _DIGITS[columns[col]]
        end = col + 1
    return text


def _gap(empty: int) -> str:
    """Return the text of this many empty columns."""
    text = ""
    while empty > 3:
        run = min(empty, _LONGEST_RUN)
        text, empty = text + "y" + _DIGITS[run - 4], empty - run
    return text + ("", "0", "w", "x")[empty]

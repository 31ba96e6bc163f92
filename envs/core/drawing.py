"""Pictures as short lists of shapes, drawn as SVG.

A game's rendering module turns one state into a `Picture`; this module turns pictures into text. Lengths are
floats in the picture's own units, x to the right and y downward; at `scale=1` one unit is one pixel. Colours
are "#rrggbb".

`Notes` are an analysis of a position, for games to draw on their boards. SVG is written as text and needs nothing but
Python. `raster` makes RGB arrays of pictures.
"""

from __future__ import annotations

import struct
import zlib
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Literal, TypeAlias
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import numpy.typing as npt

from cellgames.utils.errors import InputError

PAPER, INK, PALE = "#fffdf8", "#3b362f", "#857d70"
"""Colours of the ground, the words and the numbers of pictures of boards."""

Point: TypeAlias = tuple[float, float]
"""A point (x, y) in units of the picture; y grows downwards."""


@dataclass(frozen=True, slots=True)
class Polygon:
    """A closed polygon; `stroke` is centred on its edges."""

    points: tuple[Point, ...]
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Rectangle:
    """An upright rectangle from its upper left corner: the cells of grids, cheaper than polygons."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle around (x, y)."""

    x: float
    y: float
    radius: float
    fill: str | None = None
    stroke: str | None = None
    stroke_width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Polyline:
    """A line through two or more points, round at its bends."""

    points: tuple[Point, ...]
    stroke: str
    stroke_width: float = 1.0
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; y is its baseline, `anchor` says which part of it stands at x.

    Capitals and digits are about 0.7 `size` high: for text centred on a height, put y 0.35 `size` below it.
    Widths differ a little between SVG (the viewer's sans-serif) and RGB (Pillow's built-in font).
    """

    x: float
    y: float
    text: str
    size: float
    fill: str = "#000000"
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Inset:
    """A picture in another one: its upper left corner at (x, y), enlarged by `scale`, cut off at its edge."""

    x: float
    y: float
    picture: Picture
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Bitmap:
    """An image over a rectangle: `cols` x `rows` pixels, three bytes each, are stretched to its size."""

    x: float
    y: float
    width: float
    height: float
    cols: int
    rows: int
    rgb: bytes


Shape: TypeAlias = Polygon | Rectangle | Circle | Polyline | Text | Inset | Bitmap
"""Any shape of a picture."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Shapes in drawing order on a ground of width x height units; `background` None is see-through.

    `title` is what a screen reader says of the SVG; it is not drawn. Notebooks show a picture as it is.
    """

    width: float
    height: float
    background: str | None
    shapes: tuple[Shape, ...]
    title: str = ""

    def _repr_html_(self) -> str:
        return to_svg(self)


class BoardView(ABC):
    """A position as pictures and texts show it."""

    @abstractmethod
    def draw(self) -> Picture:
        """Return the picture; all moments of a game have the same size."""

    @abstractmethod
    def text(self) -> str:
        """Return the text for a terminal."""


def mix(first: str, second: str, share: float) -> str:
    """Return the colour that is `share` (0 to 1) of `second` and the rest of `first`."""
    pairs = ((int(first[i : i + 2], 16), int(second[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def fitted(words: str, size: float, width: float) -> float:
    """Return a font size of at most `size` in which the words fit; letters are about 0.56 as wide as high."""
    return min(size, width / (0.56 * max(1, len(words))))


def framed(board: Picture, cell: float, title: str, lines: Sequence[str], colours: Sequence[str] = ()) -> Picture:
    """Return a board below a title and lines of words, with the numbers of its rows and columns around it.

    Args:
        board: the board, a unit a cell.
        cell: side of a cell in units of the result.
        title: the line above the others.
        lines: the words; all moments of a game need the same number of them for pictures of one size.
        colours: colours of squares before the first lines.
    """
    wide, high, top = board.width * cell, board.height * cell, 66.0 + 22 * len(lines)
    across = max(560.0, wide)
    left = 38 + (across - wide) / 2
    shapes: list[Shape] = [Text(38, 30, title, fitted(title, 19, across), INK, bold=True)]
    for y, (words, colour) in enumerate(zip_longest(lines, colours)):
        if colour:
            shapes.append(Rectangle(38, 44 + 22 * y, 13, 13, colour))
        shapes.append(Text(58 if colour else 38, 55.5 + 22 * y, words, fitted(words, 15, across - 20), INK))
    step = next(step for step in (1, 2, 5, 10, 20, 50) if step * cell >= 30)
    cols, rows = (range(0, int(size), step) for size in (board.width, board.height))
    shapes += (Text(left + (col + 0.5) * cell, top - 6, str(col), 11, PALE, "middle") for col in cols)
    shapes += (Text(left - 6, top + (row + 0.5) * cell + 4, str(row), 11, PALE, "end") for row in rows)
    shapes += Inset(left, top, board, cell), Rectangle(left, top, wide, high, None, PALE, 1.2)
    return Picture(across + 58, top + high + 20, PAPER, tuple(shapes), title)


COLUMNS = 140
"""Signs in a row of a text at most."""


def sign_rows(codes: npt.NDArray[Any], signs: str, weights: Sequence[float] = ()) -> Iterator[tuple[int, str]]:
    """Yield the rows of a board for a terminal, each with its number: a sign a cell.

    Where a row would be longer than `COLUMNS` signs, each stands for a block of cells.

    Args:
        codes: integers [H, W], places in `signs`.
        signs: a sign for each code.
        weights: by code the weight of a cell in its block, which shows the code that weighs most; by default all
            weigh the same but code 0, which shows in empty blocks only.
    """
    wide = -(-codes.shape[1] // COLUMNS)
    high = 2 * wide if wide > 1 else 1  # signs are about twice as high as wide
    rest = [(0, -size % part) for size, part in zip(codes.shape, (high, wide), strict=True)]
    padded = np.pad(codes, rest, constant_values=-1)
    blocks = padded.reshape(len(padded) // high, high, -1, wide)
    kinds = enumerate(weights or [1e-9, *[1.0] * (len(signs) - 1)])
    held = np.stack([(blocks == code).sum((1, 3)) * weight for code, weight in kinds])
    for row, line in enumerate(np.array(list(signs))[held.argmax(0)].tolist()):
        yield row * high, "".join(line)


def grid_lines(rows: int, cols: int, width: float) -> Iterator[Shape]:
    """Yield pale lines between the cells of a board, in units of a cell."""
    for row in range(1, rows):
        yield Polyline(((0, row), (cols, row)), PALE, width, 0.25)
    for col in range(1, cols):
        yield Polyline(((col, 0), (col, rows)), PALE, width, 0.25)


def grid(
    pictures: Sequence[Picture], columns: int, *, gap: float = 12.0, title: str = "", scale: float = 1.0
) -> Picture:
    """Return several pictures as one, row by row, `columns` in a row, `gap` units between them and around them.

    Every picture gets a place of the largest one's size, and the first picture's background lies beneath all.
    """
    if not pictures or columns < 1:
        raise InputError("pictures", "1 or more pictures and columns", f"{len(pictures)} and {columns}")
    columns = min(columns, len(pictures))
    rows = -(-len(pictures) // columns)
    wide = max(picture.width for picture in pictures) * scale + gap
    high = max(picture.height for picture in pictures) * scale + gap
    insets = tuple(
        Inset(gap + wide * (i % columns), gap + high * (i // columns), picture, scale)
        for i, picture in enumerate(pictures)
    )
    return Picture(gap + wide * columns, gap + high * rows, pictures[0].background, insets, title)


def draw_board(board: npt.NDArray[Any], title: str) -> Picture:
    """Return an array of numbers as rows of cells, each with its number; numbers other than 0 are coloured."""
    rows = board.reshape(-1, board.shape[-1])
    shapes: list[Shape] = []
    for y, row in enumerate(rows.tolist()):
        for x, number in enumerate(row):
            fill = mix("#24506e", "#e0a030", (abs(number) - 1) % 5 / 4) if number else "#e7e2d6"
            shapes.append(Rectangle(8 + 24 * x, 8 + 24 * y, 22, 22, fill))
            ink = "#ffffff" if number else "#857d70"
            shapes.append(Text(19 + 24 * x, 23 + 24 * y, f"{number:g}", 10, ink, "middle"))
    return Picture(16 + 24 * rows.shape[1], 16 + 24 * len(rows), "#ffffff", tuple(shapes), title)


def frame_times(last: int, most: int) -> list[int]:
    """Return up to `most` of the moments 0 to `last` for an animation, and `last`, denser at the beginning.

    All of them are returned where `most` allows it.
    """
    if most >= last:
        return list(range(last + 1))
    return sorted({round(last * (i / most) ** 1.5) for i in range(most)} | {last})


# ---------------------------------------------------------------- SVG


def to_svg(picture: Picture) -> str:
    """Return the picture as a standalone SVG document, which HTML pages can hold as it is."""
    size = f'width="{_number(picture.width)}" height="{_number(picture.height)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" stroke-linejoin="round" '
        f'font-family="Helvetica, Arial, sans-serif" {_svg_content(picture)}</svg>\n'
    )


def _number(value: float) -> str:
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _escaped(text: str) -> str:
    """Return text for XML, which has no way to hold most control characters."""
    return escape("".join(c if c.isprintable() else " " for c in text))


def _attributes(**values: float | str | None) -> str:
    """Return attributes as ` name="value"`; None is left out, `_` in a name stands for `-`."""
    written = ((name, _number(v) if isinstance(v, float | int) else v) for name, v in values.items())
    return "".join(f" {name.replace('_', '-')}={quoteattr(v)}" for name, v in written if v is not None)


def _svg_content(picture: Picture) -> str:
    """Return the rest of an <svg> tag from its viewBox on, and all that is inside."""
    parts = [f'viewBox="0 0 {_number(picture.width)} {_number(picture.height)}">\n']
    if picture.title:
        parts.append(f"<title>{_escaped(picture.title)}</title>\n")
    if picture.background is not None:
        parts.append(f'<rect width="100%" height="100%"{_attributes(fill=picture.background)}/>\n')
    parts.extend(_svg_shape(shape) for shape in picture.shapes)
    return "".join(parts)


def _svg_shape(shape: Shape) -> str:
    if isinstance(shape, Inset):
        inner = shape.picture
        place = _attributes(x=shape.x, y=shape.y, width=inner.width * shape.scale, height=inner.height * shape.scale)
        return f"<svg{place} {_svg_content(inner)}</svg>\n"
    if isinstance(shape, Bitmap):
        place = _attributes(x=shape.x, y=shape.y, width=shape.width, height=shape.height, preserveAspectRatio="none")
        return f'<image{place} href="data:image/png;base64,{b64encode(_png(shape)).decode()}"/>\n'
    if isinstance(shape, Text):
        style = _attributes(
            x=shape.x,
            y=shape.y,
            font_size=shape.size,
            fill=shape.fill,
            text_anchor=None if shape.anchor == "start" else shape.anchor,
            font_weight="bold" if shape.bold else None,
        )
        return f"<text{style}>{_escaped(shape.text)}</text>\n"
    style = _attributes(
        fill="none" if isinstance(shape, Polyline) or shape.fill is None else shape.fill,
        stroke=shape.stroke,
        stroke_width=None if shape.stroke is None else shape.stroke_width,
        opacity=None if shape.opacity >= 1 else shape.opacity,
    )
    match shape:
        case Circle():
            return f"<circle{_attributes(cx=shape.x, cy=shape.y, r=shape.radius)}{style}/>\n"
        case Rectangle():
            place = _attributes(x=shape.x, y=shape.y, width=shape.width, height=shape.height)
            return f"<rect{place}{style}/>\n"
        case Polygon():
            return f"<polygon{_attributes(points=_svg_points(shape.points))}{style}/>\n"
        case Polyline():
            return f'<polyline{_attributes(points=_svg_points(shape.points))}{style} stroke-linecap="round"/>\n'


def _png(image: Bitmap) -> bytes:
    """Return an image as a PNG file (ISO/IEC 15948), which needs no library."""
    rows = np.frombuffer(image.rgb, np.uint8).reshape(image.rows, -1)
    rows = np.pad(rows, ((0, 0), (1, 0)))  # before each is its filter: none
    head = struct.pack(">2I5B", image.cols, image.rows, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    parts = (struct.pack(">I", len(x)) + kind + x + struct.pack(">I", zlib.crc32(kind + x)) for kind, x in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _svg_points(points: Iterable[Point]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


# ---------------------------------------------------------------- notes

_HEADER = 34.0


@dataclass(frozen=True)
class Notes:
    """Shares and numbers by action, and a line of moves to come.

    Attributes:
        title: a line above the board.
        shares: share of the search by action, 0 to 1; an action without an entry has share 0.
        numbers: label by action, at most three characters.
        meaning: meaning of the numbers, such as "win chance of Black in %".
        line: moves in their order, each an action and the player who makes it.
        of: name of the whole that the shares divide, with "of".
        most: share drawn in full colour; None for the largest share.
        least: share drawn without colour. Above 0, colours follow the shares evenly, so that near ones differ.
    """

    title: str
    shares: Mapping[int, float] = field(default_factory=dict)
    numbers: Mapping[int, str] = field(default_factory=dict)
    meaning: str = ""
    line: tuple[tuple[int, int], ...] = ()
    of: str = "of all visits"
    most: float | None = None
    least: float = 0.0


def headed(picture: Picture, title: str) -> Picture:
    """Return the picture below a line of text."""
    line = Text(picture.width / 2, 24, title, fitted(title, 17, picture.width), INK, "middle", bold=True)
    spoken = f"{title}. {picture.title}" if picture.title else title
    return Picture(
        picture.width, picture.height + _HEADER, picture.background, (line, Inset(0, _HEADER, picture)), spoken
    )

"""Pictures as short lists of shapes, drawn as SVG, as RGB arrays, or as GIFs.

A game's rendering module turns one state into a `Picture`; this module turns pictures into files. Lengths are
floats in the picture's own units, x to the right and y downward; at `scale=1` one unit is one pixel. Colours
are "#rrggbb".

SVG is written as text and needs nothing but Python. RGB arrays and GIFs need Pillow, which is imported only
when one is asked for: `pip install "cellgames[render]"`.
"""

from __future__ import annotations

import io
import itertools
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

__all__ = [
    "Circle",
    "Inset",
    "Picture",
    "Point",
    "Polygon",
    "Polyline",
    "Rectangle",
    "Shape",
    "Text",
    "draw_board",
    "frame_times",
    "grid",
    "mix",
    "save_gif",
    "to_png",
    "to_rgb",
    "to_svg",
]

Point: TypeAlias = tuple[float, float]
RGB: TypeAlias = npt.NDArray[np.uint8]

_BIG = 4_000_000  # pixels; larger pictures are smoothed with 2 x 2 samples a pixel instead of 3 x 3


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
    """A line through two or more points, round at its bends; `dash` = (drawn, left out) makes it dashed."""

    points: tuple[Point, ...]
    stroke: str
    stroke_width: float = 1.0
    opacity: float = 1.0
    dash: tuple[float, float] | None = None


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


Shape: TypeAlias = Polygon | Rectangle | Circle | Polyline | Text | Inset


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


def mix(first: str, second: str, share: float) -> str:
    """Return the colour that is `share` (0 to 1) of `second` and the rest of `first`."""
    pairs = ((int(first[i : i + 2], 16), int(second[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def grid(
    pictures: Sequence[Picture], columns: int, *, gap: float = 12.0, title: str = "", scale: float = 1.0
) -> Picture:
    """Return several pictures as one, row by row, `columns` in a row, `gap` units between them and around them.

    Every picture gets a place of the largest one's size, and the first picture's background lies beneath all.
    """
    if not pictures or columns < 1:
        raise ValueError(f"expected 1 or more pictures and columns, got {len(pictures)} and {columns}")
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
            dash = None if shape.dash is None else " ".join(map(_number, shape.dash))
            ends = _attributes(stroke_dasharray=dash, stroke_linecap=None if dash else "round")
            return f"<polyline{_attributes(points=_svg_points(shape.points))}{style}{ends}/>\n"


def _svg_points(points: Iterable[Point]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


# ---------------------------------------------------------------- RGB


def to_rgb(picture: Picture, scale: float = 1.0) -> RGB:
    """Return the picture as a uint8 array [H, W, 3], `scale` pixels a unit, with smooth edges.

    A see-through background becomes white.

    Raises:
        ImportError: Pillow is not installed.
    """
    _require_pillow()
    from PIL import Image

    width, height = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
    samples = 3 if width * height <= _BIG else 2
    canvas = Image.new("RGB", (width * samples, height * samples), "#ffffff")
    _paint(canvas, picture, scale * samples)
    return np.array(canvas.reduce(samples), dtype=np.uint8)


def to_png(picture: Picture, scale: float = 2.0) -> bytes:
    """Return the picture as a PNG file; it raises what `to_rgb` raises."""
    pixels = to_rgb(picture, scale)
    from PIL import Image

    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG", optimize=True)
    return data.getvalue()


def _require_pillow() -> None:
    try:
        import PIL.Image
        import PIL.ImageDraw
        import PIL.ImageFont  # noqa: F401
    except ImportError as error:
        raise ImportError('RGB pictures and GIFs need Pillow: pip install "cellgames[render]"') from error


def _paint(canvas: Image.Image, picture: Picture, scale: float) -> None:
    """Draw the picture over all of the canvas."""
    from PIL import Image, ImageDraw

    if picture.background is not None:
        canvas.paste(picture.background, (0, 0, canvas.width, canvas.height))
    draw = ImageDraw.Draw(canvas)
    for shape in picture.shapes:
        if isinstance(shape, Inset):
            left, top, inner = round(shape.x * scale), round(shape.y * scale), shape.picture
            size = (
                max(1, round(inner.width * shape.scale * scale)),
                max(1, round(inner.height * shape.scale * scale)),
            )
            window = canvas.crop((left, top, left + size[0], top + size[1]))
            _paint(window, inner, scale * shape.scale)
            canvas.paste(window, (left, top))
        elif isinstance(shape, Text):
            _draw_text(draw, shape, scale)
        elif shape.opacity >= 1:
            _draw(draw, shape, scale, 0, 0)
        else:  # as SVG does it: fill and stroke as one, then laid over what is below
            box = _bounds(shape, scale, canvas.width, canvas.height)
            if box is not None:
                below = canvas.crop(box)
                above = below.copy()
                _draw(ImageDraw.Draw(above), shape, scale, box[0], box[1])
                canvas.paste(Image.blend(below, above, max(0.0, shape.opacity)), box[:2])


def _bounds(
    shape: Polygon | Rectangle | Circle | Polyline, scale: float, width: int, height: int
) -> tuple[int, int, int, int] | None:
    """Return the pixels a shape may touch as (left, top, right, bottom), None where it lies outside."""
    match shape:
        case Circle(x, y, radius):
            corners: tuple[Point, ...] = ((x - radius, y - radius), (x + radius, y + radius))
        case Rectangle(x, y, across, down):
            corners = ((x, y), (x + across, y + down))
        case _:
            corners = shape.points
    margin = 0.0 if shape.stroke is None else shape.stroke_width / 2
    left = max(0, math.floor((min(x for x, _ in corners) - margin) * scale) - 1)
    top = max(0, math.floor((min(y for _, y in corners) - margin) * scale) - 1)
    right = min(width, math.ceil((max(x for x, _ in corners) + margin) * scale) + 1)
    bottom = min(height, math.ceil((max(y for _, y in corners) + margin) * scale) + 1)
    return (left, top, right, bottom) if left < right and top < bottom else None


def _draw(
    draw: ImageDraw.ImageDraw,
    shape: Polygon | Rectangle | Circle | Polyline,
    scale: float,
    left: int,
    top: int,
) -> None:
    """Draw a shape as if it were opaque, on a canvas whose upper left corner is the pixel (left, top)."""
    width = shape.stroke_width * scale
    if isinstance(shape, Circle):
        x, y = shape.x * scale - left, shape.y * scale - top
        radius = shape.radius * scale + (width / 2 if shape.stroke else 0)
        box = (round(x - radius), round(y - radius), round(x + radius), round(y + radius))
        draw.ellipse(box, shape.fill, shape.stroke, max(1, round(width)) if shape.stroke else 0)
        return
    if isinstance(shape, Rectangle):
        x0, y0 = round(shape.x * scale) - left, round(shape.y * scale) - top
        x1 = round((shape.x + shape.width) * scale) - left
        y1 = round((shape.y + shape.height) * scale) - top
        if shape.fill is not None and x1 > x0 and y1 > y0:
            draw.rectangle((x0, y0, x1 - 1, y1 - 1), shape.fill)
        outline: list[Point] = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
    else:
        outline = [(x * scale - left, y * scale - top) for x, y in shape.points]
        if isinstance(shape, Polygon):
            if shape.fill is not None:
                draw.polygon([(round(x), round(y)) for x, y in outline], shape.fill)
            outline.append(outline[0])
    if shape.stroke is None:
        return
    if isinstance(shape, Polyline) and shape.dash is not None:
        for piece in _dashes(outline, shape.dash[0] * scale, shape.dash[1] * scale):
            draw.line(piece, shape.stroke, max(1, round(width)))
    else:
        _draw_line(draw, outline, shape.stroke, width)


def _draw_line(draw: ImageDraw.ImageDraw, points: Sequence[Point], stroke: str, width: float) -> None:
    draw.line(points, stroke, max(1, round(width)))
    if width > 3:  # Pillow leaves notches at the bends of thick lines
        radius = width / 2 - 0.5  # Pillow fills both ends of a box
        for x, y in points:
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), stroke)


def _dashes(points: Sequence[Point], drawn: float, left_out: float) -> Iterator[list[Point]]:
    """Yield the pieces of a line that are drawn, starting with a drawn one."""
    if drawn <= 0 or left_out <= 0:
        raise ValueError(f"expected dashes and gaps longer than 0, got {drawn} and {left_out}")
    piece, rest, pen_down = [points[0]], drawn, True
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        length, at = math.hypot(x1 - x0, y1 - y0), 0.0
        while length - at > rest:
            at += rest
            point = (x0 + (x1 - x0) * at / length, y0 + (y1 - y0) * at / length)
            if pen_down:
                yield [*piece, point]
            piece, pen_down = [point], not pen_down
            rest = drawn if pen_down else left_out
        rest -= length - at
        piece.append((x1, y1))
    if pen_down:
        yield piece


@lru_cache(maxsize=32)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _draw_text(draw: ImageDraw.ImageDraw, shape: Text, scale: float) -> None:
    anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.anchor]
    size = shape.size * scale
    draw.text(
        (shape.x * scale, shape.y * scale),
        " ".join(shape.text.split()),
        shape.fill,
        _font(max(1, round(size))),
        anchor,
        stroke_width=max(1, round(size / 40)) if shape.bold else 0,  # the built-in font has one weight
    )


# ---------------------------------------------------------------- animations


def frame_times(last: int, most: int) -> list[int]:
    """Return up to `most` of the moments 0 to `last` for an animation, and `last`, denser at the beginning."""
    return sorted({round(last * (i / most) ** 1.5) for i in range(most)} | {last})


def save_gif(frames: Iterable[RGB], path: str | os.PathLike[str], frame_ms: int = 200, last_ms: int = 2000) -> None:
    """Write uint8 frames [H, W, 3] as a GIF that repeats for ever.

    All frames share one palette, so that a colour never flickers. The file appears whole or not at all. A
    frame that equals the one before is stored as a longer showing of that one.

    Args:
        frames: arrays of one shape, as `to_rgb` makes them; held in memory until all are there.
        path: the file, replaced where it exists; its folder must exist.
        frame_ms: how long a frame shows, in milliseconds; GIF counts in steps of 10.
        last_ms: how long the last frame shows.

    Raises:
        ValueError: no frame, a frame of another shape or dtype, or a time below 10 ms.
        ImportError: Pillow is not installed.
    """
    _require_pillow()
    from PIL import Image

    if min(frame_ms, last_ms) < 10:
        raise ValueError(f"expected 10 ms or more for a frame, got frame_ms={frame_ms}, last_ms={last_ms}")
    kept: list[RGB] = []
    for frame in frames:
        if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3:
            raise ValueError(f"frame {len(kept)}: expected uint8 [H, W, 3], got {frame.dtype} {list(frame.shape)}")
        if kept and frame.shape != kept[0].shape:
            raise ValueError(f"frame {len(kept)}: expected {list(kept[0].shape)} as frame 0, got {list(frame.shape)}")
        kept.append(frame)
    if not kept:
        raise ValueError("expected 1 or more frames, got none")

    palette = _shared_palette(kept)
    index_of = np.full(1 << 24, -1, dtype=np.int16)  # of the nearest palette colour, for packed colours met so far
    images = []
    for frame in kept:
        codes = _packed(frame)
        new = np.unique(codes[index_of[codes] < 0])
        distance = ((_unpacked(new).astype(np.int32)[:, None] - palette) ** 2).sum(2)
        index_of[new] = distance.argmin(1)
        image = Image.frombytes("P", (frame.shape[1], frame.shape[0]), index_of[codes].astype(np.uint8).tobytes())
        image.putpalette(palette.tobytes())
        images.append(image)

    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            times = [frame_ms] * (len(images) - 1) + [last_ms]
            images[0].save(file, "GIF", save_all=True, append_images=images[1:], duration=times, loop=0)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _packed(colours: RGB) -> npt.NDArray[np.int32]:
    """Return colours [..., 3] as one number each, [...]."""
    red, green, blue = np.moveaxis(colours.astype(np.int32), -1, 0)
    packed: npt.NDArray[np.int32] = red << 16 | green << 8 | blue
    return packed


def _unpacked(codes: npt.NDArray[np.int32]) -> RGB:
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=-1).astype(np.uint8)


def _shared_palette(frames: Sequence[RGB]) -> RGB:
    """Return up to 255 colours [C, 3] of at most 16 of the frames, the first and the last among them.

    The most frequent ones are exact; the rest, mostly mixtures of them on the edges of shapes, are clustered.
    """
    from PIL import Image

    chosen = sorted({round(i * (len(frames) - 1) / 15) for i in range(16)})
    codes, counts = np.unique(np.concatenate([_packed(frames[i]).ravel() for i in chosen]), return_counts=True)
    colours = _unpacked(codes[np.argsort(-counts, kind="stable")])
    if len(colours) <= 255:
        return colours
    rest = Image.fromarray(colours[None, 128:]).quantize(127, Image.Quantize.MEDIANCUT, kmeans=1)
    clustered = np.array(rest.getpalette(), dtype=np.uint8).reshape(-1, 3)
    return np.concatenate([colours[:128], clustered])

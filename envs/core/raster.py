"""Pictures as pixels: RGB arrays and PNG files; `utils.animations` makes animations of the arrays.

They need Pillow, which is imported only when one is asked for: `pip install "cellgames[render]"`.
"""

from __future__ import annotations

import io
import math
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from .drawing import Bitmap, Circle, Inset, Picture, Point, Polygon, Polyline, Rectangle, Text

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

RGB: TypeAlias = npt.NDArray[np.uint8]

_BIG = 4_000_000  # pixels; larger pictures are smoothed with 2 x 2 samples a pixel instead of 3 x 3


def to_rgb(picture: Picture, scale: float = 1.0) -> RGB:
    """Return the picture as a uint8 array [H, W, 3], `scale` pixels a unit, with smooth edges.

    A see-through background becomes white.

    Raises:
        ImportError: Pillow is not installed.
    """
    require_pillow()
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


def require_pillow() -> None:
    """Raise an `ImportError` that names the extra unless Pillow is installed."""
    try:
        import PIL.Image
        import PIL.ImageDraw
        import PIL.ImageFont  # noqa: F401
    except ImportError as error:
        raise ImportError('RGB pictures need Pillow: pip install "cellgames[render]"') from error


def _paint(canvas: Image.Image, picture: Picture, scale: float) -> None:
    """Draw the picture over all of the canvas."""
    from PIL import Image, ImageDraw

    if picture.background is not None:
        canvas.paste(picture.background, (0, 0, canvas.width, canvas.height))
    draw = ImageDraw.Draw(canvas)
    for shape in picture.shapes:
        if isinstance(shape, Inset):
            left, top, inner = round(shape.x * scale), round(shape.y * scale), shape.picture
            size = (max(1, round(inner.width * shape.scale * scale)), max(1, round(inner.height * shape.scale * scale)))
            window = canvas.crop((left, top, left + size[0], top + size[1]))
            _paint(window, inner, scale * shape.scale)
            canvas.paste(window, (left, top))
        elif isinstance(shape, Bitmap):
            size = (max(1, round(shape.width * scale)), max(1, round(shape.height * scale)))
            image = Image.frombytes("RGB", (shape.cols, shape.rows), shape.rgb).resize(size)
            canvas.paste(image, (round(shape.x * scale), round(shape.y * scale)))
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
    draw: ImageDraw.ImageDraw, shape: Polygon | Rectangle | Circle | Polyline, scale: float, left: int, top: int
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
    draw.line(outline, shape.stroke, max(1, round(width)))
    if width > 3:  # Pillow leaves notches at the bends of thick lines
        radius = width / 2 - 0.5  # Pillow fills both ends of a box
        for x, y in outline:
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), shape.stroke)


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
        anchor,  # the built-in font has one weight, and thicker strokes make it blotchy
    )

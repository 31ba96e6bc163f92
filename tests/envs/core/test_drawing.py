"""The display list: what SVG holds, what pixels show, GIFs that are whole or not there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pytest

from cellgames.envs.core.drawing import Circle, Inset, Picture, Polygon, Polyline, Rectangle, Shape, Text, grid, to_svg
from cellgames.envs.core.raster import to_rgb
from cellgames.utils.animations import save_animation

WHITE, RED, BLUE = (255, 255, 255), (255, 0, 0), (0, 0, 255)
SVG = "{http://www.w3.org/2000/svg}"
TRIANGLE = Polygon(((0, 0), (10, 0), (0, 10)), "#ff0000")
ONE_OF_EACH: tuple[Shape, ...] = (
    TRIANGLE,
    Rectangle(20, 0, 10, 10, "#0000ff"),
    Circle(45, 5, 5, None, "#ff0000", 2),
    Polyline(((0, 20), (60, 20)), "#0000ff", 4),
    Text(30, 38, "a < b & c", 10, anchor="middle", bold=True),
    Inset(0, 40, Picture(10, 10, "#ff0000", (Circle(0, 0, 100, "#0000ff"),))),
)
PICTURE = Picture(60, 60, "#ffffff", ONE_OF_EACH, 'one "of" each <shape>')


def pixel(image: npt.NDArray[np.uint8], x: float, y: float) -> tuple[int, ...]:
    return tuple(image[int(y), int(x)].tolist())


def of(*shapes: Shape, background: str | None = "#ffffff") -> npt.NDArray[np.uint8]:
    return to_rgb(Picture(20, 20, background, shapes))


def test_svg_is_xml_with_a_title_and_one_element_a_shape() -> None:
    root = ElementTree.fromstring(to_svg(PICTURE))
    assert root.tag == f"{SVG}svg"
    assert root.get("viewBox") == "0 0 60 60"
    assert (root.get("width"), root.get("height")) == ("60", "60")
    assert root.findtext(f"{SVG}title") == PICTURE.title
    assert [child.tag.removeprefix(SVG) for child in root] == [
        *("title", "rect", "polygon", "rect", "circle", "polyline", "text", "svg")
    ]


def test_svg_keeps_to_characters_that_xml_can_hold() -> None:
    root = ElementTree.fromstring(to_svg(Picture(9, 9, None, (Text(0, 9, "a\x00b\x1b", 9),), "\x07")))
    assert root[-1].text == "a b "


def test_every_shape_leaves_its_colour() -> None:
    image = to_rgb(PICTURE)
    assert pixel(image, 2, 2) == RED
    assert pixel(image, 9, 9) == WHITE  # beyond the triangle's long side
    assert pixel(image, 25, 5) == BLUE
    assert pixel(image, 45, 5) == WHITE  # inside of a circle without fill
    assert pixel(image, 45, 0) == RED
    assert pixel(image, 45, 2) == WHITE
    assert pixel(image, 30, 20) == BLUE
    assert (image[28:40] < 128).any()  # the text


@pytest.mark.parametrize(
    "shape",
    [
        Rectangle(0, 0, 20, 20, "#ff0000", "#ff0000", 2),
        Circle(10, 10, 30, "#ff0000", "#ff0000"),
        Polygon(((0, 0), (20, 0), (20, 20), (0, 20)), "#ff0000", "#ff0000", 4),
        Polyline(((0, 10), (20, 10)), "#ff0000", 20),
    ],
)
def test_half_opaque_fill_and_stroke_count_as_one(shape: Polygon | Rectangle | Circle | Polyline) -> None:
    image = of(replace(shape, opacity=0.5))
    red, green, blue = pixel(image, 10, 10)
    assert red == 255
    assert green == blue
    assert abs(green - 128) <= 1
    assert pixel(of(replace(shape, opacity=0.0)), 10, 10) == WHITE


@pytest.mark.parametrize(("anchor", "columns"), [("start", (10, 20)), ("middle", (5, 15)), ("end", (0, 10))])
def test_text_stands_on_its_baseline_at_its_anchor(anchor: str, columns: tuple[int, int]) -> None:
    dark = of(Text(10, 15, "H", 10, anchor=anchor)) < 128  # type: ignore[arg-type]  # anchors come from the list
    rows, cols = np.nonzero(dark.any(axis=2))
    assert 6 <= rows.min() <= 9
    assert rows.max() == 14
    assert columns[0] <= cols.min() <= cols.max() < columns[1]


def test_an_inset_is_scaled_and_cut_off_at_its_edge() -> None:
    inner = Picture(4, 4, "#0000ff", (Rectangle(2, 0, 100, 4, "#ff0000"),))
    image = of(Inset(4, 4, inner, 2))
    assert pixel(image, 3, 6) == WHITE
    assert pixel(image, 5, 6) == BLUE
    assert pixel(image, 9, 6) == RED
    assert pixel(image, 13, 6) == WHITE
    place = ElementTree.fromstring(to_svg(Picture(20, 20, None, (Inset(4, 4, inner, 2),))))[0].attrib
    assert place == {"x": "4", "y": "4", "width": "8", "height": "8", "viewBox": "0 0 4 4"}


def test_a_grid_fills_rows_and_leaves_gaps() -> None:
    squares = [Picture(10, 10, "#ff0000", ()), Picture(6, 4, "#0000ff", ()), Picture(10, 10, "#0000ff", ())]
    laid = grid(squares, 2, gap=2, title="three")
    assert (laid.width, laid.height, laid.title) == (26, 26, "three")
    image = to_rgb(replace(laid, background="#ffffff"))
    assert [pixel(image, *at) for at in ((1, 1), (7, 7), (16, 4), (7, 19), (19, 19))] == [
        *(WHITE, RED, BLUE, BLUE, WHITE)
    ]
    column = grid(squares, 1, gap=2)
    assert (column.width, column.height) == (14, 38)


def frames(count: int) -> Iterator[npt.NDArray[np.uint8]]:
    for i in range(count):
        yield to_rgb(Picture(30, 20, "#fffdf8", (Circle(5 + 3 * i, 10, 4, "#d55e00"),)))


def test_a_gif_has_all_frames_times_and_colours(tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "game.gif"
    save_animation(frames(5), path, frame_ms=120, last_ms=900)
    with Image.open(path) as gif:
        assert getattr(gif, "n_frames", 1) == 5
        assert gif.info["loop"] == 0
        shown = []
        for i, frame in enumerate(frames(5)):
            gif.seek(i)
            shown.append(gif.info["duration"])
            assert np.array_equal(np.array(gif.convert("RGB")), frame)  # fewer than 256 colours: exact
    assert shown == [120, 120, 120, 120, 900]
    assert list(tmp_path.iterdir()) == [path]


def test_a_frame_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    def broken() -> Iterator[npt.NDArray[np.uint8]]:
        yield from frames(2)
        raise RuntimeError("no third frame")

    path = tmp_path / "game.gif"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        save_animation(broken(), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]

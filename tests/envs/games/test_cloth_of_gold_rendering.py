"""Pictures of Cloth of Gold: what a picture says is what the world holds, for every kind of colour vision; and text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from colour_vision import VISION, lab

from cellgames.envs.cloth_of_gold.rendering import UNITS, View, draw
from cellgames.envs.core.drawing import Circle, Inset, Picture, Polygon, Polyline, Rectangle, Text
from cellgames.envs.core.raster import to_rgb

Cells = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]

SIZES = [(8, 8), (16, 16), (32, 32), (100, 100), (256, 256), (8, 60), (200, 9)]


def world(height: int, width: int, seed: int = 1) -> tuple[Cells, Mask]:
    """Cells of all states, a's territory from the left and b's from the right, of ragged edges, overlapping."""
    random = np.random.default_rng(seed)
    cells = random.choice(5, (height, width), p=[0.6, 0.1, 0.1, 0.1, 0.1]).astype(np.int8)
    ragged = random.integers(-1, 2, (height, 1))
    col = np.arange(width)
    return cells, np.stack((col < 5 * width // 8 - ragged, (col > 3 * width // 8 + ragged) & (col < width - 1)))


def words(drawn: Picture) -> list[str]:
    return [shape.text for shape in drawn.shapes if isinstance(shape, Text)]


def board_of(drawn: Picture) -> Inset:
    """The world itself, drawn after the samples of the legend."""
    return [shape for shape in drawn.shapes if isinstance(shape, Inset)][-1]


def read_back(inset: Inset) -> tuple[Cells, Mask, Mask]:
    """Cells, territory and marks of placed units [H, W] from shapes alone."""
    height, width = int(inset.picture.height), int(inset.picture.width)
    cells, placed = np.zeros((height, width), np.int8), np.zeros((height, width), np.bool_)
    grounds: dict[str, int] = {}
    territory = np.zeros((2, height, width), np.bool_)
    for shape in inset.picture.shapes:
        match shape:
            case Rectangle(x, y, across, 1, fill) if fill != UNITS[0]:  # grounds, a's before b's and both's
                assert isinstance(fill, str)
                territory[grounds.setdefault(fill, len(grounds)), int(y), int(x) : int(x + across)] = True
            case Rectangle(x, y, across):
                cells[int(y), int(x) : int(np.ceil(x + across))] = 1
            case Circle(x, y, fill=fill) if fill is not None:
                if fill == UNITS[1]:
                    cells[int(y), int(x)] = 2
                else:
                    placed[int(y), int(x)] = True
            case Polygon(points, stroke=stroke):
                x, y = np.array(points).mean(0)
                cells[int(y), int(x)] = 4 if stroke is None else 3
    return cells, territory, placed


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_a_picture_shows_every_cell_and_both_territories(height: int, width: int) -> None:
    cells, territory = world(height, width)
    placed = (cells == 2) & (np.arange(height)[:, None] < 2)
    drawn = draw(View(cells, territory, title="round 3", placed=placed))
    shown, grounds, marked = read_back(board_of(drawn))
    assert np.array_equal(shown, cells)
    assert np.array_equal(marked, placed)
    assert np.array_equal(grounds[0], territory[0] & ~territory[1])
    assert np.array_equal(grounds[1], territory[1])  # contested cells lie on b's ground
    assert max(drawn.width, drawn.height) < 1200
    assert words(drawn)[0] == drawn.title == "round 3"


@pytest.mark.parametrize("size", [8, 32, 100, 256])
def test_exactly_the_contested_cells_are_hatched(size: int) -> None:
    cells, territory = world(size, size)
    drawn = board_of(draw(View(np.zeros_like(cells), territory, title="")))
    hatched = np.zeros((size, size), np.bool_)
    for line in drawn.picture.shapes:
        if (
            isinstance(line, Polyline)
            and line.points[0][0] != line.points[1][0]
            and line.points[0][1] != line.points[1][1]
        ):
            (x0, y0), (x1, y1) = line.points
            steps = (np.arange(round((x1 - x0) * 20)) + 0.5) / 20
            hatched[(y0 - steps).astype(int), (x0 + steps).astype(int)] = True
            assert y0 - y1 == pytest.approx(x1 - x0)
    contested = territory.all(0)
    assert not (hatched & ~contested).any()
    assert hatched.sum() > contested.sum() / 5
    if size < 64:  # on larger worlds not every cell has a line
        assert (hatched == contested).all()


def test_the_score_line_counts_what_is_there() -> None:
    cells, territory = world(16, 24)
    said = words(
        draw(View(cells, territory, title="", scores=(12, -12), results=("wins", "loses"), names=("Ann", "Bob")))
    )
    assert "Ann: score +12, wins" in said
    assert "Bob: score -12, loses" in said
    for player in (0, 1):
        assert f"{(cells == player + 1).sum()} units, territory {territory[player].sum()}" in said
    assert f"contested {(territory[0] & territory[1]).sum()}" in said
    assert f"killed {(cells == 4).sum()}" in said
    assert f"neutral {(cells == 3).sum()}" in said
    assert not any("placed" in word for word in said)
    nothing = words(draw(View(np.zeros((8, 8), np.int8), np.zeros((2, 8, 8), np.bool_), title="")))
    assert {"player_a", "player_b", "0 units, territory 0", "contested 0", "killed 0"} <= set(nothing)
    assert not any("neutral" in word for word in nothing)


@pytest.mark.parametrize("vision", VISION)
def test_everything_is_told_apart_in_every_kind_of_colour_vision(vision: str) -> None:
    """Units and killed cells clearly, grounds visibly; a difference of about 2 in Lab can just be seen."""
    cells, territory = np.zeros((8, 12), np.int8), np.zeros((2, 8, 12), np.bool_)
    territory[0, :, 3:9], territory[1, :, 6:] = True, True  # nobody's, a's, both's, b's
    cells[1, 1::3], cells[3, 1::3], cells[5, 1::3] = 1, 2, 4
    drawn = draw(View(cells, territory, title=""))
    inset = board_of(drawn)
    seen = lab(to_rgb(drawn), VISION[vision])

    def middle(row: float, col: float) -> npt.NDArray[np.float64]:
        at = seen[int(inset.y + (row + 0.5) * inset.scale), int(inset.x + (col + 0.5) * inset.scale)]
        return np.asarray(at)

    def apart(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> float:
        return float(np.linalg.norm(first - second))

    grounds = [middle(7, 1.31), middle(7, 4.31), middle(7, 10.31)]
    assert min(apart(grounds[i], grounds[j]) for i, j in ((0, 1), (0, 2), (1, 2))) > 5
    inside = np.linspace(0.1, 0.9, 30)
    hatched = [middle(6.5 + down, 6.5 + right) for down in inside for right in inside]
    assert max(apart(pixel, grounds[2]) for pixel in hatched) > 15
    for col in (1, 4, 7, 10):
        a, b, killed, ground = (middle(row, col) for row in (1, 3, 5, 6.69))
        assert apart(a, b) > 30
        assert min(apart(a, ground), apart(killed, ground)) > 30
        assert apart(b, ground) > 15

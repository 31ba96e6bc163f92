"""Pictures of Cloth of Gold: what a picture says is what the world holds, for every kind of colour vision; and text."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from colour_vision import VISION, lab

from cellgames.envs.cloth_of_gold.rendering import GROUND, UNITS, View
from cellgames.envs.core.drawing import Circle, Inset, Picture, Polygon, Polyline, Rectangle, Text
from cellgames.envs.core.raster import to_rgb

Cells = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]

draw, text = View.draw, View.text

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
    territory = np.zeros((2, height, width), np.bool_)
    for shape in inset.picture.shapes:
        match shape:
            case Rectangle(x, y, across, 1, str(fill)) if fill in GROUND:
                owners = ([0], [1], [0, 1])[GROUND.index(fill)]
                territory[owners, int(y), int(x) : int(x + across)] = True
            case Rectangle(x, y, across):
                cells[int(y), int(x) : int(np.ceil(x + across))] = 1
            case Circle(x, y, fill=fill) if fill is not None:
                if fill == UNITS[1]:
                    cells[int(y), int(x)] = 2
                else:
                    placed[int(y), int(x)] = True
            case Polygon(points):
                x, y = np.array(points).mean(0)
                cells[int(y), int(x)] = 3
            case Polyline(((x, y), (right, below))) if x != right and y != below:
                cells[int(y), int(x)] = 4
    return cells, territory, placed


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_a_picture_shows_every_cell_and_both_territories(height: int, width: int) -> None:
    cells, territory = world(height, width)
    placed = (cells == 2) & (np.arange(height)[:, None] < 2)
    drawn = draw(View(cells, territory, title="round 3", placed=placed))
    shown, grounds, marked = read_back(board_of(drawn))
    assert np.array_equal(shown, cells)
    assert np.array_equal(marked, placed)
    assert np.array_equal(grounds, territory)
    assert max(drawn.width, drawn.height) < 1200
    assert words(drawn)[0] == drawn.title == "round 3"


def test_the_lines_count_what_is_there() -> None:
    cells, territory = world(16, 24)
    said = words(draw(View(cells, territory, "round 3", ("Ann", "Bob"), (12, -12), ("wins", "loses"))))[:4]
    units, fields = [(cells == kind).sum() for kind in range(5)], territory.sum((1, 2))
    assert said == [
        "round 3",
        f"Ann: score +12, wins; {units[1]} units, territory {fields[0]}",
        f"Bob: score -12, loses; {units[2]} units, territory {fields[1]}",
        f"contested {territory.all(0).sum()}, killed {units[4]}, neutral {units[3]}",
    ]
    nothing = words(draw(View(np.zeros((8, 8), np.int8), np.zeros((2, 8, 8), np.bool_), title="")))
    assert nothing[1] == "player_a; 0 units, territory 0"


def test_a_sign_in_the_text_of_a_wide_world_stands_for_a_block() -> None:
    """A block shows units rather than killed cells, and these rather than territory."""
    cells, territory = np.zeros((8, 200), np.int8), np.zeros((2, 8, 200), np.bool_)
    territory[0, :, :100] = True
    cells[3, 3], cells[2, 2], cells[5, 0] = 2, 4, 4
    placed = np.zeros_like(territory[0])
    placed[3, 3] = True
    lines = text(View(cells, territory, "")).split("\n")
    assert len(lines[-1]) == 102
    assert [line.split()[1][:3] for line in lines[-2:]] == ["-B-", "x--"]
    assert text(View(cells, territory, "", placed=placed)).split("\n")[-2].split()[1][:3] == "-b-"


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

    grounds = [middle(7, col) for col in (1.31, 4.31, 7.31, 10.31)]
    assert min(apart(one, other) for one, other in combinations(grounds, 2)) > 5
    for col in (1, 4, 7, 10):
        a, b, killed, ground = (middle(row, col) for row in (1, 3, 5, 6.69))
        assert apart(a, b) > 30
        assert min(apart(a, ground), apart(killed, ground)) > 30
        assert apart(b, ground) > 15

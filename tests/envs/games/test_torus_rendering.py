"""Pictures of Torus: the right cell in the right place, the seam, the path that won. Game by Mark Steere."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
import pytest
from refusals import refused

from cellgames.envs.core.drawing import Inset, Picture, Polygon, Text, to_svg
from cellgames.envs.core.raster import to_rgb
from cellgames.envs.stones.stone_view import StoneView
from cellgames.envs.torus.geometry import name_to_cell, neighbours
from cellgames.envs.torus.rendering import Step, form, lines, winning_class, winning_path

BLACK, WHITE = 0, 1
FREE_RGB, BLACK_RGB, WHITE_RGB = (234, 217, 184), (37, 40, 45), (255, 255, 255)
PATH_RGB, SEEN_RGB = (213, 94, 0), (111, 195, 242)

# Rows of octagons, each followed by its row of squares, as `text` writes them but without spaces.
RING = ("..x..", ",,,,,") * 5
BRACELET = ("ooooo", ",,,,,") + (".....", ",,,,,") * 4
R_HELIX = ("x...", "x,,,", ".x..", ",x,,", "..x.", ",,x,", "...x", ",,,x")
L_HELIX = ("...o", ",,o,", "..o.", ",o,,", ".o..", "o,,,", "o...", ",,,o")
# A bracelet in row 3 and an l-helix that crosses it upright in column c: only together they hold a ring.
FIGURE_6 = (*("...x.", ",,x,,"), *("..x..", ",,,,,"), *("xxxxx", ",,,,,"), *("..x..", ",x,,,"), *("xx..x", ",,,x,"))


def board(rows: Sequence[str]) -> tuple[list[int], int]:
    values = {".": 0, ",": 0, "x": 1, "o": 2}
    joined = "".join(rows[0::2]) + "".join(rows[1::2])
    return [values[sign] for sign in joined], len(rows) // 2


def view(cells: Sequence[int], size: int, path: Sequence[Step] = (), last: int | None = None) -> StoneView:
    return StoneView(cells, form(size), last, path, {step[0] for step in path}, list(lines(size, path)))


def drawn(shown: Picture) -> tuple[Inset, npt.NDArray[np.uint8]]:
    inset = shown.shapes[0]
    assert isinstance(inset, Inset)
    return inset, to_rgb(shown)


def colour(shown: Picture, col: float, row: float) -> tuple[int, ...]:
    """The pixel at a point given in cells: octagons at whole numbers, squares at halves, (0, 0) is a1."""
    inset, image = drawn(shown)
    x, y = (inset.x + (1.35 + col) * inset.scale, inset.y + (1.35 + row) * inset.scale)
    return tuple(image[int(y), int(x)].tolist())


def test_cells_have_their_owners_colours() -> None:
    cells = [0] * 50
    cells[name_to_cell("b1", 5)], cells[name_to_cell("d4", 5)] = 1, 2
    cells[name_to_cell("a2+", 5)], cells[name_to_cell("e5+", 5)] = 1, 2
    shown = view(cells, 5).draw()
    assert colour(shown, 0, 0) == FREE_RGB
    assert colour(shown, 1, 0) == BLACK_RGB
    assert colour(shown, 3, 3) == WHITE_RGB
    assert colour(shown, 0.5, 1.5) == BLACK_RGB
    assert colour(shown, 4.5, 4.5) == WHITE_RGB


@pytest.mark.parametrize("size", [2, 5, 8, 16])
def test_the_board_has_every_cell_once(size: int) -> None:
    shown = view([1] * (2 * size * size), size).draw()
    inset, image = drawn(shown)
    fills = [shape.fill for shape in inset.picture.shapes if isinstance(shape, Polygon)]
    assert fills == ["#25282d"] * (2 * size * size)
    root = ElementTree.fromstring(to_svg(shown))
    assert len(root.findall(".//{*}polygon")) == len(fills)
    assert image.shape == (round(shown.height), round(shown.width), 3)
    assert max(image.shape) < 600


def test_labels_and_title_are_as_moves_are_written() -> None:
    shown = replace(view([0] * 512, 16), title="Black to move & <win>").draw()
    title, board = shown.shapes
    assert isinstance(title, Text)
    assert isinstance(board, Inset)
    assert title.text == shown.title == "Black to move & <win>"
    words = [shape.text for shape in drawn(board.picture)[0].picture.shapes if isinstance(shape, Text)]
    assert sorted(words) == sorted([*"abcdefghijklmnop", *(str(i) for i in range(1, 17))])
    root = ElementTree.fromstring(to_svg(shown))
    assert root.findtext("{*}title") == "Black to move & <win>"


def test_the_last_move_has_a_ring_and_keeps_its_colour() -> None:
    cells = [0] * 50
    cells[name_to_cell("c3", 5)] = 1
    shown = view(cells, 5, last=name_to_cell("c3", 5)).draw()
    assert colour(shown, 2, 2) == BLACK_RGB
    assert colour(shown, 2 + 0.17, 2) == SEEN_RGB
    assert colour(view(cells, 5).draw(), 2 + 0.17, 2) == BLACK_RGB


def test_the_path_runs_through_the_seam_on_both_sides() -> None:
    cells, size = board(RING)
    shown = view(cells, size, winning_path(cells, size=size, winner=BLACK)).draw()
    assert {colour(shown, 2, row) for row in (-0.4, 0, 2.5, 4, 4.4)} == {PATH_RGB}
    assert colour(shown, 2.3, 2) == BLACK_RGB
    assert colour(shown, 2.5, 2) == PATH_RGB  # the edge of the cell
    assert colour(shown, 1, 2) == FREE_RGB


def test_text_shows_the_path_in_capitals() -> None:
    cells, size = board(("x.", "o,", "x.", "o,"))
    path = winning_path(cells, size=size, winner=BLACK)
    assert view(cells, size, path, last=0).text() == "\n".join(
        ["", "    a   b", " 1 [X]  .", "      o   ,", " 2  X   .", "      o   ,"]
    )


def check_closed(path: Sequence[Step], cells: Sequence[int], size: int, winner: int) -> None:
    """Every step is an edge between the winner's stones, with the windings of that edge."""
    assert path[0] == (path[-1][0], 0, 0)
    for (cell, x, y), (other, x1, y1) in pairwise(path):
        assert cells[cell] == winner + 1
        assert (other, x1 - x, y1 - y) in neighbours(size)[cell]
    right, down = path[-1][1:]
    assert winner == (0 if (right == 0 and down) or right * down > 0 else 1)


@pytest.mark.parametrize(
    ("rows", "winner", "name", "windings", "steps"),
    [
        (RING, BLACK, "ring", (0, 1), 5),
        (BRACELET, WHITE, "bracelet", (1, 0), 5),
        (R_HELIX, BLACK, "r-helix", (1, 1), 8),
        (L_HELIX, WHITE, "l-helix", (1, -1), 8),
        (FIGURE_6, BLACK, "ring", (0, 1), 15),
    ],
)
def test_path_types(rows: Sequence[str], winner: int, name: str, windings: tuple[int, int], steps: int) -> None:
    cells, size = board(rows)
    path = winning_path(cells, size=size, winner=winner)
    check_closed(path, cells, size, winner)
    assert winning_class(path) == name
    assert path[-1][1:] == windings
    assert len(path) - 1 == steps


def shortest(cells: Sequence[int], size: int, winner: int) -> int | None:
    """Steps of the shortest path, looked for from every stone on a square of copies of the board."""
    best: int | None = None
    for start in (cell for cell, owner in enumerate(cells) if owner == winner + 1):
        steps, queue = {(start, 0, 0): 0}, deque([(start, 0, 0)])
        while queue:
            cell, x, y = queue.popleft()
            won = (x == 0 and y != 0) or x * y > 0 if winner == BLACK else (y == 0 and x != 0) or x * y < 0
            if cell == start and won and (best is None or steps[cell, x, y] < best):
                best = steps[cell, x, y]
            for edge in neighbours(size)[cell]:
                there = (edge.cell, x + edge.right, y + edge.down)
                near = max(abs(there[1]), abs(there[2])) <= 2 * size
                if cells[edge.cell] == winner + 1 and near and there not in steps:
                    steps[there] = steps[cell, x, y] + 1
                    queue.append(there)
    return best


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_path_is_as_short_as_a_plain_search_finds(size: int) -> None:
    rng = random.Random(size)
    for _ in range(12 if size < 4 else 4):
        cells = rng.choices((0, 1, 2), (1, 3, 3), k=2 * size * size)
        for winner in (BLACK, WHITE):
            steps = shortest(cells, size, winner)
            if steps is None:
                with refused("winner"):
                    winning_path(cells, size=size, winner=winner)
            else:
                path = winning_path(cells, size=size, winner=winner)
                check_closed(path, cells, size, winner)
                assert len(path) - 1 == steps


def test_every_winding_has_the_name_of_the_rules() -> None:
    names = {
        (h, v): winning_class([(0, 0, 0), (0, h, v)]) for h, v in product((-2, 0, 1), repeat=2) if (h, v) != (0, 0)
    }
    assert names == {
        **{(0, -2): "ring", (0, 1): "ring", (-2, 0): "bracelet", (1, 0): "bracelet"},
        **{(-2, -2): "r-helix", (1, 1): "r-helix", (-2, 1): "l-helix", (1, -2): "l-helix"},
    }
    assert winning_class([(0, 0, 0), (0, 1, 2)]) == "r-helix"

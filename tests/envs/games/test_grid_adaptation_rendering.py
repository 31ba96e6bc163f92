"""Pictures of Grid Adaptation: a picture says what the board holds, for every kind of colour vision; and text."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from colour_vision import VISION, lab

from cellgames.envs.core.drawing import Circle, Inset, Picture, Polygon, Polyline, Rectangle, Text
from cellgames.envs.grid_adaptation.rendering import COLOURS, Row, View, bits, draw

Board = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]

# Before the generation, and after it; a bar of three turns round its middle tile.
BEFORE = np.array(
    [[-1, -1, -1, -1, -1], [-1, -1, -1, -1, -1], [-1, 3, 6, 5, -1], [-1, -1, -1, -1, -1], [-1, -1, -1, -1, 4]], np.int8
)
AFTER = np.array(
    [[-1, -1, -1, -1, -1], [-1, -1, 7, -1, -1], [-1, -1, 6, -1, -1], [-1, -1, 7, -1, -1], [-1, -1, -1, -1, -1]], np.int8
)
PLACED = BEFORE == 5
TABLE = [
    Row("player_0", 5, 250, 4, 0, 2),
    Row("player_1", 2, 187, 2, 1, 0),
    Row("player_2", 7, 42, 0, 3, 0, candidate=True),
]


def boards(size: int, seed: int = 1) -> tuple[Board, Board, Mask]:
    """A board with tiles of all sequences, one before it, and tiles placed on that one or not to be seen there."""
    random = np.random.default_rng(seed)
    before, board = (random.integers(-6, 8, (size, size)).clip(-1).astype(np.int8) for _ in range(2))
    board[(before >= 0) & (board >= 0)] = before[(before >= 0) & (board >= 0)]
    return board, before, random.random((size, size)) < 0.1


def words(drawn: Picture) -> list[str]:
    return [shape.text for shape in drawn.shapes if isinstance(shape, Text)]


def board_of(drawn: Picture) -> Inset:
    return max((s for s in drawn.shapes if isinstance(s, Inset)), key=lambda inset: inset.picture.width * inset.scale)


def read_back(drawn: Picture) -> tuple[Board, Board, dict[str, Mask]]:
    """From shapes alone: tiles by their colours and by their digits; what is placed, born, dead."""
    inset = board_of(drawn)
    shape = int(inset.picture.height), int(inset.picture.width)
    tiles, digits = np.full(shape, -1, np.int8), np.full(shape, -1, np.int8)
    marks = {name: np.zeros(shape, np.bool_) for name in ("placed", "born", "died")}
    for drawn_shape in inset.picture.shapes:
        match drawn_shape:
            case Circle(x, y, fill=str(fill), stroke=str()):
                tiles[int(y), int(x)] = COLOURS.index(fill)
                marks["born"][int(y), int(x)] = True
            case Rectangle(x, y, fill=str(fill), stroke=str()):
                tiles[int(y), int(x)] = COLOURS.index(fill)
            case Rectangle(x, y, width) if width < 0.2:  # a bar, left, in the middle or right
                at = int(y), int(x)
                digits[at] = max(0, digits[at]) + (4, 2, 1)[round((x + width / 2 - at[1] - 0.5) / 0.19) + 1]
            case Circle(x, y):
                digits[int(y), int(x)] = max(0, digits[int(y), int(x)])
            case Polygon(points):
                marks["placed"][int(points[0][1]), int(points[0][0])] = True
            case Polyline(((x, y), (right, below))) if x != right and y != below:
                marks["died"][int(y), int(x)] = True
    return tiles, digits, marks


@pytest.mark.parametrize("size", [5, 6, 9, 15, 22, 31])
def test_a_picture_shows_every_tile_and_what_became_of_it(size: int) -> None:
    board, before, placed = boards(size)
    drawn = draw(View(board, title="round 3 of 8", before=before, placed=placed))
    tiles, digits, marks = read_back(drawn)
    stood = (before >= 0) | placed
    assert np.array_equal(tiles, board)
    assert np.array_equal(digits, board)
    assert np.array_equal(marks["placed"], placed)
    assert np.array_equal(marks["born"], (board >= 0) & ~stood)
    assert np.array_equal(marks["died"], (board < 0) & stood)
    assert words(drawn)[0] == drawn.title == "round 3 of 8"
    said = {"tiles": board >= 0, **marks}
    assert {f"{word} {mask.sum()}" for word, mask in said.items()} <= set(words(drawn))


def test_bars_are_as_long_as_the_points() -> None:
    public = [0, 40, 80, 10, 20, 30, 60, 70]
    drawn = draw(View(AFTER, title="", public=public))
    bars = {COLOURS.index(s.fill): s.width for s in drawn.shapes if isinstance(s, Rectangle) and s.fill in COLOURS}
    assert [bars[n] / bars[2] for n in range(1, 8)] == pytest.approx([points / 80 for points in public[1:]])
    assert bars[0] < 2
    said = words(drawn)
    assert [said[said.index(bits(n)) + 1] for n in range(8)] == list(map(str, public))
    nothing = draw(View(AFTER, title="", public=[0] * 8))
    assert [s.width for s in nothing.shapes if isinstance(s, Rectangle) and s.fill in COLOURS] == [1.0] * 8


def test_the_table_tells_of_every_player_and_marks_the_candidate() -> None:
    drawn = draw(View(AFTER, title="", table=TABLE))
    lines: dict[float, list[Text]] = {}
    for shape in drawn.shapes:
        if isinstance(shape, Text):
            lines.setdefault(shape.y, []).append(shape)
    rows = {line[0].text: line for line in lines.values()}
    assert [t.text for t in rows["player"]] == ["player", "points", "tokens", "garnets", "reserves"]
    assert [t.text for t in rows["player_0"]] == ["player_0", "101", "250", "2", "4", "0"]
    assert [t.text for t in rows["player_1"]] == ["player_1", "010", "187", "0", "2", "1"]
    assert [t.text for t in rows["player_2"]] == ["player_2", "111", "42", "0", "0", "3"]
    assert rows["player_0"][0].bold  # who has won a Token
    assert not rows["player_1"][0].bold
    assert "Elimination Candidate: player_2" in rows
    behind = [s for s in drawn.shapes if isinstance(s, Rectangle) and s.width > 300 and s.stroke is None]
    assert [s.y < rows["player_2"][0].y < s.y + s.height for s in behind] == [True]
    going_on = draw(View(AFTER, title="", table=[row._replace(tokens=None, candidate=False) for row in TABLE]))
    assert words(going_on).count("-") == 3
    assert not any("Elimination" in word for word in words(going_on))


@pytest.mark.parametrize("vision", VISION)
def test_sequences_are_told_apart_in_every_kind_of_colour_vision(vision: str) -> None:
    """By the colours alone; a difference of about 2 in Lab can just be seen."""
    colours = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in COLOURS], np.uint8)
    seen = lab(colours, VISION[vision])
    least = min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2))
    assert least > {"all cones": 30, "greyscale": 6}.get(vision, 20)
    for sequence in range(8):
        for digit in (1, 2, 4):
            if not sequence & digit:  # another ink makes it darker
                assert seen[sequence, 0] > seen[sequence | digit, 0] + 6

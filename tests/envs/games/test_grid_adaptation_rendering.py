"""Pictures of Grid Adaptation: a picture says what the board holds, for every kind of colour vision; and text."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
import torch
from colour_vision import VISION, lab

from cellgames.envs.core import seeds
from cellgames.envs.core.drawing import Circle, Inset, Picture, Polygon, Polyline, Rectangle, Text
from cellgames.envs.grid_adaptation import GridAdaptation, rendering
from cellgames.envs.grid_adaptation.rendering import COLOURS, Row, View

Board = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]

draw, text = View.draw, View.text

# Before the generation, and after it; a bar of three turns round its middle tile.
BEFORE = np.array(
    [[-1, -1, -1, -1, -1], [-1, -1, -1, -1, -1], [-1, 3, 6, 5, -1], [-1, -1, -1, -1, -1], [-1, -1, -1, -1, 4]], np.int8
)
AFTER = np.array(
    [[-1, -1, -1, -1, -1], [-1, -1, 7, -1, -1], [-1, -1, 6, -1, -1], [-1, -1, 7, -1, -1], [-1, -1, -1, -1, -1]], np.int8
)
PLACED = BEFORE == 5


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
            case Text(x, y, sequence):
                digits[int(y), int(x)] = int(sequence, 2)
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
    assert ", ".join(f"{word} {mask.sum()}" for word, mask in said.items()) in words(drawn)


def test_lines_tell_of_players_and_points_and_text_shows_the_board() -> None:
    table = [
        Row("player_0", {"sequence": "101", "points": "7"}, COLOURS[5], ", Elimination Candidate"),
        Row("player_1", {"sequence": "?", "points": "12"}),
    ]
    view = View(AFTER, "Round 2 of 8", public=range(0, 80, 10), table=table, more=["talk"], more_text=["words"])
    points = "points of the last round: 000 0, 001 10, 010 20, 011 30, 100 40, 101 50, 110 60, 111 70"
    said = ["Round 2 of 8", "player_0: sequence 101, points 7, Elimination Candidate"]
    said += ["player_1: sequence ?, points 12", "tiles 3", points, "talk"]
    assert words(draw(view))[: len(said)] == said
    squares = [s.fill for s in draw(view).shapes if isinstance(s, Rectangle) and s.fill]
    assert squares == [COLOURS[5]]
    key = "5 is a tile of 101, 5+ a born one, 5' a placed one, x one that died"
    rows = ["  0   2   4", "0 . . . . .", "1 . . 7 . .", "2 . . 6 . .", "3 . . 7 . .", "4 . . . . ."]
    players = ["player   sequence   points", "player_0 101             7  Elimination Candidate"]
    players += ["player_1 ?              12"]
    assert text(view).split("\n") == ["Round 2 of 8", f"tiles 3; {key}", *rows, points, *players, "words"]
    seen = text(View(AFTER, before=BEFORE, placed=PLACED)).split("\n")
    assert seen[1].startswith("tiles 3, placed 1, born 2, died 3; ")
    assert seen[3:] == ["0 . . . . .", "1 . . 7+. .", "2 . x 6 x'.", "3 . . 7+. .", "4 . . . . x"]


def test_the_table_tells_a_player_its_own_secrets_alone() -> None:
    game = GridAdaptation(size=9, players=4, rounds=6, flip_rounds=(3, 5))
    state = game.init(seeds(0, 1))
    for seat, (seen, known) in enumerate(zip(*(game.view(state, player).table for player in (None, 1)), strict=True)):
        sequence = f"{int(state.sequence[0, seat]):03b}"
        assert list(seen.values.values()) == [sequence, "0", "-", "2", "3"]
        assert list(known.values.values()) == ([sequence, "0", "-", "2", "3"] if seat == 1 else ["?"] * 5)
        assert seen.colour == COLOURS[int(sequence, 2)]
        assert known.colour == (seen.colour if seat == 1 else "")
    state = state.replace(
        terminated=~state.terminated,
        candidate=torch.full_like(state.candidate, 2),
        scores=torch.arange(4.0)[None].to(state.scores.dtype),
        tokens=torch.ones_like(state.tokens),
    )
    shown = rendering.view(game, state, 1).table
    assert [row.player for row in shown] == [f"player_{seat}" for seat in (3, 2, 1, 0)]
    assert [bool(row.note) for row in shown] == [False, True, False, False]
    assert all("?" not in row.values.values() and row.values["tokens"] == "1" for row in shown)


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

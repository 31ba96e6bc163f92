from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest
import torch
from life_objects_reference import ACTIVE, DRAWINGS, canonical, cells_of, drawn, find, next_set
from refusals import refused

from cellgames.envs.boards.life import Life
from cellgames.envs.boards.rle import orientations
from cellgames.lab.life.census import Census, census
from cellgames.lab.life.life_objects import recognise
from cellgames.lab.life.object_names import NAMES

Board = npt.NDArray[np.bool_]


def put(picture: str, row: int, col: int, size: tuple[int, int] = (20, 24)) -> Board:
    """A torus with a drawing."""
    board = np.zeros(size, dtype=bool)
    for down, right in drawn(picture):
        board[(row + down) % size[0], (col + right) % size[1]] = True
    return board


def names(*boards: Board, wrap: bool = True) -> dict[str, int]:
    return census(np.stack(boards), wrap=wrap).counts()


def ash(boards: int, seed: int, generations: int, size: int = 64) -> Board:
    soup = torch.rand(boards, size, size, generator=torch.Generator().manual_seed(seed)) < 0.3
    life = Life(size, size, boards)
    life.load(soup)
    life.advance(generations)
    return life.cells().numpy()


def shapes(found: Census) -> list[Counter[object]]:
    """Of each board, the objects as the reference writes them."""
    each: list[Counter[object]] = [Counter() for _ in range(found.boards)]
    known = {kind: ACTIVE if kind.form == "active" else canonical(cells_of(kind.code)) for kind in found.kinds}
    for thing in found:
        each[thing.board][known[thing.kind]] += 1
    return each


@pytest.mark.parametrize("name", DRAWINGS)
def test_drawings_have_their_names(name: str) -> None:
    assert Counter(piece.kind.name for piece in recognise(frozenset(drawn(DRAWINGS[name])))) == {name: 1}


def test_every_named_code_is_the_canonical_code_of_the_object_that_it_holds() -> None:
    assert len(NAMES) > 150
    assert len(set(NAMES.values())) == len(NAMES)
    for code in NAMES:
        (piece,) = recognise(cells_of(code))
        assert (piece.kind.code, piece.kind.name) == (code, NAMES[code])


def test_a_code_does_not_depend_on_phase_orientation_or_place() -> None:
    for name in ("glider", "pulsar", "mold", "paperclip", "lightweight spaceship"):
        cells = set(drawn(DRAWINGS[name]))
        for _ in range(4):
            for turned in orientations(cells):
                moved = frozenset((row - 7, col + 11) for row, col in turned)
                assert [piece.kind.name for piece in recognise(moved)] == [name]
            cells = next_set(cells)


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        ("OO.OO/OO.OO", {"block": 2}),  # a bi-block
        ("OO.OO/OO.OO/...../OO.OO/OO.OO", {"block": 4}),
        ("OO../OO../..../OOOO/O..O", {"block on table": 1}),  # a table alone does not last
        ("....O/....O/....O/...../OOO...OOO/...../....O/....O/....O", {"blinker": 4}),  # a traffic light
        ("OO.../O..../...O/..OO", {"beacon": 1}),  # in the phase of two islands
        (".OO./O..O/.OO./..../.OO./O..O/.OO.", {"beehive": 2}),
        ("OO..O/O..O/..OO", {"active": 1}),
        (".O.....OO/..O....OO/OOO", {"block": 1, "glider": 1}),  # not within a period
        (".O...../..O..OO/OOO..OO", {"active": 1}),  # within a period
        ("O.O/.../O.O", {"active": 1}),  # dies
        ("OO", {"active": 1}),
    ],
)
def test_what_belongs_together(picture: str, expected: dict[str, int]) -> None:
    assert names(put(picture, 5, 6)) == expected


def test_objects_that_need_what_they_seldom_come_near() -> None:
    # A queen bee shuttle: alone the bee dies in dirt, and for most of the time its blocks are not near it.
    code = next(code for code, name in NAMES.items() if name == "trans-queen bee shuttle")
    board = np.zeros((40, 50), dtype=bool)
    for row, col in cells_of(code):
        board[row + 2, col + 20] = True
    life = Life(40, 50, 1)
    life.load(torch.from_numpy(board)[None])
    for _ in range(6):
        assert names(life.cells().numpy()[0]) == {"trans-queen bee shuttle": 1}
        life.advance(5)


def test_every_phase_of_every_drawing_across_the_seams_of_a_torus() -> None:
    boards, expected = [], []
    for name, picture in DRAWINGS.items():
        board = put(picture, 28, 27, (32, 32))
        boards.append(board)
        expected.append(name)
    life = Life(32, 32, len(boards))
    life.load(torch.from_numpy(np.stack(boards)))
    for _ in range(16):
        found = census(life.cells())
        assert [(thing.board, thing.kind.name) for thing in found] == list(enumerate(expected))
        life.advance()


def test_what_winds_round_a_torus_is_bound_to_it() -> None:
    line = np.zeros((9, 12), dtype=bool)
    line[4] = True  # makes two more lines, and is never the same again
    assert names(line) == {"active": 1}
    line[5] = True  # six neighbours for a cell in the middle of two lines, five here: both die, and two more come
    assert names(line) == {"active": 1}


def test_a_finite_board_has_edges() -> None:
    block, outside = put("OO/OO", 0, 0), put("OOO", 0, 5)
    assert names(block, wrap=False) == {"block": 1}
    assert names(outside, wrap=False) == {"active": 1}  # its third cell would be beyond the edge
    assert names(outside) == {"blinker": 1}
    halves = put("OO/OO", 19, 3)  # the seam of a torus
    assert names(halves) == {"block": 1}
    assert names(halves, wrap=False) == {"active": 2}


def test_places_boxes_and_tables() -> None:
    boards = np.stack([put("OO/OO", 19, 23) | put("OOO", 5, 6), put("OO/OO", 3, 4)])
    found = census(boards)
    assert [thing[:6] for thing in found] == [(0, 5, 6, 1, 3, 3), (0, 19, 23, 2, 2, 4), (1, 3, 4, 2, 2, 4)]
    assert found.counts() == {"block": 2, "blinker": 1}
    assert found.by_board().tolist() == [[1, 1], [1, 0]]
    assert [row[:6] for row in found.table().rows] == [
        ("block", "xs4_33", "still life", 1, 4, 2),
        ("blinker", "xp2_7", "oscillator", 2, 3, 1),
    ]


def test_owners_have_what_is_mostly_theirs() -> None:
    boards = np.stack([put("OO/OO", 3, 4) | put("OOO", 9, 6), put("OO/OO", 19, 23) | put(".O./..O/OOO", 8, 8)])
    owners = np.zeros(boards.shape, dtype=np.int8)
    owners[0, 3:5, 4:6] = 1
    owners[0, 9, 6:8] = 2
    owners[0, 9, 8] = 1
    owners[1, 19, 23] = owners[1, 0, 0] = 2
    owners[1, 8:11, 8:11] = 2
    owners[1, 8, 9] = 0
    found = census(boards, owners=owners)
    held = {(thing.board, thing.kind.name): (thing.owner, round(thing.share, 3)) for thing in found}
    assert held == {(0, "block"): (1, 1), (0, "blinker"): (2, 0.667), (1, "glider"): (2, 0.8), (1, "block"): (0, 0.5)}
    titles = found.table(owners=("a", "b")).columns
    assert titles[-2:] == ("a", "b")
    assert {row[0]: row[-2:] for row in found.table(owners=("a", "b")).rows} == {
        "block": (1, 0),
        "blinker": (0, 1),
        "glider": (0, 1),
    }
    with refused("count", "1"):
        found.table(owners=("a",))


def settled(boards: Board) -> list[bool]:
    """Whether a board comes back to itself within what periods of 1 to 6, 8, 15 and gliders' rounds allow."""
    life = Life(64, 64, len(boards))
    life.load(torch.from_numpy(boards))
    life.advance(3840)
    return list(map(bool, (life.cells().numpy() == boards).all((1, 2))))


def check(boards: Board) -> int:
    """Compare boards with the reference; how many objects there were."""
    seen = 0
    for board, quiet, mine in zip(boards, settled(boards), shapes(census(boards)), strict=True):
        slow = find([(row, col) for row, col in np.argwhere(board).tolist()], (64, 64))
        if quiet:
            assert mine == slow
        else:
            del slow[ACTIVE]
            assert slow <= mine
        seen += slow.total()
    return seen


def test_it_finds_in_ash_what_the_slow_census_finds() -> None:
    assert check(ash(3, seed=11, generations=5000)) > 50


def test_it_finds_in_young_soups_what_lasts_for_the_slow_census() -> None:
    assert check(ash(2, seed=12, generations=1200)) > 10


@pytest.mark.parametrize(
    ("boards", "owners", "refusal"),
    [
        (np.zeros((8, 8)), None, ("boards", "[8, 8]")),
        (np.zeros((1, 2, 8)), None, ("boards", "[1, 2, 8]")),
        (np.zeros((1, 8, 8)), np.zeros((1, 8, 8)), ("owners",)),
        (np.zeros((1, 8, 8)), np.zeros((1, 8, 7), dtype=int), ("owners",)),
        (np.zeros((1, 8, 8)), np.full((1, 8, 8), -1), ("owners", "-1 to -1")),
    ],
)
def test_bad_input_is_refused(boards: Board, owners: Board | None, refusal: tuple[str, ...]) -> None:
    with refused(*refusal):
        census(boards, owners=owners)

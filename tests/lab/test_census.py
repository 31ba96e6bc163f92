from __future__ import annotations

import sys
from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest
import torch
from life_objects_reference import ACTIVE, DRAWINGS, canonical, drawn, find, named, next_set

from cellgames.envs.boards.apgcode import apgcode, cells_of
from cellgames.envs.boards.life import Life
from cellgames.envs.boards.object_names import NAMES
from cellgames.envs.boards.orientations import orientations
from cellgames.lab.life.census import Census, CensusObject, census
from cellgames.lab.life.interactions import PatternCache
from cellgames.lab.life.life_objects import recognise

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
    life = Life(size, size, boards, compile="never")
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


# ---------------------------------------------------------------- codes and names


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


def test_codes_of_large_and_wide_patterns() -> None:
    assert cells_of("xp2_7y57") == {(row, col) for row in range(3) for col in (0, 10)}
    for gap in (1, 2, 3, 4, 20, 38):
        cells = {(row, col) for row in range(3) for col in (0, gap + 1)}
        assert cells_of(apgcode([cells, cells], moves=False)) in set(map(frozenset, orientations(cells)))
    far = {(0, 0), (0, 45)}
    assert apgcode([far], moves=False) == "ov_s2"
    with pytest.raises(ValueError, match="apgcode of an object such as xs4_33"):
        cells_of("ov_s2")


# ---------------------------------------------------------------- what is one object


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
    life = Life(40, 50, 1, compile="never")
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
    life = Life(32, 32, len(boards), compile="never")
    life.load(torch.from_numpy(np.stack(boards)))
    for _ in range(16):
        found = census(life.cells())
        assert [(thing.board, thing.kind.name) for thing in found] == list(enumerate(expected))
        life.advance()


def test_a_glider_lives_for_ever_on_a_torus() -> None:
    board = np.stack([put(".O./..O/OOO", 3, 3), put(".O./..O/OOO", 18, 22)])
    life = Life(20, 24, 2, compile="never")
    life.load(torch.from_numpy(board))
    for _ in range(12):
        assert census(life.cells()).counts() == {"glider": 2}
        life.advance(13)


# ---------------------------------------------------------------- boards with edges, wound, full


def test_what_winds_round_a_torus_is_bound_to_it() -> None:
    line = np.zeros((9, 12), dtype=bool)
    line[4] = True  # makes two more lines, and is never the same again
    assert names(line) == {"active": 1}
    line[5] = True  # six neighbours for a cell in the middle of two lines, five here: both die, and two more come
    assert names(line) == {"active": 1}


def step(board: Board) -> Board:
    rows, cols = board.shape
    life = Life(rows, cols, 1, compile="never")
    life.load(torch.from_numpy(board)[None])
    life.advance()
    after: Board = life.cells().numpy()[0]
    return after


def test_a_diagonal_without_ends_is_bound_and_not_a_barge() -> None:
    board = np.zeros((12, 12), dtype=bool)
    for place in range(12):  # a barge that bites its tail
        board[place, place] = board[place, (place + 2) % 12] = True
    assert np.array_equal(step(board), board)
    (thing,) = census(board[None])
    assert (thing.kind.form, thing.kind.period, thing.cells) == ("bound", 1, 24)


def test_a_block_beside_what_is_bound_is_a_block() -> None:
    board = np.zeros((14, 14), dtype=bool)
    for place in range(14):
        board[place, place] = board[place, (place + 2) % 14] = True
    tried = 0
    for col in range(4, 12):
        both = board | put("OO/OO", 0, col, (14, 14))
        if both.sum() == 32 and np.array_equal(step(both), both):
            assert sorted(thing.kind.form for thing in census(both[None])) == ["bound", "still life"]
            tried += 1
    assert tried


def test_full_and_empty_boards() -> None:
    assert names(np.ones((6, 7), dtype=bool)) == {"active": 1}
    assert names(np.zeros((6, 7), dtype=bool)) == {}
    assert len(census(np.zeros((0, 6, 7), dtype=bool))) == 0


def test_small_tori() -> None:
    assert names(put("OO/OO", 1, 1, (4, 4))) == {"block": 1}
    assert names(put("OOO", 1, 1, (5, 5))) == {"blinker": 1}
    assert names(put("OOO", 1, 1, (3, 3))) != {"blinker": 1}  # a line round the torus


def test_a_finite_board_has_edges() -> None:
    block, outside = put("OO/OO", 0, 0), put("OOO", 0, 5)
    assert names(block, wrap=False) == {"block": 1}
    assert names(outside, wrap=False) == {"active": 1}  # its third cell would be beyond the edge
    assert names(outside) == {"blinker": 1}
    halves = put("OO/OO", 19, 3)  # the seam of a torus
    assert names(halves) == {"block": 1}
    assert names(halves, wrap=False) == {"active": 2}


# ---------------------------------------------------------------- the result


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
    with pytest.raises(ValueError, match="expected at least 2 owners, got 1"):
        found.table(owners=("a",))


def test_cells_are_neither_lost_nor_counted_twice() -> None:
    for generations in (0, 3, 200):
        boards = ash(4, seed=generations, generations=generations)
        found = census(boards)
        per_board = np.bincount(found.board, weights=found.cells, minlength=4)
        assert per_board.tolist() == boards.sum((1, 2)).tolist()


def test_turning_and_moving_boards_changes_nothing() -> None:
    boards = ash(6, seed=5, generations=400)
    expected = census(boards)
    for turned in (boards[:, ::-1], boards.swapaxes(1, 2), np.roll(boards, (17, 40), (1, 2))):
        found = census(np.ascontiguousarray(turned))
        assert found.counts() == expected.counts()
        order = [expected.kinds.index(kind) for kind in found.kinds]
        assert np.array_equal(found.by_board(), expected.by_board()[:, order])


def test_memory_that_forgets_tells_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    boards = ash(12, seed=8, generations=2000)
    expected = list(census(boards))
    monkeypatch.setattr("cellgames.lab.life.interactions._MOST", 3)
    monkeypatch.setattr("cellgames.lab.life.census._CACHE", PatternCache())
    monkeypatch.setattr("cellgames.lab.life.census._CHUNK", 64 * 64 * 5)
    assert list(census(boards)) == expected


# ---------------------------------------------------------------- against the slow census


def settled(boards: Board) -> list[bool]:
    """Whether a board comes back to itself within what periods of 1 to 6, 8, 15 and gliders' rounds allow."""
    life = Life(64, 64, len(boards), compile="never")
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


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_it_finds_in_much_ash_what_the_slow_census_finds(seed: int) -> None:
    assert check(ash(40, seed=100 + seed, generations=5000)) > 500


def test_the_slow_census_knows_its_drawings() -> None:
    for name, picture in DRAWINGS.items():
        cells = drawn(picture)
        moved = [((row + 60) % 64, (col + 60) % 64) for row, col in cells]
        (shape,) = find(moved, (64, 64), generations=30)
        assert named(shape) == name


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("boards", "owners", "message"),
    [
        (np.zeros((8, 8)), None, r"boards must have shape \[B, H, W\]"),
        (np.zeros((1, 2, 8)), None, "3 to 4,096 rows"),
        (np.zeros((1, 8, 8)), np.zeros((1, 8, 8)), "owners must be integers of the boards' shape"),
        (np.zeros((1, 8, 8)), np.zeros((1, 8, 7), dtype=int), "owners must be integers of the boards' shape"),
        (np.zeros((1, 8, 8)), np.full((1, 8, 8), -1), "owners must be from 0"),
    ],
)
def test_bad_input_is_refused(boards: Board, owners: Board | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        census(boards, owners=owners)


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "scipy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(ImportError, match=r'pip install "cellgames\[research\]"'):
        census(np.zeros((1, 8, 8)))


def test_found_objects_read_well() -> None:
    (thing,) = census(put("OO/OO", 3, 4)[None])
    assert isinstance(thing, CensusObject)
    assert (thing.row, thing.col, thing.kind.form) == (3, 4, "still life")

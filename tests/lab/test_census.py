from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator

import numpy as np
import numpy.typing as npt
import pytest
import torch
from life_reference import OFFSETS
from refusals import refused

from cellgames.envs.boards.life import Life
from cellgames.envs.boards.rle import orientations
from cellgames.lab.life.census import Census, census
from cellgames.lab.life.life_objects import recognise
from cellgames.lab.life.object_names import NAMES

Cell = tuple[int, int]
Shape = tuple[Cell, ...]
"""Cells in order, the least of all phases and orientations: equal for equal objects."""

LONGEST = 60
ACTIVE: Shape = ((-1, -1),)

DRAWINGS = {
    "block": "OO/OO",
    "beehive": ".OO./O..O/.OO.",
    "loaf": ".OO./O..O/.O.O/..O.",
    "boat": "OO./O.O/.O.",
    "ship": "OO./O.O/.OO",
    "tub": ".O./O.O/.O.",
    "pond": ".OO./O..O/O..O/.OO.",
    "long boat": "OO../O.O./.O.O/..O.",
    "ship-tie": "OO..../O.O.../.OO.../...OO./...O.O/....OO",
    "barge": ".O../O.O./.O.O/..O.",
    "half-bakery": "....OO./...O..O/...O.O./.OO.O../O..O.../O.O..../.O.....",
    "mango": ".OO../O..O./.O..O/..OO.",
    "eater 1": "OO../O.O./..O./..OO",
    "long barge": ".O.../O.O../.O.O./..O.O/...O.",
    "aircraft carrier": "OO../O..O/..OO",
    "paperclip": "..OO./.O..O/.O.OO/OO.O./O..O./.OO..",
    "long ship": "OO../O.O./.O.O/..OO",
    "integral sign": "...OO/..O.O/..O../O.O../OO...",
    "shillelagh": "OO.../O..OO/.OO.O",
    "boat-tie": ".O..../O.O.../.OO.../...OO./...O.O/....O.",
    "snake": "OO.O/O.OO",
    "big S": "....OO./...O..O/...O.OO/OO.O.../O..O.../.OO....",
    "bi-pond": ".OO..../O..O.../O..O.../.OO.OO./...O..O/...O..O/....OO.",
    "boat tie ship": "OO..../O.O.../.OO.../...OO./...O.O/....O.",
    "hat": "..O../.O.O./.O.O./OO.OO",
    "very long ship": "OO.../O.O../.O.O./..O.O/...OO",
    "very long boat": "OO.../O.O../.O.O./..O.O/...O.",
    "mirrored table": "OO.OO/.O.O./.O.O./OO.OO",
    "dead spark coil": "OO...OO/O.O.O.O/..O.O../O.O.O.O/OO...OO",
    "canoe": "...OO/....O/...O./O.O../OO...",
    "long snake": "OO./O../.O./..O/.OO",
    "block on table": "OO../OO../..../OOOO/O..O",
    "loop": ".OO../O..O./.O.O./OO.OO",
    "blinker": "OOO",
    "toad": ".OOO/OOO.",
    "beacon": "OO../OO../..OO/..OO",
    "pulsar": (
        "..OOO...OOO../............./O....O.O....O/O....O.O....O/O....O.O....O/..OOO...OOO../............./"
        "..OOO...OOO../O....O.O....O/O....O.O....O/O....O.O....O/............./..OOO...OOO.."
    ),
    "pentadecathlon": "..O....O../OO.OOOO.OO/..O....O..",
    "clock": "..O./O.O./.O.O/.O..",
    "figure eight": "OOO.../OOO.../OOO.../...OOO/...OOO/...OOO",
    "bipole": "OO.../O.O../...../..O.O/...OO",
    "tripole": "OO..../O.O.../....../..O.O./.....O/....OO",
    "mold": "...OO./..O..O/O..O.O/....O./O.OO../.O....",
    "tumbler": ".O.....O./O.O...O.O/O..O.O..O/..O...O../..OO.OO..",
    "octagon 2": "...OO.../..O..O../.O....O./O......O/O......O/.O....O./..O..O../...OO...",
    "glider": ".O./..O/OOO",
    "lightweight spaceship": ".O..O/O..../O...O/OOOO.",
    "middleweight spaceship": "...O../.O...O/O...../O....O/OOOOO.",
    "heavyweight spaceship": "...OO../.O....O/O....../O.....O/OOOOOO.",
}


def drawn(picture: str) -> set[Cell]:
    """The cells that are O, of rows split by slashes."""
    return {(row, col) for row, line in enumerate(picture.split("/")) for col, mark in enumerate(line) if mark == "O"}


def near(cell: Cell, size: tuple[int, int] | None) -> Iterator[Cell]:
    """The neighbours, on a torus of a size or the plane."""
    for down, right in OFFSETS:
        row, col = cell[0] + down, cell[1] + right
        yield (row, col) if size is None else (row % size[0], col % size[1])


def next_set(live: Collection[Cell], size: tuple[int, int] | None = None) -> set[Cell]:
    """One generation."""
    counts = Counter(other for cell in live for other in near(cell, size))
    return {cell for cell, count in counts.items() if count == 3 or (count == 2 and cell in live)}


def at_corner(cells: Iterable[Cell]) -> Shape:
    """Moved to rows and columns from 0."""
    some = list(cells)
    top, left = min(row for row, _ in some), min(col for _, col in some)
    return tuple(sorted((row - top, col - left) for row, col in some))


def canonical(cells: Collection[Cell]) -> Shape:
    """The object that cells of the plane are by themselves; `ACTIVE` if they do not come back."""
    first, phases, now = at_corner(cells), [], set(cells)
    for _ in range(LONGEST):
        phases.append(now)
        now = next_set(now)
        if len(now) == len(cells) and at_corner(now) == first:
            turned = (
                [(down * row, right * col) for row, col in some]
                for phase in phases
                for some in (phase, [(col, row) for row, col in phase])
                for down in (1, -1)
                for right in (1, -1)
            )
            return min((len(shape), shape) for shape in map(at_corner, turned))[1]
        if not now:
            break
    return ACTIVE


NAMED = {canonical(drawn(picture)): name for name, picture in DRAWINGS.items()}


def named(shape: Shape) -> str:
    """The name of a drawing, or "" without one."""
    return "active" if shape == ACTIVE else NAMED.get(shape, "")


def find(live: Collection[Cell], size: tuple[int, int], generations: int = 2 * LONGEST) -> Counter[Shape]:
    """The objects of a torus: islands that have had to do with each other in so many generations are one."""
    head = {cell: cell for cell in live}

    def root(cell: Cell) -> Cell:
        while head[cell] != cell:
            cell = head[cell]
        return cell

    for cell in live:
        for other in near(cell, size):
            if other in head:
                head[root(other)] = root(cell)
    while met := _first_meeting({cell: root(cell) for cell in live}, size, generations):
        first, *others = sorted(met)
        for other in others:
            head[root(other)] = root(first)
    objects = defaultdict(list)
    for cell in live:
        objects[root(cell)].append(cell)
    return Counter(canonical(rolled_out(cells, size)) for cells in objects.values())


def _first_meeting(owner: dict[Cell, Cell], size: tuple[int, int], generations: int) -> set[Cell]:
    """Owners of cells, all of which a cell needs to become what it does; none if there is no such cell.

    What dies out beside something else, as sparks do, belongs to that as well.
    """
    first = owner
    for _ in range(generations):
        if owner is not first and owner == first:
            return set()  # from here on all repeats
        votes: dict[Cell, Counter[Cell]] = defaultdict(Counter)
        for cell, whose in owner.items():
            for other in near(cell, size):
                votes[other][whose] += 1
        after = {}
        for cell in votes.keys() | owner.keys():
            counts, mine = votes[cell], owner.get(cell)
            total = counts.total()
            lives = total == 3 or (total == 2 and mine is not None)
            alone = [
                whose
                for whose in counts.keys() | ({mine} if mine else set())
                if counts[whose] == 3 or (counts[whose] == 2 and mine == whose)
            ]
            if lives != bool(alone) or len(alone) > 1:
                return set(counts) | ({mine} if mine else set())
            if lives:
                after[cell] = alone[0]
        owner = after
    for gone in sorted(set(first.values()) - set(owner.values())):
        wide = {
            far for cell, whose in first.items() if whose == gone for by in near(cell, size) for far in near(by, size)
        }
        if beside := {whose for cell, whose in first.items() if cell in wide} - {gone}:
            return beside | {gone}
    return set()


def rolled_out(cells: Collection[Cell], size: tuple[int, int]) -> list[Cell]:
    """Cells of a torus on the plane: cut where the widest run of rows, and of columns, is empty."""
    moved = list(cells)
    for axis, length in enumerate(size):
        used = sorted({cell[axis] for cell in moved})
        gaps = [((used[(i + 1) % len(used)] - place - 1) % length, place) for i, place in enumerate(used)]
        cut = (max(gaps)[1] + 1) % length
        moved = [tuple((v - cut) % length if a == axis else v for a, v in enumerate(cell)) for cell in moved]  # type: ignore[misc]
    return moved


def cells_of(code: str) -> frozenset[tuple[int, int]]:
    """The cells of the phase that an apgcode holds."""
    cells, text, strip, col = set(), iter(code.partition("_")[2]), 0, 0
    for character in text:
        if character == "z":
            strip, col = strip + 5, 0
        elif character in "wx":
            col += 2 + (character == "x")
        elif character == "y":
            col += 4 + int(next(text), 36)
        else:
            cells |= {(strip + bit, col) for bit in range(5) if int(character, 36) >> bit & 1}
            col += 1
    return frozenset(cells)


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
    with pytest.raises(ValueError, match="expected at least 2 owners, got 1"):
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

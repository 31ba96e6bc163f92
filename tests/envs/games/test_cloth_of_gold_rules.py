"""The generation of Cloth of Gold: the table case by case, and many generations against the slow reference."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from itertools import product

import pytest
import torch
from cloth_of_gold_reference import EMPTY, MARKS, NEUTRAL, Board, count, generation, random_world
from torch import Tensor

from cellgames import InputError
from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.cloth_of_gold import ClothOfGold, rules
from cellgames.envs.cloth_of_gold.notation import Position, position_to_string, string_to_position
from cellgames.envs.cloth_of_gold.simulation import advance, simulate
from cellgames.envs.native import without_native

STANCES = {"passive": 0, "defensive": rules.NEUTRAL_HOLD, "aggressive": rules.NEUTRAL_HOLD | rules.NEUTRAL_ATTACK}
every_neutral_rule = pytest.mark.parametrize(("births", "stance"), list(product((False, True), STANCES)))

# What becomes of the five states "0abcd" with (N_A, N_B, N_C) around; with any other number of units all become 0.
TABLE = {
    (2, 0, 0): "0ada0",
    (0, 2, 0): "0dbb0",
    (0, 0, 2): "0abcd",
    (1, 1, 0): "0abc0",
    (1, 0, 1): "0ada0",
    (0, 1, 1): "0dbb0",
    (3, 0, 0): "aada0",
    (0, 3, 0): "bdbb0",
    (0, 0, 3): "0abcd",
    (2, 1, 0): "aada0",
    (1, 2, 0): "bdbb0",
    (2, 0, 1): "aada0",
    (0, 2, 1): "bdbb0",
    (1, 0, 2): "aada0",
    (0, 1, 2): "bdbb0",
    (1, 1, 1): "0abc0",
}


# What is another state for neutral cells that hold, and that attack as well.
DEFENSIVE = {around: f"{after[:3]}c{after[4]}" for around, after in TABLE.items()}
AGGRESSIVE = DEFENSIVE | {(0, 0, 2): "0ddcd", (0, 0, 3): "cddcd", (1, 0, 2): "cddc0", (0, 1, 2): "cddc0"}
TABLES = {"passive": TABLE, "defensive": DEFENSIVE, "aggressive": AGGRESSIVE}


def expected(state: int, around: tuple[int, int, int], births: bool, stance: str = "passive") -> int:
    """By the tables above."""
    if births and state == EMPTY and around == (0, 0, 3):
        return NEUTRAL
    return "0abcd".index(TABLES[stance].get(around, "00000")[state])


Case = tuple[int, tuple[int, int, int], int]
"""A cell's state and the numbers of its neighbours: (N_A, N_B, N_C), N_D."""


def planes_of(grid: Grid, worlds: list[Board]) -> Tensor:
    """int64 [4, S, N, n], the bitboards of states a, b, c and d."""
    cells = torch.tensor(worlds).reshape(-1, grid.rows, grid.cols)
    return torch.stack([grid.pack(cells == state) for state in range(1, 5)])


def worlds_of(grid: Grid, planes: Tensor) -> list[Board]:
    """The inverse; no cell may be of two states, and nothing may stand beyond the edge."""
    assert torch.equal(grid.trim(planes), planes)
    cells = torch.stack([grid.unpack(plane) for plane in planes])
    assert cells.sum(0).max() <= 1
    worlds: list[Board] = (cells * torch.arange(1, 5).view(-1, 1, 1, 1)).sum(0).tolist()
    return worlds


OFFSETS = [(row, col) for row in (-1, 0, 1) for col in (-1, 0, 1) if row or col]
SMALLEST = Grid(8, 8, wrap=False)


@cache
def cases(neutrals: bool) -> tuple[list[Case], Tensor]:
    """Every state with every number of neighbours of every kind, in a random order about the middle of a board."""
    every, worlds, rng = list[Case](), list[Board](), random.Random(1)
    for state, a, b, c, killed in product(range(5), *[range(9)] * 4):
        if a + b + c + killed > 8 or (not neutrals and (state == NEUTRAL or c)):
            continue
        around = [kind for kind, n in enumerate((a, b, c, killed), 1) for _ in range(n)]
        board = [[EMPTY] * 8 for _ in range(8)]
        board[4][3] = state
        for (row, col), kind in zip(rng.sample(OFFSETS, len(around)), around, strict=True):
            board[4 + row][3 + col] = kind
        every.append((state, (a, b, c), killed))
        worlds.append(board)
    return every, planes_of(SMALLEST, worlds)


@every_neutral_rule
@pytest.mark.parametrize("neutrals", [True, False], ids=["neutrals", "two-sided"])
def test_every_cell_with_every_neighbours_becomes_what_the_table_says(
    neutrals: bool, births: bool, stance: str
) -> None:
    """In bitboards of all cases side by side; boards without neutrals have a rule of their own."""
    every, planes = cases(neutrals)
    assert len(every) == (5 * 495 if neutrals else 4 * 165)
    after = worlds_of(SMALLEST, advance(SMALLEST, planes, 1, births | STANCES[stance]))
    for (state, around, killed), world in zip(every, after, strict=True):
        assert world[4][3] == expected(state, around, births, stance), (MARKS[state], around, killed)


SIZES = [(8, 8), (20, 63), (12, 64), (8, 130)]
every_size = pytest.mark.parametrize(("rows", "cols"), SIZES)

# Weights of the five states: dense and sparse, with and without neutrals and killed cells.
MIXTURES = [(5, 2, 2, 1, 1), (6, 3, 3, 0, 0), (12, 2, 2, 4, 3), (4, 1, 0, 4, 2), (0, 1, 1, 1, 1), (1, 0, 0, 1, 0)]


def random_worlds(rows: int, cols: int, seed: int = 0) -> list[Board]:
    rng = random.Random(f"{rows} x {cols}, {seed}")
    return [random_world(rows, cols, rng, weights) for weights in MIXTURES]


@every_neutral_rule
@every_size
def test_random_worlds_are_those_of_the_reference(rows: int, cols: int, births: bool, stance: str) -> None:
    grid, worlds, neutral_rules = Grid(rows, cols, wrap=False), random_worlds(rows, cols), births | STANCES[stance]
    start = planes_of(grid, worlds)
    given, planes = start.clone(), start
    seen = Counter[int]()
    for age in range(1, 6):
        worlds = [generation(world, births, stance) for world in worlds]
        planes = advance(grid, planes, 1, neutral_rules)
        assert worlds_of(grid, planes) == worlds, age
        assert torch.equal(advance(grid, start, age, neutral_rules), planes)
        seen.update({state: sum(count(world, state) for world in worlds) for state in range(5)})
    assert min(seen.values()) > 0
    assert torch.equal(start, given)


def soups(grid: Grid, count: int, neutrals: bool) -> Tensor:
    """Planes of worlds of random cells."""
    lots = torch.rand((count, grid.rows, grid.cols), generator=torch.Generator().manual_seed(0))
    ends = (0.12, 0.24, 0.4 if neutrals else 0.24, 0.93, 1.0)
    states = torch.tensor([1, 2, 3, 0, 4])[torch.bucketize(lots, torch.tensor(ends))]
    return torch.stack([grid.pack(states == state) for state in range(1, 5)])


PULSAR = (
    "..aaa...aaa..\n.............\na....a.a....a\na....a.a....a\na....a.a....a\n..aaa...aaa..\n.............\n"
    "..aaa...aaa..\na....a.a....a\na....a.a....a\na....a.a....a\n.............\n..aaa...aaa.."
)
QUEEN_BEE = (
    ".........a............\n.......a.a............\n......a.a.............\naa...a..a...........aa\n"
    "aa....a.a...........aa\n.......a.a............\n.........a............"
)
# What comes back after so many generations (0: never where it was, until it meets the edge), and its cells then.
SHAPES = {
    "aa\naa": 1,
    "cc\ncd": 1,
    "aaa": 2,
    PULSAR: 3,
    "aaa...\naaa...\naaa...\n...aaa\n...aaa\n...aaa": 8,
    "..a....a..\naa.aaaa.aa\n..a....a..": 15,
    QUEEN_BEE: 30,
    ".a.\n..a\naaa": 0,
    "cacabab\n.......\nacbcabb": 0,
}
ROWS, COLS = 26, 40


def stamped(shape: str) -> Board:
    """A board with a shape about its middle."""
    board = [[EMPTY] * COLS for _ in range(ROWS)]
    for r, line in enumerate(shape.split("\n"), 8):
        for c, mark in enumerate(line, 9):
            board[r][c] = MARKS.index(mark)
    return board


def settled_and_unsettled() -> tuple[Grid, Tensor]:
    """The empty world, the shapes in the colours of both, and soups, which settle at different times."""
    worlds = [[[EMPTY] * COLS for _ in range(ROWS)], *map(stamped, SHAPES)]
    worlds += [[[(0, 2, 1, 3, 4)[cell] for cell in row] for row in world] for world in worlds[1:]]
    grid = Grid(ROWS, COLS, wrap=False)
    return grid, torch.cat([planes_of(grid, worlds), soups(grid, 110, neutrals=True)], -1)


@pytest.mark.parametrize("generations", [1, 23, 24, 25, 48, 73, 401])
def test_stopping_early_changes_nothing(generations: int) -> None:
    """Worlds alone, settled ones together, and all side by side, in native code and in torch."""
    grid, start = settled_and_unsettled()
    given = start.clone()
    for births in (False, True):
        expected = advance(grid, start, generations, neutral_rules=births)
        assert torch.equal(simulate(grid, start, generations, births), expected)
        for env_ids in ([0, 1, 2, 3], [6], [7, 0], [8, 9, 1], [*range(3, 9)]):
            some = simulate(grid, start[..., env_ids], generations, births)
            assert torch.equal(some, expected[..., env_ids])
        with without_native():
            assert torch.equal(simulate(grid, start[..., env_ids], generations, births), some)
    assert torch.equal(start, given)


BOARD = [[0, 0, 0, 0, 4], [0, 2, 2, 2, 0], [1, 1, 0, 0, 3], [0, 0, 0, 0, 0]]
POSITION = Position(0, 3, 2, 12, [(2, 0), (2, 1)], BOARD, 57)
LINE = "move:a turn:57 round:3 acts:2 score:+12 placed:r2c0,r2c1 board:4.D$.3B$2A2.C!"


@pytest.mark.parametrize(
    "text", ["", "End", "end ", "r12", "c3r4", "r-1c2", "r01c2", "r1c2 ", "r1c2/0", "R1C2", "r٣c1", "r8c0", "r0c40"]
)
def test_what_names_no_action_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        ClothOfGold(height=8, width=40).string_to_action(text)


def test_a_position_is_one_line_and_comes_back() -> None:
    assert position_to_string(POSITION) == LINE
    assert string_to_position(LINE, 4, 5) == POSITION


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("move:a", "move:c"),
        ("turn:57", f"turn:{10**7}"),
        ("score:+12", "score:12"),
        ("placed:r2c0,r2c1", "placed:r2c0,r2c0"),  # twice
        ("placed:r2c0,r2c1", "placed:r2c2"),  # an empty cell
        ("placed:r2c0,r2c1", "placed:r1c1"),  # a unit of b
        ("placed:r2c0,r2c1", "placed:r4c0"),  # off the board
        ("move:a", "move:b"),  # whose units these are not
        ("4.D", "4.E"),  # no such state
        ("4.D", "5.D"),  # too wide
        ("!", "$$A!"),  # too high
        ("!", "! x"),
    ],
)
def test_what_is_no_position_is_none(old: str, new: str) -> None:
    assert old in LINE
    assert string_to_position(LINE.replace(old, new), 4, 5) is None

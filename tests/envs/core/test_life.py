"""Life against sets of cells: every width, both edges, colours and their ties; what is known of famous patterns."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product
from typing import Any

import pytest
import torch
from life_reference import Board, around, boards_tensor, census, drawn, live_cells, next_board, next_cells, soup, spread
from native_code import native_library
from torch import Tensor
from torch.library import opcheck

from cellgames.envs.boards import life
from cellgames.envs.boards.bitboards import Grid, count
from cellgames.envs.boards.life import Life, generation, inherited
from cellgames.envs.native import without_native

WIDTHS = [*range(3, 71), 127, 128, 129, 255, 256, 257]

every_width = pytest.mark.parametrize("cols", WIDTHS)
both_edges = pytest.mark.parametrize("wrap", [True, False], ids=["torus", "finite"])


def colours_after(board: Tensor, teams: int, wrap: bool = True) -> Tensor:
    """The next generation of int8 [B, H, W], 0 empty, else a team's number."""
    grid = Grid(board.shape[1], board.shape[2], wrap)
    planes = [grid.pack(board == team) for team in range(1, teams)]
    live, inherit = inherited(grid, grid.pack(board), planes)
    after = teams * grid.unpack(live).to(torch.int8)
    for team, plane in enumerate(inherit, 1):
        after[grid.unpack(plane & live)] = team
    return after


# --- a generation against the reference --------------------------------------------------------------------------


@every_width
@both_edges
def test_a_generation_is_that_of_the_reference(cols: int, wrap: bool) -> None:
    for rows in (3, 4 + cols % 4):
        grid = Grid(rows, cols, wrap)
        boards = soup(rows, cols, 0.2, 0.4, 0.8)
        packed = grid.pack(boards)
        after = generation(grid, packed)
        expected = [next_cells(live_cells(board), rows, cols, wrap) for board in boards]
        assert [set(live_cells(board)) for board in grid.unpack(after)] == expected, rows
        assert count(after).tolist() == [len(live) for live in expected]  # and nothing lives beside the board
        assert torch.equal(packed, grid.pack(boards))  # untouched


@every_width
@both_edges
def test_colours_are_those_of_the_reference(cols: int, wrap: bool) -> None:
    rows = 3 + cols % 4
    for teams in (2, 3) if cols % 2 else (2, 4, 7):
        boards = soup(rows, cols, 0.25, 0.4, 0.7, teams=teams)
        after = colours_after(boards, teams, wrap)
        for board, got in zip(boards, after, strict=True):
            assert live_cells(got) == next_board(live_cells(board), rows, cols, wrap), teams


@pytest.mark.parametrize("teams", [2, 3])
def test_every_neighbourhood_of_few_cells_gets_its_colour(teams: int) -> None:
    """All of two or three live cells around a live or a dead one, at an even and at an odd cell."""
    cells = product(range(teams + 1), repeat=9)
    neighbourhoods = [nine for nine in cells if 2 <= 8 - (nine[:4] + nine[5:]).count(0) <= 3]
    board = torch.zeros(len(neighbourhoods), 7, 8, dtype=torch.int8)
    for col in (1, 4):
        board[:, 1:4, col : col + 3] = torch.tensor(neighbourhoods, dtype=torch.int8).view(-1, 3, 3)
        after = colours_after(board, teams)
        for centre, start in zip(after[:, 2, col + 1].tolist(), board, strict=True):
            assert centre == next_board(live_cells(start), 7, 8).get((2, col + 1), 0)
        board.zero_()


A_ROW_OF_THREE = """
    ........
    ........
    ...abc..
    ........
"""


@pytest.mark.parametrize(("shift", "upright"), [(0, "cac"), (1, "aca")])
def test_ties_go_to_the_first_team_on_even_cells_and_to_the_last_on_odd_ones(shift: int, upright: str) -> None:
    """Newborns have three parents of three colours; the survivor has two neighbours of two, not its own."""
    start = {(row, col + shift): team for (row, col), team in drawn(A_ROW_OF_THREE, "abc").items()}
    expected = {(row, 4 + shift): "abc".index(team) + 1 for row, team in enumerate(upright, 1)}
    assert live_cells(colours_after(boards_tensor([start], 5, 10), 3)[0]) == expected


def test_only_tied_teams_share_in_a_tie() -> None:
    """Of four teams, the second and third; on both kinds of cells, and with the others' cells close by."""
    row = drawn("b.b.c.c\n..b.c..\nd.....a", "abcd")
    after = colours_after(boards_tensor([row], 8, 12), 4)
    assert live_cells(after[0]) == next_board(row, 8, 12)
    assert live_cells(colours_after(boards_tensor([drawn("...\n.bcb\n...", "abcd")], 5, 8), 4)[0])[1, 2] == 2
    mixed = drawn("....\n.bac\n....", "abcd")
    assert [live_cells(colours_after(boards_tensor([mixed], 5, 8), 4)[0])[row, 2] for row in range(3)] == [1, 3, 1]


def test_survivors_take_the_colour_of_their_neighbours() -> None:
    block = drawn("....\n.ab.\n.bb.\n....", "ab")
    assert live_cells(colours_after(boards_tensor([block], 4, 4), 2)[0]) == drawn("....\n.bb.\n.bb.\n....", "ab")


# --- symmetries --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("teams", [2, 3, 4, 5])
@pytest.mark.parametrize(("rows", "cols"), [(5, 66), (8, 130), (3, 30), (7, 64)])
def test_reversing_the_teams_is_a_shift_by_one_column(teams: int, rows: int, cols: int) -> None:
    """Both turn every tie around, where the number of columns is even."""

    def reverse(board: Tensor) -> Tensor:
        return torch.where(board > 0, teams + 1 - board, 0)

    board = soup(rows, cols, 0.2, 0.3, 0.5, teams=teams)
    for _ in range(5):
        after = colours_after(board, teams)
        assert torch.equal(reverse(colours_after(reverse(board.roll(1, -1)), teams)), after.roll(1, -1))
        moved = (2 - rows % 2 * 2, -2)  # crossing the seam of an odd number of rows would turn ties around, too
        assert torch.equal(colours_after(board.roll(moved, (1, 2)), teams), after.roll(moved, (1, 2)))
        board = after
    assert board.unique().numel() > 2  # some teams are still there


@pytest.mark.parametrize("teams", [2, 3, 4])
def test_renaming_teams_changes_nothing_but_ties(teams: int) -> None:
    rows, cols = 9, 40
    board = soup(rows, cols, 0.4, teams=teams)
    before, after = live_cells(board[0]), colours_after(board, teams)[0]
    ties = set()
    for cell in product(range(rows), range(cols)):
        votes = Counter(before[other] for other in around(cell, rows, cols, True) if other in before)
        if votes.total() > 1 and len(votes) == votes.total():
            ties.add(cell)
    changed = set()
    for names in permutations(range(1, teams + 1)):
        new = torch.tensor([0, *names], dtype=torch.int8)
        renamed = colours_after(new[board.long()], teams)[0]
        assert torch.equal(renamed > 0, after > 0)
        changed |= set(live_cells(renamed != new[after.long()]))
    assert changed == {cell for cell in ties if after[cell] > 0}


def test_colours_do_not_change_who_lives() -> None:
    for wrap, teams in product((True, False), (2, 3, 6)):
        board = soup(11, 67, 0.3, 0.6, teams=teams)
        grid = Grid(11, 67, wrap)
        alone = grid.unpack(generation(grid, grid.pack(board)))
        assert torch.equal(colours_after(board, teams, wrap) > 0, alone)


# --- known patterns ----------------------------------------------------------------------------------------------

GLIDER = ".o.\n..o\nooo"


def played(start: Board, rows: int, cols: int, generations: int, wrap: bool = True) -> set[tuple[int, int]]:
    boards = Life(rows, cols, 1, wrap=wrap)
    boards.load(boards_tensor([start], rows, cols))
    boards.advance(generations)
    return set(live_cells(boards.cells()[0]))


@pytest.mark.parametrize(("rows", "cols"), [(9, 67), (11, 64), (7, 128), (40, 280), (5, 6), (67, 5)])
def test_gliders_cross_the_seam_in_all_four_directions(rows: int, cols: int) -> None:
    """Every four generations one cell down or up, and one right or left; several times around the shorter way."""
    glider = boards_tensor([drawn(GLIDER)], rows, cols)[0]
    start = torch.stack([glider, glider.flip(0), glider.flip(1), glider.flip(0, 1)]).bool()
    boards = Life(rows, cols, 4)
    boards.load(start)
    for step in range(1, max(rows, cols) + 4):
        boards.advance(4)
        moved = [
            start[i].roll((down * step, right * step), (0, 1))
            for i, (down, right) in enumerate([(1, 1), (-1, 1), (1, -1), (-1, -1)])
        ]
        assert torch.equal(boards.cells(), torch.stack(moved)), step


@pytest.mark.parametrize(("rows", "cols"), [(20, 20), (64, 64), (20, 63), (65, 128)])
def test_gliders_end_at_the_edge_of_a_finite_board_as_blocks(rows: int, cols: int) -> None:
    live: set[tuple[int, int]] = set(drawn(GLIDER))
    boards = Life(rows, cols, 1, wrap=False)
    boards.load(boards_tensor([live], rows, cols))
    for _ in range(4 * min(rows, cols) + 8):
        live = next_cells(live, rows, cols, wrap=False)
        boards.advance()
        assert set(live_cells(boards.cells()[0])) == live
    assert census(live, rows + 2, cols + 2) == {4: 1}
    assert max(row for row, _ in live) == rows - 1 or max(col for _, col in live) == cols - 1


@pytest.mark.parametrize(
    "drawing",
    ["oo\noo", ".oo.\no..o\n.oo.", ".o.\no.o\n.o.", "oo.\no.o\n.oo", ".oo.\no..o\n.o.o\n..o."],
    ids=["block", "beehive", "tub", "ship", "loaf"],
)
@pytest.mark.parametrize(("rows", "cols"), [(8, 9), (6, 64), (7, 65), (9, 129)])
def test_still_lifes_stand_still_at_edges_and_across_the_seam(drawing: str, rows: int, cols: int) -> None:
    still = drawn(drawing)
    for corner in product((0, -1, -2, rows // 2), (0, -1, -2, -3, cols // 2, cols // 2 - 2)):
        cells = spread(still, [corner], rows, cols, True)
        assert played(dict.fromkeys(cells, 1), rows, cols, 7) == cells, corner
    height, width = (max(cell[i] for cell in still) for i in (0, 1))
    for corner in product((0, rows - 1 - height), (0, cols - 1 - width)):
        cells = spread(still, [corner], rows, cols, False)
        assert played(dict.fromkeys(cells, 1), rows, cols, 7, wrap=False) == cells, corner


def test_oscillators_have_their_periods() -> None:
    blinker, pentadecathlon = drawn("...\nooo"), {(9, col): 1 for col in range(60, 70)}
    pulsar = {cell: 1 for r, c in product((2, 3, 4), (1, 6)) for cell in ((r, c), (r, -c), (-r, c), (-r, -c))}
    pulsar |= {(col, row): 1 for row, col in pulsar}
    for start, period, warm_up in ((blinker, 2, 0), (pulsar, 3, 0), (pentadecathlon, 15, 20)):
        cells = played(dict.fromkeys(spread(start, [(0, 0)], 20, 130, True), 1), 20, 130, warm_up)
        ahead = [played(dict.fromkeys(cells, 1), 20, 130, n) == cells for n in range(1, 2 * period + 1)]
        assert ahead == [n % period == 0 for n in range(1, 2 * period + 1)]


def test_blinkers_turn_across_the_seam_and_die_at_an_edge() -> None:
    for cols in (5, 63, 64, 65, 128):
        across = dict.fromkeys([(0, cols - 1), (0, 0), (0, 1)], 1)
        upright = {(4, 0), (0, 0), (1, 0)}
        assert played(across, 5, cols, 1) == upright
        assert played(across, 5, cols, 6) == set(across)
        along = {(row, cols - 1): 1 for row in (1, 2, 3)}  # two cells are left, which die
        assert played(along, 5, cols, 1, wrap=False) == {(2, cols - 2), (2, cols - 1)}
        assert played(along, 5, cols, 2, wrap=False) == set()


def test_lone_cells_pairs_and_crowds_die() -> None:
    for rows, cols, wrap in product((3, 5), (3, 64, 65, 130), (True, False)):
        for cell in product((0, rows - 1), (0, cols - 1, cols // 2)):
            assert played({cell: 1}, rows, cols, 1, wrap) == set()
        assert played({(0, 0): 1, (1, 1): 1}, rows, cols, 1, wrap) == set()
        full = dict.fromkeys(product(range(rows), range(cols)), 1)
        corners = set(product((0, rows - 1), (0, cols - 1)))
        assert played(full, rows, cols, 1, wrap) == (set() if wrap else corners)  # with eight and three neighbours


def test_diehard_vanishes_at_generation_130() -> None:
    diehard = {(row + 20, col + 30): 1 for row, col in drawn("......o.\noo......\n.o...ooo")}
    assert len(played(diehard, 60, 100, 129)) > 0
    assert played(diehard, 60, 100, 130) == set()


@pytest.mark.parametrize(("size", "wrap"), [(512, True), (560, False)])
def test_the_r_pentomino_settles_at_generation_1103_with_116_cells(size: int, wrap: bool) -> None:
    """8 blocks, 6 gliders, 4 beehives, 4 blinkers, a ship, a boat and a loaf; no glider meets another on the way."""
    start = {(row + size // 2, col + size // 2): 1 for row, col in drawn(".oo\noo.\n.o.")}
    boards = Life(size, size, 1, wrap=wrap)
    boards.load(boards_tensor([start], size, size))
    cells = []
    for at in (1102, 1103, 1104, 1105, 1113):
        boards.advance(at - boards.generations)
        cells.append(int(boards.counts()))
        if at >= 1103:
            groups = census(live_cells(boards.cells()[0]), size, size)
            assert groups == {4: 8, 5: 6 + 1, 6: 4 + 1, 3: 4, 7: 1}
    assert cells == [118, 116, 116, 116, 116]


# --- Life --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("boards", [1, 7, 8, 9, 17, 40])
@both_edges
def test_boards_side_by_side_live_as_they_do_alone(boards: int, wrap: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one chunk and in several of 8 to 16 boards."""
    rows, cols = 9, 65
    start = soup(rows, cols, *(i / boards for i in range(1, boards + 1)))
    live: list[set[tuple[int, int]]] = [set(live_cells(board)) for board in start]
    many = Life(rows, cols, boards, wrap=wrap)
    monkeypatch.setattr(life, "CHUNK_WORDS", 256)
    chunked = Life(rows, cols, boards, wrap=wrap)
    assert (len(chunked._now) > 1) == (boards > 14)
    many.load(start)
    chunked.load(start)
    for steps in (1, 2, 3, 0, 4):
        for _ in range(steps):
            live = [next_cells(cells, rows, cols, wrap) for cells in live]
        for each in (many, chunked):
            each.advance(steps)
            assert each.cells().shape == (boards, rows, cols)
            assert [set(live_cells(board)) for board in each.cells()] == live
            assert each.counts().tolist() == [len(cells) for cells in live]
    assert many.generations == chunked.generations == 10


def test_loading_starts_over() -> None:
    boards = Life(6, 70, 3)
    assert boards.counts().tolist() == [0, 0, 0]
    first, second = soup(6, 70, 0.3, 0.4, 0.5), soup(6, 70, 0.3, 0.0, 0.5, seed=1)
    boards.load(first)
    boards.advance(3)
    boards.load(second.double() / 3)
    assert boards.generations == 0
    assert torch.equal(boards.cells(), second.bool())
    fresh = Life(6, 70, 3)
    fresh.load(second.bool())
    boards.advance(5)
    fresh.advance(5)
    assert torch.equal(boards.cells(), fresh.cells())
    assert torch.equal(first, soup(6, 70, 0.3, 0.4, 0.5))  # untouched


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"boards": 0}, "boards must be a whole number of at least 1, got 0"),
        ({"boards": 2.0}, "boards must be a whole number of at least 1, got 2.0"),
        ({"boards": 1, "compile": "maybe"}, "compile must be 'auto', 'always' or 'never', got 'maybe'"),
        ({"boards": 1, "rows": 2}, "rows must be a whole number of at least 3, got 2"),
    ],
)
def test_what_makes_no_boards_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Life(**{"rows": 5, "cols": 5} | arguments)


def test_other_boards_and_generations_are_refused() -> None:
    boards = Life(5, 6, 2)
    with pytest.raises(ValueError, match=r"cells must have shape \[B, H, W\] = \[2, 5, 6\], got \[2, 6, 5\]"):
        boards.load(torch.zeros(2, 6, 5))
    for generations in (-1, 1.0, True):
        with pytest.raises(ValueError, match="generations must be a whole number of at least 0, got"):
            boards.advance(generations)  # type: ignore[arg-type]  # the test's point


# --- native code ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "cols"), [(3, 3), (64, 64), (3, 64), (5, 65), (9, 63), (7, 129), (16, 300), (3, 4000)]
)
@both_edges
def test_native_generations_are_the_same(rows: int, cols: int, wrap: bool) -> None:
    native_library()
    grid, chance = Grid(rows, cols, wrap), torch.Generator().manual_seed(rows)
    before = torch.get_num_threads()
    for boards in (0, 1, 3, 129):
        cells = grid.pack(torch.rand((boards, 2, rows, cols), generator=chance) < 0.4)
        for generations in (0, 1, 2, 9):
            torch.set_num_threads(1 + generations % 4)
            try:
                native = life.advance(grid, cells, generations)
            finally:
                torch.set_num_threads(before)
            with without_native():
                assert torch.equal(native, life.advance(grid, cells, generations)), (boards, generations)
            assert torch.equal(life.advance(grid, cells[..., ::2], generations), native[..., ::2])


def test_torch_finds_nothing_wrong_with_the_operator() -> None:
    boards = Grid(8, 9).pack(torch.ones(3, 8, 9))
    arguments = (boards, 8, 9, True, 2, "never")
    opcheck(torch.ops.cellgames.life_generations.default, arguments, test_utils=("test_schema", "test_faketensor"))

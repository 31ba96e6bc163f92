"""Life against sets of cells: every width, both edges, colours and their ties; what is known of famous patterns."""

from __future__ import annotations

import pytest
import torch
from life_reference import boards_tensor, census, drawn, live_cells, next_board, next_cells, soup
from native_code import native_library, threads
from torch import Tensor

from cellgames.envs.boards import Grid, Life, count, generation, inherited, life
from cellgames.envs.native import without_native

WIDTHS = [3, 4, 31, 62, 63, 64, 65, 127, 129, 257]

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


@pytest.mark.parametrize(("size", "wrap"), [(512, True)])
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


@pytest.mark.parametrize(
    ("rows", "cols"), [(3, 3), (64, 64), (3, 64), (5, 65), (9, 63), (7, 129), (16, 300), (3, 4000)]
)
@both_edges
def test_native_generations_are_the_same(rows: int, cols: int, wrap: bool) -> None:
    native_library()
    grid, chance = Grid(rows, cols, wrap), torch.Generator().manual_seed(rows)
    for boards in (0, 1, 3, 129):
        cells = grid.pack(torch.rand((boards, 2, rows, cols), generator=chance) < 0.4)
        for generations in (0, 1, 2, 9):
            with threads(1 + generations % 4):
                native = life.advance(grid, cells, generations)
            with without_native():
                assert torch.equal(native, life.advance(grid, cells, generations)), (boards, generations)
            assert torch.equal(life.advance(grid, cells[..., ::2], generations), native[..., ::2])

"""Boards of bits, and Life on them, against sets of cells: widths across word boundaries, odd sizes, both edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import life_reference as ref
import pytest
import torch
from native_code import native_library, threads
from torch import Tensor

from cellgames.envs.boards import Footprint, Grid, Life, count, generation, inherited, life
from cellgames.envs.boards.board_planes import write_planes
from cellgames.envs.native import without_native

CPU = torch.device("cpu")
WIDTHS = [3, 4, 31, 62, 63, 64, 65, 127, 129, 257]

every_width = pytest.mark.parametrize("cols", WIDTHS)
both_edges = pytest.mark.parametrize("wrap", [True, False], ids=["torus", "finite"])


@every_width
@both_edges
def test_packing_is_undone_by_unpacking(cols: int, wrap: bool) -> None:
    for rows in (3, 6):
        grid = Grid(rows, cols, wrap)
        cells = ref.soup(rows, cols, 0.5, 1.0, 0.0, 0.1, 0.9, 0.5).unflatten(0, (3, 2))  # 3 boards of 2 planes
        packed = grid.pack(cells)
        assert packed.shape == (2, *grid.shape, 3)
        assert torch.equal(grid.unpack(packed), cells.bool())
        assert torch.equal(grid.unpack(packed[1]), cells[:, 1].bool())
        assert torch.equal(count(packed), cells.sum((-2, -1)).T)  # and no bit is set outside of the board


def same(grid: Grid, packed: Tensor, cells: Sequence[set[ref.Cell]]) -> bool:
    """Whether bitboards hold these cells, and no bit beside the board."""
    boards = grid.unpack(packed)
    return count(packed).tolist() == [len(c) for c in cells] and [set(ref.live_cells(b)) for b in boards] == cells


@every_width
@both_edges
def test_shifting_moves_every_cell(cols: int, wrap: bool) -> None:
    """By nothing, by one, up to the edge, beyond it, and many times around."""
    rows = 5
    grid = Grid(rows, cols, wrap)
    boards = ref.soup(rows, cols, 0.5, 1.0 if cols < 71 else 0.1)
    packed = grid.pack(boards)
    across = (0, 1, -1, 2 + cols // 3, -(cols // 2), cols - 1, 1 - cols, cols, -cols - 1, 2 * cols + 3)
    downs = (0, 1, -1, 0, -4, 4, 0, 5, -13, 17)
    for down, right in zip(downs, across, strict=True):
        moved = [ref.spread(ref.live_cells(board), [(down, right)], rows, cols, wrap) for board in boards]
        assert same(grid, grid.shift(packed, down, right), moved), (down, right)
        if wrap:
            assert torch.equal(grid.rolled(packed, down, right), grid.shift(packed, down, right))
    assert torch.equal(packed, grid.pack(boards))  # untouched


DISK = [(row, col) for row in range(-4, 5) for col in range(-4, 5) if row * row + col * col <= 16]
SHAPES: dict[str, list[ref.Cell]] = {
    "disk": DISK,
    "one cell": [(2, -3)],
    "itself": [(0, 0)],
    "nothing": [],
    "a row to one side": [(0, col) for col in range(6)],
    "spans that leave the cell out": [(1, col) for col in range(2, 8)] + [(-1, col) for col in range(-7, -2)],
    "holes": [(0, -5), (0, -4), (0, 0), (0, 2), (0, 3), (3, 1), (3, 3), (0, 2)],
    "beyond the board": [(0, 80), (9, 0), (-9, 1), (0, -300), (1, 1)],
    "a long span": [(0, col) for col in range(-70, 40)],
}


@pytest.mark.parametrize("cols", [3, 10, 33, 63, 64, 65, 70, 127, 128, 130, 512])
@both_edges
def test_dilating_spreads_to_all_offsets(cols: int, wrap: bool) -> None:
    rows = 7
    grid = Grid(rows, cols, wrap)
    boards = ref.soup(rows, cols, 0.02, 0.15)
    boards[0, 0, 0] = boards[0, rows - 1, cols - 1] = 1
    packed = grid.pack(boards)
    for name, offsets in SHAPES.items():
        grown = [ref.spread(ref.live_cells(board), offsets, rows, cols, wrap) for board in boards]
        assert same(grid, grid.dilate(packed, Footprint(offsets)), grown), name
    assert torch.equal(packed, grid.pack(boards))  # untouched


@every_width
@both_edges
def test_neighbours_are_counted_modulo_a_power_of_two(cols: int, wrap: bool) -> None:
    rows = 3 + cols % 3
    grid = Grid(rows, cols, wrap)
    boards = ref.soup(rows, cols, 0.35, 0.8, 1.0)
    packed = grid.pack(boards)
    naive = torch.zeros(boards.shape, dtype=torch.int64)
    for counts, board in zip(naive, boards, strict=True):
        near = Counter(other for cell in ref.live_cells(board) for other in ref.around(cell, rows, cols, wrap))
        for (row, col), n in near.items():
            counts[row, col] = n
    for bits in (3, 2, 1):
        planes = grid.neighbour_counts(packed, bits=bits)
        assert len(planes) == bits
        got = torch.stack([grid.unpack(plane & grid.cells(CPU)).long() << bit for bit, plane in enumerate(planes)])
        assert torch.equal(got.sum(0), naive % 2**bits)
    assert torch.equal(packed, grid.pack(boards))  # untouched


@pytest.mark.parametrize(
    ("rows", "cols"), [(512, 512), (511, 512), (513, 511), (1023, 256), (1024, 257), (4095, 64), (4097, 3), (40, 280)]
)
def test_boards_of_many_cells_are_counted(rows: int, cols: int) -> None:
    """More than fields of 16 bits hold, around 4,096 words."""
    boards = torch.stack((torch.ones(rows, cols), torch.zeros(rows, cols), ref.soup(rows, cols, 0.7)[0]))
    boards[1, rows - 1, cols - 1] = 1
    for wrap in (True, False):
        packed = Grid(rows, cols, wrap).pack(boards)
        assert count(packed).tolist() == [rows * cols, 1, int(boards[2].sum())]
        assert torch.equal(Grid(rows, cols, wrap).unpack(packed), boards.bool())


@pytest.mark.parametrize("dtype", [torch.int16, torch.float32])
@pytest.mark.parametrize(
    ("rows", "cols", "count"),
    [(3, 3, 5), (5, 16, 5), (7, 17, 5), (4, 63, 5), (3, 64, 5), (20, 100, 5), (3, 200, 5), (20, 100, 800)],
)
@pytest.mark.parametrize("first", [(4, 2), (1, 1), (0, 0)], ids=str)
def test_planes_are_those_of_torch_code(
    rows: int, cols: int, first: tuple[int, int], dtype: torch.dtype, count: int
) -> None:
    """Few games, and so many that native code writes past the caches."""
    native_library()
    generator, grid = torch.Generator().manual_seed(rows * cols), Grid(rows, cols, wrap=False)
    cells = torch.rand((count, 3, rows, cols), generator=generator) < 0.4
    words = grid.pack(cells).movedim(-1, 0)
    boards = [words[:, 0], words[:, 1:], words[:, 0].contiguous()]
    seat = torch.randint(2, (count,), generator=generator)
    drawn = torch.randint(-(1 << 15), 1 << 15, (count, 1, 2, rows, cols), generator=generator).short()
    numbers, more = drawn[..., 0, 0], drawn.flip(2)
    seen, expected = torch.full((2, count, 8, rows, cols), 7, dtype=dtype)
    with without_native():
        write_planes(grid, boards, seat[:, None], numbers, first, expected[:, None], more)
    write_planes(grid, boards, seat[:, None], numbers, first, seen[:, None], more)  # `expected` lies behind it
    assert torch.equal(seen, expected)
    if first != (0, 0):
        assert torch.equal(seen[:, 0], cells[:, 0].to(dtype))
    if first == (4, 2):
        both = [cells[torch.arange(count), 1 + seat], cells[torch.arange(count), 2 - seat]]
        assert torch.equal(seen[:, 1:3], torch.stack(both, 1).to(dtype))
        assert torch.equal(seen[:, 4:6], numbers[:, 0, :, None, None].to(dtype).expand(count, 2, rows, cols))


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
        boards = ref.soup(rows, cols, 0.2, 0.4, 0.8)
        packed = grid.pack(boards)
        after = generation(grid, packed)
        expected = [ref.next_cells(ref.live_cells(board), rows, cols, wrap) for board in boards]
        assert same(grid, after, expected), rows
        assert torch.equal(packed, grid.pack(boards))  # untouched


@every_width
@both_edges
def test_colours_are_those_of_the_reference(cols: int, wrap: bool) -> None:
    rows = 3 + cols % 4
    for teams in (2, 3) if cols % 2 else (2, 4, 7):
        boards = ref.soup(rows, cols, 0.25, 0.4, 0.7, teams=teams)
        after = colours_after(boards, teams, wrap)
        for board, got in zip(boards, after, strict=True):
            assert ref.live_cells(got) == ref.next_board(ref.live_cells(board), rows, cols, wrap), teams


def test_the_r_pentomino_settles_at_generation_1103_with_116_cells() -> None:
    """8 blocks, 6 gliders, 4 beehives, 4 blinkers, a ship, a boat and a loaf; no glider meets another on the way."""
    size = 512
    start = {(row + size // 2, col + size // 2): 1 for row, col in ref.drawn(".oo\noo.\n.o.")}
    boards = Life(size, size, 1, wrap=True)
    boards.load(ref.boards_tensor([start], size, size))
    cells = []
    for at in (1102, 1103, 1104, 1105, 1113):
        boards.advance(at - boards.generations)
        cells.append(int(boards.counts()))
        if at >= 1103:
            groups = ref.census(ref.live_cells(boards.cells()[0]), size, size)
            assert groups == {4: 8, 5: 6 + 1, 6: 4 + 1, 3: 4, 7: 1}
    assert cells == [118, 116, 116, 116, 116]


@pytest.mark.parametrize("boards", [1, 7, 8, 9, 17, 40])
@both_edges
def test_boards_side_by_side_live_as_they_do_alone(boards: int, wrap: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one chunk and in several of 8 to 16 boards."""
    rows, cols = 9, 65
    start = ref.soup(rows, cols, *(i / boards for i in range(1, boards + 1)))
    live: list[set[tuple[int, int]]] = [set(ref.live_cells(board)) for board in start]
    many = Life(rows, cols, boards, wrap=wrap)
    monkeypatch.setattr(life, "CHUNK_WORDS", 256)
    chunked = Life(rows, cols, boards, wrap=wrap)
    assert (len(chunked._now) > 1) == (boards > 14)
    many.load(start)
    chunked.load(start)
    for steps in (1, 2, 3, 0, 4):
        for _ in range(steps):
            live = [ref.next_cells(cells, rows, cols, wrap) for cells in live]
        for each in (many, chunked):
            each.advance(steps)
            assert each.cells().shape == (boards, rows, cols)
            assert [set(ref.live_cells(board)) for board in each.cells()] == live
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

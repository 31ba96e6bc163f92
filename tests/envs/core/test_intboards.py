"""Boards as single integers beside bitboards: the same cells, moves, dilations and counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from life_reference import Cell, soup
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.dilation import Footprint
from cellgames.envs.boards.intboards import IntGrid

SIZES = [(3, 3), (3, 8), (8, 3), (8, 8), (8, 63), (8, 64), (9, 65), (5, 130), (100, 100)]
every_size = pytest.mark.parametrize(("rows", "cols"), SIZES)


def boards(rows: int, cols: int) -> Tensor:
    """Bool [5, rows, cols]: none, few, half, most and all of the cells."""
    return soup(rows, cols, 0.0, 0.1, 0.5, 0.9, 1.0).bool()


def packed(grid: IntGrid, cells: Tensor) -> list[int]:
    return [grid.pack(board.numpy()) for board in cells]


def same(grid: IntGrid, numbers: list[int], expected: Tensor) -> bool:
    """Whether integers hold these cells, bool [B, rows, cols], and no bit beside the board."""
    return numbers == packed(grid, expected) and [n.bit_count() for n in numbers] == expected.sum((1, 2)).tolist()


@every_size
def test_a_cell_is_the_bit_that_its_row_and_column_say(rows: int, cols: int) -> None:
    grid = IntGrid(rows, cols)
    for row, col in ((0, 0), (0, cols - 1), (1, 0), (rows - 1, cols - 1), (rows // 2, cols // 2)):
        cells = np.zeros((rows, cols), dtype=bool)
        cells[row, col] = True
        assert grid.bit(row, col) == grid.pack(cells) == 1 << (row * (cols + 1) + col)


@every_size
def test_packing_is_undone_by_unpacking(rows: int, cols: int) -> None:
    grid, cells = IntGrid(rows, cols), boards(rows, cols)
    numbers = packed(grid, cells)
    assert [number.bit_count() for number in numbers] == cells.sum((1, 2)).tolist()
    back = grid.unpack(*numbers)
    assert back.dtype == np.uint8
    assert np.array_equal(back, cells.numpy())
    assert np.array_equal(grid.unpack(numbers[2])[0], cells[2].numpy())
    assert grid.unpack().shape == (0, rows, cols)


@every_size
def test_trimming_leaves_the_cells_of_the_board(rows: int, cols: int) -> None:
    grid, cells = IntGrid(rows, cols), boards(rows, cols)
    numbers = packed(grid, cells)
    assert grid.cells.bit_count() == rows * cols
    assert grid.trim(-1) == grid.cells
    assert same(grid, [grid.trim(~number) for number in numbers], ~cells)
    beside = (1 << cols) | (1 << (rows * grid.stride + 3))  # the spare column, and below the board
    assert [grid.trim(number | beside) for number in numbers] == numbers


@every_size
def test_moves_are_those_of_bitboards(rows: int, cols: int) -> None:
    """By nothing, by one, up to the edge and beyond it."""
    grid, plain, cells = IntGrid(rows, cols), Grid(rows, cols, wrap=False), boards(rows, cols)
    numbers, words = packed(grid, cells), plain.pack(cells)
    downs = (0, 1, -1, 2, rows - 1, 1 - rows, rows, -rows, 2 * rows + 1)
    rights = (0, 1, -1, -2, cols - 1, 1 - cols, cols, -cols, cols + 1, -cols - 1, 3 * cols)
    for down in downs:
        for right in rights:
            moved = [grid.shift(number, down, right) for number in numbers]
            assert same(grid, moved, plain.unpack(plain.shift(words, down, right))), (down, right)


FOOTPRINTS: dict[str, list[Cell]] = {
    "a plus": [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)],
    "a disk": [(row, col) for row in range(-7, 8) for col in range(-7, 8) if row * row + col * col < 64],
    "itself": [(0, 0)],
    "nothing": [],
    "spans that leave the cell out": [(1, col) for col in range(2, 8)] + [(-1, col) for col in range(-7, -2)],
    "holes": [(0, -5), (0, 0), (0, 2), (3, 1), (3, 3)],
    "beyond the board": [(0, 150), (120, 0), (-120, 1), (1, 1)],
}


@every_size
@pytest.mark.parametrize("name", FOOTPRINTS)
def test_dilations_are_those_of_bitboards(rows: int, cols: int, name: str) -> None:
    grid, plain, cells = IntGrid(rows, cols), Grid(rows, cols, wrap=False), boards(rows, cols)
    corners = torch.zeros(1, rows, cols, dtype=torch.bool)
    corners[0, 0, 0] = corners[0, -1, -1] = True
    cells, footprint = torch.cat((cells, corners)), Footprint(FOOTPRINTS[name])
    grown = [grid.dilate(number, footprint) for number in packed(grid, cells)]
    assert same(grid, grown, plain.unpack(plain.dilate(plain.pack(cells), footprint)))


@every_size
@pytest.mark.parametrize("bits", [1, 2, 3])
def test_neighbours_are_counted_as_on_bitboards(rows: int, cols: int, bits: int) -> None:
    grid, plain, cells = IntGrid(rows, cols), Grid(rows, cols, wrap=False), boards(rows, cols)
    counts = [grid.neighbour_counts(number, bits) for number in packed(grid, cells)]
    planes = plain.neighbour_counts(plain.pack(cells), bits)
    assert [len(count) for count in counts] == [bits] * len(cells)
    for bit, plane in enumerate(planes):
        assert same(grid, [grid.trim(count[bit]) for count in counts], plain.unpack(plain.trim(plane)))


@pytest.mark.parametrize(
    ("rows", "cols", "message"),
    [
        (2, 8, "rows must be a whole number of at least 3, got 2"),
        (8, 2, "cols must be a whole number of at least 3, got 2"),
        (8, 8.0, "cols must be a whole number of at least 3, got 8.0"),
    ],
)
def test_sizes_that_are_no_board_are_refused(rows: Any, cols: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        IntGrid(rows, cols)

"""Boards with several rows in a word: against bitboards, which other tests hold to a slow reference."""

from __future__ import annotations

import pytest
import torch
from every_game import generator
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.packedboards import PackedGrid

SHAPES = [(3, 3), (5, 5), (9, 9), (15, 15), (31, 31), (4, 15), (16, 15), (40, 7), (64, 31), (3, 20), (12, 12)]
every_shape = pytest.mark.parametrize(("rows", "cols"), SHAPES)


def boards(rows: int, cols: int) -> Tensor:
    """Bool [7, 2, rows, cols]; one full, one empty."""
    cells = torch.rand(7, 2, rows, cols, generator=generator(rows * 100 + cols)) < 0.4
    cells[0], cells[1] = True, False
    return cells


@every_shape
def test_boards_are_packed_and_unpacked(rows: int, cols: int) -> None:
    grid, cells = PackedGrid(rows, cols), boards(rows, cols)
    words = grid.pack(cells)
    assert words.shape == (2, grid.words, 7)
    assert words.is_contiguous()
    assert (words >= 0).all(), "the highest bit of a word is a cell"
    assert torch.equal(grid.unpack(words), cells)
    assert torch.equal(grid.count(words), cells.sum((2, 3)).t())
    assert torch.equal(grid.trim(~grid.pack(~cells)), words)
    assert torch.equal(grid.unpack(grid.cells(words.device).expand(-1, 2)), torch.ones(2, rows, cols).bool())


@every_shape
@pytest.mark.parametrize("bits", [2, 3])
def test_neighbours_are_counted_as_on_bitboards(rows: int, cols: int, bits: int) -> None:
    packed, grid = PackedGrid(rows, cols), Grid(rows, cols, wrap=False)
    cells = boards(rows, cols)
    words = packed.pack(cells)
    before = words.clone()
    ours, theirs = packed.neighbour_counts(words, bits), grid.neighbour_counts(grid.pack(cells), bits)
    assert len(ours) == len(theirs) == bits
    for one, other in zip(ours, theirs, strict=True):
        assert torch.equal(packed.unpack(packed.trim(one)), grid.unpack(grid.trim(other)))
    assert torch.equal(words, before)

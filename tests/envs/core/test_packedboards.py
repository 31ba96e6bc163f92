"""Boards with several rows in a word: against bitboards, which other tests hold to a slow reference."""

from __future__ import annotations

import pytest
import torch
from every_game import generator
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid, bit_of_rank
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


def test_a_word_of_four_rows() -> None:
    cells = torch.zeros(1, 15, 15, dtype=torch.bool)
    cells[0, 0, 0] = cells[0, 3, 14] = cells[0, 4, 1] = True
    assert PackedGrid(15, 15).pack(cells)[:, 0].tolist() == [1 | 1 << 3 * 16 + 14, 2, 0, 0]


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="cols must be at most 31, got 32"):
        PackedGrid(8, 32)
    with pytest.raises(ValueError, match="rows must be"):
        PackedGrid(2, 8)
    grid = PackedGrid(15, 15)
    with pytest.raises(ValueError, match=r"cells must have shape \[B, ..., 15, 15\], got \[2, 15, 16\]"):
        grid.pack(torch.zeros(2, 15, 16))
    with pytest.raises(ValueError, match=r"int64 \[..., 4, B\], got torch.int64 \[5, 2\]"):
        grid.unpack(torch.zeros(5, 2, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"got torch.int32 \[4, 2\]"):
        grid.unpack(torch.zeros(4, 2, dtype=torch.int32))


def test_the_bit_of_a_rank_is_found() -> None:
    words = torch.randint(0, (1 << 63) - 1, (200,), generator=generator(1))
    words = torch.cat(
        (words, words & (words >> 1) & (words << 3 & (1 << 63) - 1), torch.tensor([1, 1 << 62, (1 << 63) - 1]))
    )
    for word in words.tolist():
        places = [place for place in range(63) if word >> place & 1]
        ranks = torch.arange(len(places))
        assert bit_of_rank(torch.tensor(word), ranks).tolist() == places

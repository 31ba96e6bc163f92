"""Planes of packed boards and numbers in native code against torch code."""

from __future__ import annotations

import pytest
import torch
from native_code import native_library

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.board_planes import board_planes
from cellgames.envs.native import without_native


@pytest.mark.parametrize("wrap", [True, False])
@pytest.mark.parametrize(("rows", "cols"), [(3, 3), (5, 16), (7, 17), (4, 63), (3, 64), (20, 100), (3, 200)])
@pytest.mark.parametrize("first", [(None, None), (1, 2), (0, 0)], ids=str)
def test_planes_are_those_of_torch_code(rows: int, cols: int, wrap: bool, first: tuple[int | None, int | None]) -> None:
    native_library()
    generator, grid = torch.Generator().manual_seed(rows * cols), Grid(rows, cols, wrap)
    boards = torch.rand((5, 3, rows, cols), generator=generator) < 0.4
    words = grid.pack(boards).movedim(-1, 0)
    numbers = torch.randint(-(1 << 15), 1 << 15, (5, 2), generator=generator).to(torch.int16)
    seen = board_planes(grid, words, numbers, *first)
    with without_native():
        assert torch.equal(seen, board_planes(grid, words, numbers, *first))
    assert seen.shape == (5, 5, rows, cols)
    assert torch.equal(seen[:, 0], boards[:, 0].to(torch.int16)) or first == (0, 0)
    assert board_planes(grid, words[:0], numbers[:0]).shape == (0, 5, rows, cols)

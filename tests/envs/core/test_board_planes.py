"""Planes of packed boards and numbers in native code against torch code."""

from __future__ import annotations

import pytest
import torch
from native_code import native_library

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.board_planes import write_planes
from cellgames.envs.native import without_native


@pytest.mark.parametrize("dtype", [torch.int16, torch.float32])
@pytest.mark.parametrize(("rows", "cols"), [(3, 3), (5, 16), (7, 17), (4, 63), (3, 64), (20, 100), (3, 200)])
@pytest.mark.parametrize("first", [(4, 2), (1, 1), (0, 0)], ids=str)
@pytest.mark.parametrize("count", [5, 1700])
def test_planes_are_those_of_torch_code(
    rows: int, cols: int, first: tuple[int, int], dtype: torch.dtype, count: int
) -> None:
    """Few games, and so many that native code writes past the caches."""
    native_library()
    generator, grid = torch.Generator().manual_seed(rows * cols), Grid(rows, cols, wrap=False)
    cells = torch.rand((count, 3, rows, cols), generator=generator) < 0.4
    words = grid.pack(cells).movedim(-1, 0)
    boards = [words[:, 0], words[:, 1:]]
    boards.append(boards[0].contiguous())
    seat = torch.randint(2, (count,), generator=generator)
    numbers = torch.randint(-(1 << 15), 1 << 15, (count, 2), generator=generator).to(torch.int16)
    seen, expected = torch.full((2, count, 6, rows, cols), 7, dtype=dtype)
    with without_native():
        write_planes(grid, boards, seat[:, None], numbers[:, None], first, expected[:, None])
    write_planes(grid, boards, seat[:, None], numbers[:, None], first, seen[:, None])  # `expected` lies behind it
    assert torch.equal(seen, expected)
    if first != (0, 0):
        assert torch.equal(seen[:, 0], cells[:, 0].to(dtype))
    if first == (4, 2) and count:
        own, other = cells[torch.arange(count), 1 + seat], cells[torch.arange(count), 2 - seat]
        assert torch.equal(seen[:, 1:3], torch.stack((own, other), 1).to(dtype))
        assert torch.equal(seen[:, 4:], numbers[:, :, None, None].to(dtype).expand(count, 2, rows, cols))

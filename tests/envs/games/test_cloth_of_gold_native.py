"""Native code of Cloth of Gold against the rules in torch, in every bit."""

from __future__ import annotations

import pytest
import torch
from native_code import native_library
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.cloth_of_gold import simulation
from cellgames.envs.native import without_native

BOARDS = ((3, 3), (3, 64), (12, 63), (17, 65), (6, 105), (4, 1600))


def worlds(grid: Grid, count: int, neutrals: bool, seed: int = 0) -> Tensor:
    lots = torch.rand((count, grid.rows, grid.cols), generator=torch.Generator().manual_seed(seed))
    upto = (0.12, 0.24, 0.4 if neutrals else 0.24)
    a, b, neutral = lots < upto[0], (lots >= upto[0]) & (lots < upto[1]), (lots >= upto[1]) & (lots < upto[2])
    return grid.pack(torch.stack([a, b, neutral, lots > 0.93], 1))


def both(*arguments: object) -> tuple[Tensor, Tensor]:
    native_library()
    native = simulation.advance(*arguments)  # type: ignore[arg-type]
    with without_native():
        return native, simulation.advance(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(("rows", "cols"), BOARDS)
@pytest.mark.parametrize("neutral_rules", [None, 0, 1, 2, 3, 6, 7])
def test_generations_are_the_same(rows: int, cols: int, neutral_rules: int | None) -> None:
    grid = Grid(rows, cols, wrap=False)
    for count, generations in ((0, 1), (1, 30), (8, 0), (11, 7)):
        planes = worlds(grid, count, neutral_rules is not None)
        native, expected = both(grid, planes, generations, neutral_rules or 0)
        assert torch.equal(native, expected), (count, generations)


@pytest.mark.parametrize("generations", [23, 24, 100])
@pytest.mark.parametrize(("rows", "cols", "count"), [(16, 20, 129), (12, 90, 30)])
def test_worlds_that_repeat_are_those_played_to_the_end(rows: int, cols: int, count: int, generations: int) -> None:
    """Worlds settle at different times, so that others take their places."""
    native_library()
    grid = Grid(rows, cols, wrap=False)
    planes = worlds(grid, count, True)
    expected = simulation.advance(grid, planes, generations)
    assert torch.equal(simulation.simulate(grid, planes, generations), expected)

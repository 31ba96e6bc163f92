"""Native generations of Cloth of Gold against those of the rules in torch, in every bit."""

from __future__ import annotations

import pytest
import torch
from native_code import native_library
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.cloth_of_gold import simulation

BOARDS = ((3, 3), (3, 64), (12, 12), (40, 63), (17, 65), (5, 104), (6, 105), (33, 127), (9, 300), (4, 1600))


def worlds(grid: Grid, count: int, neutrals: bool, seed: int = 0) -> Tensor:
    """Worlds of random cells."""
    lots = torch.rand((count, grid.rows, grid.cols), generator=torch.Generator().manual_seed(seed))
    upto = (0.12, 0.24, 0.4 if neutrals else 0.24)
    a, b, neutral = lots < upto[0], (lots >= upto[0]) & (lots < upto[1]), (lots >= upto[1]) & (lots < upto[2])
    return grid.pack(torch.stack([a, b, neutral, lots > 0.93], 1))


def both(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> tuple[Tensor, Tensor]:
    """Return the same worlds after native and after torch code."""
    native_library()
    native = simulation.advance(*arguments)  # type: ignore[arg-type]
    with monkeypatch.context() as patch:
        patch.setattr(simulation, "library", lambda device: None)
        return native, simulation.advance(*arguments, compile="never")  # type: ignore[arg-type]


@pytest.mark.parametrize(("rows", "cols"), BOARDS)
@pytest.mark.parametrize("kind", ["two sides", "neutral cells", "neutral births"])
def test_generations_are_the_same(rows: int, cols: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid(rows, cols, wrap=False)
    for count in (1, 8, 11):
        planes = worlds(grid, count, kind != "two sides")
        for generations in (1, 7, 30):
            native, expected = both(monkeypatch, grid, planes, generations, kind == "neutral births")
            assert torch.equal(native, expected), (count, generations)


def test_births_of_neutral_cells_need_none_to_begin_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """The option has no effect in a world without neutral cells, and is no mistake there."""
    grid = Grid(20, 30, wrap=False)
    native, expected = both(monkeypatch, grid, worlds(grid, 9, False), 12, True)
    assert torch.equal(native, expected)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_and_strides_change_nothing(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid(30, 70, wrap=False)
    planes = worlds(grid, 41, True)[..., ::2]
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        native, expected = both(monkeypatch, grid, planes, 24, False)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(native, expected)
    assert not native.is_set_to(planes)

"""Operators: torch code and native code behind one name, for eager calls, the compiler and fake tensors."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator

import pytest
import torch
from native_code import native_library
from torch import Tensor

import cellgames
from cellgames.envs.grid_adaptation import legality
from cellgames.envs.native import Library, Operator, without_native
from cellgames.envs.torus import filling


@Operator
def doubled(x: Tensor, times: int = 1) -> Tensor:
    """Return twice as much, so many times."""
    return x * (1 << times)


calls: list[str] = []


@doubled.native
def _doubled(library: Library, x: Tensor, times: int = 1) -> Tensor:
    assert isinstance(library, Library)
    if x.dtype != torch.int64:
        return NotImplemented  # type: ignore[no-any-return]
    calls.append("native")
    return x * (1 << times)


@pytest.fixture(autouse=True)
def none_yet() -> Iterator[None]:
    calls.clear()
    yield
    calls.clear()


@pytest.fixture
def torus() -> tuple[Tensor, Tensor, Tensor]:
    chance = torch.Generator().manual_seed(0)
    stones = torch.randint(3, (5, 18), generator=chance, dtype=torch.int32)
    return stones, torch.arange(5) % 2, torch.randint(filling.LOTS, (5, 18), generator=chance, dtype=torch.int32)


def test_native_code_runs_on_the_cpu_where_it_knows_the_arguments() -> None:
    native_library()
    assert doubled(torch.tensor([3])).tolist() == [6]
    assert calls == ["native"]
    assert doubled(torch.tensor([1.5]), times=2).tolist() == [6.0]
    assert calls == ["native"]
    with without_native():
        assert doubled(torch.tensor([3])).tolist() == [6]
    assert calls == ["native"]


def test_graphs_have_the_torch_code() -> None:
    compiled = torch.compile(lambda x: doubled(x + 1) + 1, fullgraph=True, backend="eager")
    assert compiled(torch.tensor([1])).tolist() == [5]
    assert not calls


def test_the_device_is_that_of_the_first_tensor_or_state() -> None:
    native_library()
    game = cellgames.make("grid-adaptation-v0", size=5, players=2)
    state = game.init(cellgames.envs.seeds(0, 3))
    assert torch.equal(legality.mask(game, state), legality.mask.reference(game, state))
    assert doubled(torch.empty(3, device="meta")).shape == (3,)
    with pytest.raises(TypeError):
        doubled(3)  # type: ignore[arg-type]  # the test's point


def test_copies_and_pickles_are_the_operator() -> None:
    assert copy.deepcopy(filling.winners) is filling.winners
    assert pickle.loads(pickle.dumps(filling.winners)) is filling.winners


def test_a_state_that_needs_no_gradient_gets_none(torus: tuple[Tensor, Tensor, Tensor]) -> None:
    weight = torch.ones(5, requires_grad=True)
    (weight * filling.winners(*torus)).sum().backward()
    assert weight.grad is not None
    assert torch.equal(weight.grad, filling.winners(*torus).float())

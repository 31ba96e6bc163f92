"""Operators: torch code and native code behind one name, for eager calls, the compiler and fake tensors."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from native_code import native_library
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.library import opcheck

from cellgames.envs.native import Library, Operator, operator, without_native
from cellgames.envs.torus import filling


@operator("test_doubled(Tensor x, int times=1) -> Tensor", fake=lambda x, times=1: torch.empty_like(x))
def doubled(x: Tensor, times: int = 1) -> Tensor:
    """Return twice as much, so many times."""
    return x * (1 << times)


@operator("test_raise_(Tensor(a!) x) -> ()", fake=lambda x: None)
def raise_(x: Tensor) -> None:
    """Add one, in place."""
    x.add_(1)


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


def test_results_without_numbers_need_neither() -> None:
    assert doubled(torch.empty(3, device="meta")).shape == (3,)
    with FakeTensorMode():
        assert doubled(torch.empty(4)).shape == (4,)
    assert not calls


@pytest.mark.slow
def test_an_operator_is_one_node_of_a_graph() -> None:
    native_library()
    compiled = torch.compile(lambda x: doubled(x + 1) + 1, fullgraph=True)
    assert compiled(torch.tensor([1])).tolist() == [5]
    assert calls == ["native"]


def test_copies_and_pickles_are_the_operator() -> None:
    assert copy.deepcopy(filling.winners) is filling.winners
    assert pickle.loads(pickle.dumps(filling.winners)) is filling.winners


def test_a_state_that_needs_no_gradient_gets_none(torus: tuple[Tensor, Tensor, Tensor]) -> None:
    weight = torch.ones(5, requires_grad=True)
    (weight * filling.winners(*torus)).sum().backward()
    assert weight.grad is not None
    assert torch.equal(weight.grad, filling.winners(*torus).float())


@pytest.mark.parametrize("operator", [doubled, raise_], ids=str)
def test_torch_finds_nothing_wrong_with_a_plain_one(operator: Operator[..., object]) -> None:
    opcheck(_overload(operator), (torch.arange(4),))


def test_torch_finds_nothing_wrong_with_that_of_torus(torus: tuple[Tensor, Tensor, Tensor]) -> None:
    opcheck(_overload(filling.winners), torus)


def _overload(operator: Operator[..., object]) -> Any:
    return operator._overload

"""Malformed actions get a `ValueError` of ours from the core and from every adapter, whatever they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from toy_games import Sealed, TwoPartRace, random_actions
from typing_extensions import override

import cellgames
from cellgames.envs.adapters.gymnasium_env import SeatEnv
from cellgames.envs.adapters.gymnasium_vector import SeatVectorEnv
from cellgames.envs.adapters.pettingzoo_aec import AECGame
from cellgames.envs.adapters.pettingzoo_parallel import ParallelGame
from cellgames.envs.adapters.seats import SeatVector
from cellgames.envs.core import Game, IllegalActionError
from cellgames.envs.kernels.actions import as_actions

TORUS = cellgames.make("torus-v0", size=3)
UNSIGNED = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)


class Raises(Tensor):
    """A tensor that refuses every operation."""

    @classmethod
    @override
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError("mine")


class Nowhere(Tensor):
    """A tensor without numbers."""

    @staticmethod
    def __new__(cls, given: Tensor) -> Any:
        return Tensor._make_wrapper_subclass(cls, given.shape, dtype=given.dtype)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]  # as torch calls it
        raise KeyError("mine")


class LiesAboutItsLength(list[int]):
    """A list of four that goes on for ever."""

    @override
    def __len__(self) -> int:
        return 4

    @override
    def __iter__(self) -> Any:
        while True:
            yield 0


class RefusesArray:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("mine")

    @override
    def __repr__(self) -> str:
        raise RuntimeError("mine, too")


TENSORS: dict[str, Callable[[Tensor], Any]] = {
    "sparse": lambda a: a.to_sparse(),
    "csr": lambda a: a.reshape(1, -1).to_sparse_csr(),
    "mkldnn": lambda a: a.float().to_mkldnn(),
    "quantized": lambda a: torch.quantize_per_tensor(a.float(), 1.0, 0, torch.quint8),
    "nested": lambda a: torch.nested.nested_tensor([a.reshape(-1)]),
    "jagged": lambda a: torch.nested.nested_tensor([a.reshape(-1)], layout=torch.jagged),
    "meta": lambda a: a.to("meta"),
    "bits": lambda a: a.to(torch.uint8).view(torch.bits8),
    "no numbers": Nowhere,
    "nan": lambda a: a * float("nan"),
    "learns": lambda a: a.float().requires_grad_(),
    "complex": lambda a: a.to(torch.complex64),
    "bool": lambda a: a.bool(),
    "a billion": lambda a: torch.zeros(1, dtype=torch.int64).expand(10**12),
    "flat": lambda a: a.flatten()[:-1],
}
OBJECTS: dict[str, Callable[[Tensor], Any]] = {
    "nothing": lambda a: None,
    "text": lambda a: "1" * 10**6,
    "endless": lambda a: LiesAboutItsLength(),
    "range": lambda a: range(10**12),
    "generator": lambda a: (n for n in iter(int, 1)),
    "objects": lambda a: np.array([None] * 4, dtype=object),
    "refuses": lambda a: RefusesArray(),
    "dict": lambda a: {0: 1},
    "numpy nan": lambda a: np.full(4, np.nan),
    "ragged": lambda a: [[1, 2], [3]],
}


@pytest.fixture(params=[*TENSORS])
def malformed(request: pytest.FixtureRequest) -> Callable[[Tensor], Any]:
    return TENSORS[request.param]


def batched(game: Game) -> tuple[Any, Tensor]:
    state = game.init(torch.arange(4))
    return state, random_actions(game, state, torch.Generator().manual_seed(1))


@pytest.mark.parametrize("game", [TORUS, TwoPartRace(), Sealed()], ids=lambda game: game.id)
@pytest.mark.filterwarnings("ignore:.*(nested tensors|Sparse CSR|quantize|TypedStorage|deprecated)")
def test_the_core_refuses_malformed_tensors_in_its_own_words(game: Game, malformed: Callable[[Tensor], Any]) -> None:
    state, actions = batched(game)
    vector = game.vector(4, seed=0)
    wrong = malformed(actions)
    for step in (lambda: game.step(state, wrong), lambda: vector.step(wrong), lambda: game.check(state, wrong)):
        with pytest.raises(ValueError, match=rf"^{game.id}: actions (must|are)") as caught:
            step()
        assert not isinstance(caught.value, IllegalActionError)
        assert len(str(caught.value)) < 300
    with pytest.raises(ValueError, match="actions must be a tensor, got list"):
        game.step(state, actions.tolist())  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("dtype", [*UNSIGNED, torch.int8, torch.int16, torch.int32])
def test_every_integer_dtype_is_taken(dtype: torch.dtype) -> None:
    state, actions = batched(TORUS)
    assert TORUS.step(state, actions.to(dtype)).equal(TORUS.step(state, actions))
    narrow, wide = TORUS.vector(4, seed=3), TORUS.vector(4, seed=3)
    assert torch.equal(narrow.step(actions.to(dtype)).actions, wide.step(actions).actions)
    assert narrow.state.equal(wide.state)


def test_the_number_of_an_action_counts_its_last_component_fastest() -> None:
    info = dataclasses.replace(cellgames.make("torus-v0").info, action_nvec=(2, 3, 4))
    every = list(product(range(2), range(3), range(4)))
    assert [info.ravel_action(choices) for choices in every] == list(range(24))
    assert [tuple(info.unravel_action(number)) for number in range(24)] == every


def test_a_number_too_large_for_int64_stays_large() -> None:
    state, _ = batched(TORUS)
    with pytest.raises(IllegalActionError, match=r"illegal action 9223372036854775807 .* expected a number from 0 to"):
        TORUS.step(state, torch.full((4,), 2**64 - 1, dtype=torch.uint64))


def test_a_subclass_with_numbers_is_taken_whatever_it_makes_of_operations() -> None:
    state, actions = batched(TORUS)
    assert TORUS.step(state, actions.as_subclass(Raises)).equal(TORUS.step(state, actions))
    assert type(as_actions(actions.as_subclass(Raises), (4,))) is Tensor


@pytest.mark.filterwarnings("ignore:.*(nested tensors|Sparse CSR|quantize|TypedStorage|deprecated)")
@pytest.mark.parametrize("kind", [*TENSORS, *OBJECTS])
def test_adapters_refuse_malformed_actions_in_their_own_words(kind: str) -> None:
    make = (TENSORS | OBJECTS)[kind]
    actions = torch.zeros(4, dtype=torch.int64)
    vector = SeatVector(TORUS, 4)
    if kind in TENSORS:
        with pytest.raises(ValueError, match=r"^torus-v0: actions must"):
            vector.step(make(actions))
    batch = SeatVectorEnv(TORUS, 4)
    batch.reset(seed=0)
    single = SeatEnv(TORUS)
    single.reset(seed=0)
    aec = AECGame(TORUS)
    aec.reset(0)
    hidden = Sealed()
    parallel = ParallelGame(hidden)
    parallel.reset(0)
    steps: list[tuple[str, Callable[[], Any]]] = [
        ("torus-v0", lambda: batch.step(make(actions))),
        ("torus-v0", lambda: single.step(make(actions))),
        ("torus-v0", lambda: aec.step(make(actions))),
        (hidden.id, lambda: parallel.step(dict.fromkeys(hidden.info.players, make(actions)))),
    ]
    for id, step in steps:
        with pytest.raises(ValueError, match=rf"^{id}: ") as caught:
            step()
        assert len(str(caught.value)) < 300


def test_adapters_take_tensors_and_unsigned_arrays() -> None:
    plain, other = SeatVectorEnv(TORUS, 4), SeatVectorEnv(TORUS, 4)
    plain.reset(seed=0)
    other.reset(seed=0)
    for given in (np.arange(4, dtype=np.uint64), torch.arange(4).to(torch.uint16), [0, 1, 2, 3]):
        seen = plain.step(np.arange(4))[0]
        assert np.array_equal(seen, other.step(given)[0])  # type: ignore[arg-type]  # on purpose
        plain.reset(seed=0)
        other.reset(seed=0)

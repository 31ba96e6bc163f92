"""Numbers of any integer type are actions; `tests/fuzz` has those that are none."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from toy_games import random_actions

import cellgames
from cellgames.envs.adapters.gymnasium_vector import SeatVectorEnv
from cellgames.envs.core import Game, IllegalActionError

TORUS = cellgames.make("torus-v0", size=3)
UNSIGNED = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)


def batched(game: Game) -> tuple[Any, Tensor]:
    state = game.init(torch.arange(4))
    return state, random_actions(game, state, torch.Generator().manual_seed(1))


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


def test_adapters_take_tensors_and_unsigned_arrays() -> None:
    plain, other = SeatVectorEnv(TORUS, 4), SeatVectorEnv(TORUS, 4)
    plain.reset(seed=0)
    other.reset(seed=0)
    for given in (np.arange(4, dtype=np.uint64), torch.arange(4).to(torch.uint16), [0, 1, 2, 3]):
        seen = plain.step(np.arange(4))[0]
        assert np.array_equal(seen, other.step(given)[0])  # type: ignore[arg-type]  # on purpose
        plain.reset(seed=0)
        other.reset(seed=0)

"""Actions: numbers of any integer type, and choices by logits; `tests/fuzz` has what is no action."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from refusals import fails, refused
from torch import Tensor
from toy_games import random_actions

import cellgames
from cellgames.envs import sample_actions
from cellgames.envs.adapters.gymnasium_vector import SeatVectorEnv
from cellgames.envs.core import Game, IllegalActionError
from cellgames.envs.core.choosing import choose, scale_bits
from cellgames.envs.native import without_native

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
    with fails(IllegalActionError, action=2**63 - 1):
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


def drawn(seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return logits, a mask and lots, with rows without a legal choice and numbers that are not finite among them."""
    generator = torch.Generator().manual_seed(seed)
    rows, width = (int(torch.randint(1, most, (), generator=generator)) for most in (40, 300))
    logits = torch.randn((rows, width), generator=generator) * 30 * torch.rand((), generator=generator)
    for number, every in ((-torch.inf, 3), (torch.inf, 5), (torch.nan, 7)):
        if seed % every == 0:
            logits[torch.rand((rows, width), generator=generator) < 0.01] = number
    mask = torch.rand((rows, width), generator=generator) < torch.rand((), generator=generator)
    lots = torch.randint(1 << 31, (rows,), generator=generator)
    return logits, mask, lots.where(torch.arange(rows) % 4 > 0, 0)  # the least lot draws the first legal choice, too


@pytest.mark.parametrize("seed", range(30))
def test_native_choices_equal_those_of_torch(seed: int) -> None:
    logits, mask, lots = drawn(seed)
    for given in (lots, None):
        native = choose(logits, mask, given, scale_bits(logits.shape[1]))
        with without_native():
            plain = choose(logits, mask, given, scale_bits(logits.shape[1]))
        assert all(torch.equal(a.nan_to_num(-1), b.nan_to_num(-1)) for a, b in zip(native, plain, strict=True))


def test_choices_are_as_frequent_as_they_are_likely() -> None:
    logits = torch.tensor([0.0, 1.0, -2.0, 5.0, 0.5, -9.0])
    mask = torch.tensor([True, True, True, False, True, True])
    share = logits.masked_fill(~mask, -torch.inf).softmax(0)
    actions, _ = sample_actions(logits.expand(200_000, -1), mask.expand(200_000, -1), torch.Generator().manual_seed(1))
    found = torch.bincount(actions, minlength=6) / len(actions)
    assert ((found - share).abs() <= 4.5 * (share * (1 - share) / len(actions)).sqrt() + 1e-9).all()
    pairs, log_prob = sample_actions(logits.expand(9, -1), mask.expand(9, -1), torch.Generator(), nvec=(2, 4))
    parts = [logits[part].masked_fill(~mask[part], -torch.inf).log_softmax(0) for part in (slice(2), slice(2, 6))]
    assert torch.allclose(log_prob, parts[0][pairs[:, 0]] + parts[1][pairs[:, 1]], atol=1e-5)


@pytest.mark.parametrize(
    ("logits", "mask", "nvec"),
    [
        (torch.zeros(3, 4), torch.ones(3, 5, dtype=torch.bool), None),
        (torch.zeros(3, 4), torch.ones(3, 4), None),
        (torch.zeros(3, 4), torch.ones(3, 4, dtype=torch.bool), (2, 3)),
        (torch.full((3, 4), torch.nan), torch.ones(3, 4, dtype=torch.bool), None),
        (torch.full((3, 4), -torch.inf), torch.ones(3, 4, dtype=torch.bool), None),
    ],
    ids=["another shape", "no flags", "other components", "not a number", "all impossible"],
)
def test_what_cannot_be_chosen_from_is_refused(logits: Tensor, mask: Tensor, nvec: tuple[int, ...] | None) -> None:
    with refused("logits"):
        sample_actions(logits, mask, torch.Generator(), nvec=nvec)

"""Chance, random actions and choices by logits, and numbers of any integer type; `tests/fuzz` has what is no action."""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
import pytest
import torch
from every_game import generator
from refusals import fails, refused
from torch import Tensor

import cellgames
from cellgames.envs import sample_actions
from cellgames.envs.adapters.gymnasium_vector import SeatVectorEnv
from cellgames.envs.core import IllegalActionError, chance, seeds
from cellgames.envs.core.chance import random_bits, random_legal
from cellgames.envs.core.choosing import choose, scale_bits
from cellgames.envs.native import without_native


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_threefry_gives_the_known_answers_of_random123(
    counter: tuple[int, int], key: tuple[int, int], expected: tuple[int, int]
) -> None:
    words = [torch.tensor([word]) for word in (*key, *counter)]
    assert tuple(int(word) for word in chance._threefry(*words)) == expected


def test_a_draw_is_a_threefry_block_of_seed_and_counter() -> None:
    seed = (0x03707344 << 32) | 0x13198A2E
    got = int(chance.draw(torch.tensor(seed), 0x85A308D3, torch.tensor(0x243F6A88)))
    assert got == ((0x483DF7A0 & 0x7FFFFFFF) << 32) | 0xC4923A9C
    least, most = torch.iinfo(torch.int64).min, torch.iinfo(torch.int64).max
    extremes = chance.draw(torch.tensor([least, most, -1, 0]), 2**32 - 1, torch.tensor(2**32 - 1))
    assert (extremes >= 0).all()
    assert len(set(extremes.tolist())) == 4


def test_draws_are_the_same_from_tensor_operations_as_from_native_code() -> None:
    most = torch.iinfo(torch.int64).max
    cases = [
        (seeds(3, 50)[:, None], torch.arange(9)),
        (torch.tensor([-most - 1, most, -1, 0]), torch.tensor(2**32 - 1)),
        (seeds(4, 12).view(3, 4).t(), torch.arange(3)),
        (torch.tensor(7), torch.tensor(8)),
        (seeds(5, 0), torch.zeros(0, dtype=torch.int64)),
    ]
    for purpose in (chance.USER, 2**32 - 1):
        quick = [chance.draw(*case[:1], purpose, *case[1:]) for case in cases]
        with without_native():
            slow = [chance.draw(*case[:1], purpose, *case[1:]) for case in cases]
        assert all(torch.equal(one, other) for one, other in zip(quick, slow, strict=True))
    assert torch.equal(cases[0][0], seeds(3, 50)[:, None]), "a draw has written into its seeds"


def splitmix(state: int, count: int) -> list[int]:
    """As its authors publish it; upper 31 bits."""
    found, word = [], (1 << 64) - 1
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & word
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & word
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & word
        found.append((mixed ^ mixed >> 31) >> 33)
    return found


def test_many_random_bits_are_those_of_splitmix() -> None:
    assert splitmix(1234567, 1) == [6457827717110365317 >> 33]  # a known answer
    bits = random_bits(chance.MANY, generator(3))
    root = int(torch.randint(1 << 62, (1,), generator=generator(3)))
    assert bits[:500].tolist() == splitmix(root, 500)
    assert bits.tolist() == splitmix(root, chance.MANY)
    with without_native():
        assert torch.equal(random_bits(chance.MANY, generator(3)), bits)
    assert not torch.equal(bits, random_bits(chance.MANY, generator(4)))


@pytest.mark.parametrize("seed", [0, 1, -1, 2**63 - 1, -(2**63)])
def test_the_seeds_of_a_envs_games_do_not_repeat(seed: int) -> None:
    """The same on an integer and on a tensor, and no two of a thousand games alike."""
    seen, tensor = [], torch.tensor([seed])
    for _ in range(1000):
        seed, tensor = chance.next_seed(seed), chance.next_seed(tensor)
        assert 0 <= seed == int(tensor)
        seen.append(seed)
    assert len(set(seen)) == 1000


@pytest.mark.parametrize("seed", [0, 1, -1, 2**63 - 1, -(2**63), 2**63, 2**64 + 5, 10**40])
def test_the_first_seeds_are_the_same_however_many_are_asked_for(seed: int) -> None:
    many = seeds(seed, 100)
    assert many.dtype == torch.int64
    assert len(set(many.tolist())) == 100
    for count in (0, 1, 99):
        assert torch.equal(seeds(seed, count), many[:count])


@pytest.mark.parametrize("high", [1, 2, 6, 1000, 2**31])
def test_whole_numbers_fill_their_range_evenly(high: int) -> None:
    bits = chance.draw(seeds(1, 60_000), chance.USER, torch.tensor(0))
    drawn = chance.uniform_int(bits, high)
    assert drawn.min() >= 0
    assert drawn.max() < high
    cells = min(high, 10)
    counts = torch.bincount(drawn * cells // high, minlength=cells)
    expected = 60_000 / cells
    assert float(((counts - expected) ** 2 / expected).sum()) < 40  # chi-square, at most 9 degrees of freedom


def test_the_random_action_is_the_legal_one_of_the_rank_that_was_drawn() -> None:
    random = generator()
    for actions in range(1, 513):
        density = torch.tensor([0.0, 1.0, 0.02, 0.5, 0.5, 0.9])[:, None]
        mask = torch.rand(6, actions, generator=random) < density
        bits = random_bits(6, random)
        bits[3] = 2**31 - 1
        legal = [[j for j in range(actions) if row[j]] for row in mask.tolist()]
        ranks = zip(legal, bits.tolist(), strict=True)
        expected = [row[draw * len(row) >> 31] if row else 0 for row, draw in ranks]
        for layout in (mask, mask.t().contiguous().t(), torch.stack((~mask, mask), 1)[:, 1]):
            assert random_legal(layout, bits).tolist() == expected, actions
        assert random_legal.reference(mask, bits).tolist() == expected, actions


@pytest.mark.parametrize("seed", [0, 1, -1, 1 << 61, -(1 << 63), (1 << 63) - 1])
def test_a_single_draw_is_one_of_many(seed: int) -> None:
    for counter in (0, 7, (1 << 32) - 1):
        assert chance.draw_one(seed, 21, counter) == int(chance.draw(torch.tensor(seed), 21, torch.tensor(counter)))


TORUS = cellgames.make("torus-v0", size=3)
UNSIGNED = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)


@pytest.mark.parametrize("dtype", [*UNSIGNED, torch.int8, torch.int16, torch.int32])
def test_every_integer_dtype_is_taken(dtype: torch.dtype) -> None:
    state, actions = TORUS.init(seeds(1, 4)), torch.arange(4)
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
    with fails(IllegalActionError, action=2**63 - 1):
        TORUS.step(TORUS.init(seeds(1, 4)), torch.full((4,), 2**64 - 1, dtype=torch.uint64))


def test_adapters_take_tensors_and_unsigned_arrays() -> None:
    plain, other = SeatVectorEnv(TORUS, 4), SeatVectorEnv(TORUS, 4)
    for given in (np.arange(4, dtype=np.uint64), torch.arange(4).to(torch.uint16), [0, 1, 2, 3]):
        plain.reset(seed=0)
        other.reset(seed=0)
        seen = plain.step(np.arange(4))[0]
        assert np.array_equal(seen, other.step(given)[0])  # type: ignore[arg-type]  # on purpose


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

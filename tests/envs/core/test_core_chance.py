"""Chance, and random legal actions: known answers, evenness, independence of the batch."""

from __future__ import annotations

import pytest
import torch
from every_game import every_game, generator, midway

from cellgames.envs.core import Game, chance, sampling, seeds
from cellgames.envs.core.sampling import random_bits, random_legal
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


def test_draws_are_the_same_from_tensor_operations_as_from_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """On other devices, and for the compiler, there are only the former."""
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
        with monkeypatch.context() as patch:
            patch.setattr(chance, "_threefry_numpy", None)
            patch.setattr(chance, "_plain", lambda *tensors: False)
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
    bits = random_bits(sampling.MANY, generator(3))
    root = int(torch.randint(1 << 62, (1,), generator=generator(3)))
    assert bits[:500].tolist() == splitmix(root, 500)
    assert bits.tolist() == splitmix(root, sampling.MANY)
    with without_native():
        assert torch.equal(random_bits(sampling.MANY, generator(3)), bits)
    assert not torch.equal(bits, random_bits(sampling.MANY, generator(4)))


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


@every_game
def test_random_actions_of_a_generator_are_a_legal_step_of_all_who_act(game: Game) -> None:
    state = midway(game, 40)
    actions = game.random_actions(state, generator())
    assert tuple(actions.shape) == (40, *game.info.action_shape)
    game.check(state, actions)
    assert torch.equal(actions, game.random_actions(state, generator()))
    assert not torch.equal(actions, game.random_actions(state, generator(1)))
    assert tuple(game.random_actions(game.init(seeds(0, 0)), generator()).shape) == (0, *game.info.action_shape)


def test_random_actions_are_even_over_the_legal_ones() -> None:
    mask = torch.zeros(1, 130, dtype=torch.bool)
    legal = [0, 5, 31, 32, 63, 64, 100, 127, 128, 129]
    mask[0, legal] = True
    count = 50_000
    drawn = random_legal(mask.expand(count, -1), random_bits(count, generator()))
    counts = torch.bincount(drawn, minlength=130)
    assert int(counts[legal].sum()) == count
    assert float(((counts[legal] - count / 10) ** 2 / (count / 10)).sum()) < 35  # chi-square, 9 degrees of freedom


@pytest.mark.parametrize("seed", [0, 1, -1, 1 << 61, -(1 << 63), (1 << 63) - 1])
def test_a_single_draw_is_one_of_many(seed: int) -> None:
    for counter in (0, 7, (1 << 32) - 1):
        assert chance.draw_one(seed, 21, counter) == int(chance.draw(torch.tensor(seed), 21, torch.tensor(counter)))

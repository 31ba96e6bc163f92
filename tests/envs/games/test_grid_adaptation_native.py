"""Native code of Grid Adaptation against the torch code that it replaces, in every bit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from grid_adaptation_table import make
from native_code import native_library
from torch import Tensor

from cellgames.envs.core import seeds
from cellgames.envs.core.vector import Starts, _by_parts
from cellgames.envs.grid_adaptation import native as rounds
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import GridState
from cellgames.envs.native import without_native

# Every option; boards of one word, of a few and of sixteen; matches in which many are tied, vote or draw lots.
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "outcome": {"reward_scheme": "outcome", "garnet_value": 0.3, "starting_garnets": 10, "rounds": 4},
    "two-players": {"size": 5, "players": 2, "flip_rounds": (), "reserves": 0, "starting_garnets": 0},
    "largest": {
        "size": 31,
        "players": 3,
        "rounds": 3,
        "first_tiles": 2,
        "starting_garnets": 10,
        "flip_rounds": (2, 3, 8),
    },
    "votes": {"size": 5, "players": 4, "rounds": 1, "first_tiles": 2, "starting_garnets": 3, "flip_rounds": (1, 2)},
    "votes-of-eight": {"size": 5, "rounds": 2, "reward_scheme": "outcome", "starting_garnets": 6, "first_tiles": 1},
    "long": {
        **{"size": 8, "players": 5, "rounds": 14, "reserves": 8, "starting_garnets": 100},
        "reward_scheme": "public",
    },
}
every_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


@pytest.fixture(autouse=True)
def _native() -> None:
    native_library()


def random_bits(game: GridAdaptation, num_envs: int, generator: torch.Generator) -> Tensor:
    shape = (*game.info.action_shape, num_envs)
    return torch.randint(1 << 31, shape, generator=generator).movedim(-1, 0)


def check(native: GridState, torchs: GridState) -> None:
    for field in dataclasses.fields(GridState):
        one, other = getattr(native, field.name), getattr(torchs, field.name)
        assert one.dtype == other.dtype
        assert torch.equal(one, other), field.name


def played(game: GridAdaptation, num_envs: int, steps: int) -> GridState:
    """Matches in different rounds, some in the voting step."""
    state, generator = game.init(seeds(5, num_envs)).clone(), torch.Generator().manual_seed(num_envs)
    for _ in range(steps):
        rounds.step_in_place(game, state, None, random_bits(game, num_envs, generator), True)
    return state


def both(game: GridAdaptation, num_envs: int, random: bool) -> Iterator[tuple[GridState, Tensor]]:
    """Play two matches of every env in place and in torch, compare all that they give, and yield what comes next."""
    state, generator, starts = (
        game.init(seeds(3, num_envs)).clone(),
        torch.Generator().manual_seed(num_envs),
        Starts(game),
    )
    native, ended = state.clone(), 0
    while ended < 2 * num_envs:
        given = random_bits(game, num_envs, generator)
        if not random:
            given = game.random_actions(state, given).contiguous()
        yield state, given
        with without_native():
            state, transition = _by_parts(game, state, starts, random, given)
        results = rounds.step_in_place(game, native, None, given, random)
        for one, other in zip(vars(results).values(), vars(transition).values(), strict=True):
            assert one.dtype == other.dtype
            assert torch.equal(one, other)
        check(native, state)
        ended += int(transition.done.sum())


@every_option
@pytest.mark.parametrize("random", [True, False], ids=["random", "given"])
def test_matches_are_the_same_in_place(options: dict[str, Any], random: bool) -> None:
    for num_envs in (1, 3, 129):
        assert sum(1 for _ in both(make(**options), num_envs, random)) >= options.get("rounds", 8)


@every_option
def test_steps_and_masks_are_the_same_and_leave_the_state_alone(options: dict[str, Any]) -> None:
    game = make(**options)
    for state, given in both(game, 21, False):
        before = state.clone()
        old = torch.ones((21, game.players, game.info.num_actions), dtype=torch.bool)
        native = game.step(state, given), game._legal(state), game._legal_again(state, old), game.free_spaces(state)
        assert native[2] is old
        check(state, before)
        with without_native():
            check(native[0], game.step(state, given))
            assert torch.equal(native[1], game._legal(state))
            assert torch.equal(native[2], game._legal(state))
            assert torch.equal(native[3], game.free_spaces(state))


def test_threads_change_nothing() -> None:
    game, results = make(), []
    before = torch.get_num_threads()
    try:
        for threads in (1, 2, 3, 4):
            torch.set_num_threads(threads)
            state = played(game, 1100, 12)
            results.append((state, game._legal(state), game.free_spaces(state)))
    finally:
        torch.set_num_threads(before)
    for state, mask, free in results[1:]:
        check(state, results[0][0])
        assert torch.equal(mask, results[0][1])
        assert torch.equal(free, results[0][2])


def test_fields_may_lie_in_memory_as_they_like() -> None:
    game = make(size=7)
    state = played(game, 11, 9)
    rows = state.map(lambda field: field.clone(memory_format=torch.contiguous_format))
    assert rows.planes.stride() != state.planes.stride()
    assert torch.equal(game._legal(rows), game._legal(state))
    bits = random_bits(game, 11, torch.Generator().manual_seed(1))
    for given in (bits, bits.contiguous()):
        one, other = rows.clone(), state.clone()
        actions = [rounds.step_in_place(game, some, None, given, True).actions for some in (one, other)]
        assert torch.equal(*actions)
        check(one, other)


def test_matches_that_are_over_are_stepped_alike() -> None:
    """Their next verdict may differ from the one that ended them, here where a lot of matches go to the vote."""
    game = make(**OPTIONS["votes"])
    native = game.init(seeds(5, 64)).clone()
    generator, torchs = torch.Generator().manual_seed(64), native.clone()
    for _ in range(6):
        actions = game.random_actions(native, random_bits(game, 64, generator))
        native = game._step(native, actions)
        with without_native():
            torchs = game._step(torchs, actions)
        check(native, torchs)


def test_a_state_of_another_game_is_no_way_into_foreign_memory() -> None:
    small, large = make(size=5, players=2), make(size=31)
    state = played(small, 4, 3)
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        large._legal(state)
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        large._step(state, torch.zeros((4, *large.info.action_shape), dtype=torch.int64))

"""Native code of Grid Adaptation against the torch code that it replaces, in every bit."""

from __future__ import annotations

import pytest
import torch
from grid_adaptation_table import make
from native_code import native_library
from torch import Tensor

from cellgames.envs.core import seeds
from cellgames.envs.grid_adaptation import GridAdaptation, GridState
from cellgames.envs.grid_adaptation import native as rounds


@pytest.fixture(autouse=True)
def _native() -> None:
    native_library()


def random_bits(game: GridAdaptation, num_envs: int, generator: torch.Generator) -> Tensor:
    shape = (*game.info.action_shape, num_envs)
    return torch.randint(1 << 31, shape, generator=generator).movedim(-1, 0)


def played(game: GridAdaptation, num_envs: int, steps: int) -> GridState:
    """Matches in different rounds, some in the voting step."""
    state, generator = game.init(seeds(5, num_envs)).clone(), torch.Generator().manual_seed(num_envs)
    for _ in range(steps):
        rounds.Step(game)(state, None, random_bits(game, num_envs, generator), True)
    return state


def test_fields_may_lie_in_memory_as_they_like() -> None:
    game = make(size=7)
    state = played(game, 11, 9)
    rows = state.map(lambda field: field.clone(memory_format=torch.contiguous_format))
    assert rows.planes.stride() != state.planes.stride()
    assert torch.equal(game._legal(rows), game._legal(state))
    bits = random_bits(game, 11, torch.Generator().manual_seed(1))
    for given in (bits, bits.contiguous()):
        one, other = rows.clone(), state.clone()
        actions = [rounds.Step(game)(some, None, given, True).actions for some in (one, other)]
        assert torch.equal(*actions)
        assert one.equal(other)


def test_a_state_of_another_game_is_no_way_into_foreign_memory() -> None:
    small, large = make(size=5, players=2), make(size=31)
    state = played(small, 4, 3)
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        large._legal(state)
    with pytest.raises((RuntimeError, IndexError, ValueError)):
        large._step(state, torch.zeros((4, *large.info.action_shape), dtype=torch.int64))

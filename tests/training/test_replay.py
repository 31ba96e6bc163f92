"""The replay of positions: a ring that forgets the oldest."""

from __future__ import annotations

import pytest
import torch
from every_game import generator

import cellgames
from cellgames.agents.networks.networks import make_network
from cellgames.agents.search.improvement import Effort, TreeImprover
from cellgames.training.alphazero.search_play import Positions, Replay

GAME = cellgames.make("torus-v0", size=2)


def positions(*numbers: int) -> Positions:
    """A position for each number, which every part of it holds."""
    value = torch.tensor(numbers)
    return Positions(
        observation=(value % 2).to(torch.int8).view(-1, 1, 1, 1).repeat(1, 5, 2, 2),
        mask=torch.nn.functional.one_hot(value % 8, 8).bool(),
        policy=torch.nn.functional.one_hot(value % 8, 8).float() * 0.5,
        value=value.float(),
    )


def ring(capacity: int) -> Replay:
    return Replay(TreeImprover(GAME, make_network(GAME), Effort(2, 2)), capacity, torch.device("cpu"))


def held(replay: Replay) -> list[int]:
    """The numbers in a replay, as many draws tell."""
    drawn = replay.sample(500, generator())
    expected = positions(*drawn.value.int().tolist())
    assert drawn.actions is None
    for part, other in zip(drawn[:4], expected[:4], strict=True):
        assert part.dtype == other.dtype
        assert torch.equal(part, other)  # the parts of a position stay together
    return sorted(set(drawn.value.int().tolist()))


def test_the_oldest_make_room_when_the_ring_is_full() -> None:
    replay = ring(5)
    replay.add(positions(0, 1, 2))
    assert (len(replay), held(replay)) == (3, [0, 1, 2])
    replay.add(positions(3, 4, 5, 6))
    assert (len(replay), held(replay)) == (5, [2, 3, 4, 5, 6])
    replay.add(positions(7))
    assert held(replay) == [3, 4, 5, 6, 7]


@pytest.mark.parametrize("before", [3, 9])
def test_a_state_restores_the_ring_and_holds_no_more_than_is_in_it(before: int) -> None:
    one, other = ring(5), ring(5)
    one.add(positions(*range(before)))
    state = one.state_dict()
    assert {len(part) for part in state.values() if isinstance(part, torch.Tensor)} == {min(before, 5)}
    assert state["value"].untyped_storage().nbytes() == 4 * min(before, 5)
    other.load_state_dict(state)
    for replay in (one, other):
        replay.add(positions(20, 21))
    assert held(one) == held(other)
    for part, same in zip(one.sample(50, generator(1))[:4], other.sample(50, generator(1))[:4], strict=True):
        assert torch.equal(part, same)

"""Symmetries of the board: what is seen and done moves together, and the rules do not notice."""

from __future__ import annotations

import pytest
import torch
import torus_reference as ref
from every_game import generator, midway
from torch import Tensor

from cellgames.envs.core import seeds
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.symmetry import sources

CPU = torch.device("cpu")


def moved(size: int) -> Tensor:
    """int64 [S, N]: where each symmetry brings a cell."""
    return sources(size, CPU).argsort(1)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_cells_move_as_the_reference_says(size: int) -> None:
    """Quarter turns around the octagon a1, then a translation, in this order."""
    table, number = moved(size), 0
    for quarters in range(4):
        for down in range(size):
            for right in range(size):
                for cell in range(2 * size * size):
                    place = cell
                    for _ in range(quarters):
                        place = ref.rotate90(place, size)
                    assert int(table[number, cell]) == ref.translate(place, down, right, size)
                number += 1
    assert number == Torus(size).symmetries == len(table)


@pytest.mark.parametrize("size", [2, 3])
def test_a_step_commutes_with_every_symmetry(size: int) -> None:
    """The game that is moved along, colours swapped after odd quarters, looks as `transform` says and ends alike."""
    game, count = Torus(size), 12
    table = moved(size)
    which = torch.arange(game.symmetries).repeat_interleave(count)
    state = there = game.init(seeds(3, count)[torch.arange(count).repeat(game.symmetries)])
    random, ended = generator(), 0
    while not state.done.all():
        going = (~state.done).nonzero().squeeze(1)
        state, there, which = state[going], there[going], which[going]
        player, swap = state.current_player, which // (size * size) % 2
        seen, mask = game.transform(game.observe(state, player), game.legal_actions(state), which)
        assert torch.equal(seen, game.observe(there, player ^ swap))
        assert torch.equal(mask, game.legal_actions(there))
        action = game.random_actions(state, random)
        one_hot = torch.nn.functional.one_hot(action, game.info.num_actions)
        there_action = game.transform(seen, one_hot, which)[1].argmax(1)
        assert torch.equal(there_action, table[which, action])
        state = game.step(state, action)
        there = game._place(there, there_action, player ^ swap)
        assert torch.equal(state.terminated, there.terminated)
        wins = torch.where(swap[:, None] == 1, state.scores.flip(1), state.scores)
        assert torch.equal(wins, there.scores)
        ended += int(state.done.sum())
    assert ended == count * game.symmetries


def test_numbers_of_any_kind_move_with_the_board() -> None:
    game = Torus(3)
    state = midway(game, num_envs=8)
    which = torch.randint(game.symmetries, (8,), generator=generator())
    mask, policy = game.legal_actions(state), torch.rand(8, 18, generator=generator(1))
    seen = game.observe(state, state.current_player)
    one, two = game.transform(seen, mask, which), game.transform(seen, policy, which)
    both = game.transform(seen, torch.stack((mask.float(), policy), 1), which)
    assert one[0].dtype == seen.dtype
    assert one[1].dtype == torch.bool
    assert torch.equal(both[1], torch.stack((one[1].float(), two[1]), 1))
    free = one[0][:, :4].view(8, 2, 18).sum(1) == 0
    assert torch.equal(one[1], free)

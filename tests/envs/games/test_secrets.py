"""No seat is told what it may not know: positions that differ in that alone look alike in every way."""

from __future__ import annotations

import pytest
import torch
from every_game import GAMES
from twins import NOT_TELLING, WAYS, telling_methods, told, twin

import cellgames
from cellgames.envs.core import seeds

PRESETS = cellgames.games()


@pytest.mark.parametrize("id", PRESETS)
def test_positions_that_differ_in_secrets_alone_look_alike(id: str) -> None:
    game, chance = cellgames.make(id), torch.Generator().manual_seed(0)
    state = game.init(seeds(3, 1))
    for _ in range(2):
        for player in (0, game.info.num_players - 1):
            other = twin(game, state, player)
            if not game.info.perfect_information and id != "toroidal-cup-small-v0":  # all its shapes are alike
                assert game.state_to_string(other) != game.state_to_string(state)
            for name in WAYS:
                assert told(name, game, state, player) == told(name, game, other, player), name
        state = game.step(state, game.random_actions(state, chance))


@pytest.mark.parametrize("id", GAMES)
def test_every_method_that_tells_a_seat_something_is_in_the_list(id: str) -> None:
    assert telling_methods(GAMES[id]) <= set(WAYS) | NOT_TELLING

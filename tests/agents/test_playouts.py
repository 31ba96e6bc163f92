"""Playouts that are not played: Torus boards filled at random and judged, and who finishes which game."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
import torch
from every_game import generator

import cellgames
from cellgames.agents.cloth_of_gold.greedy import finish_turns
from cellgames.agents.playouts import finish, outcomes
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.core import Game, State, seeds
from cellgames.envs.core.sampling import random_bits
from cellgames.envs.torus.geometry import num_cells


def torus(size: int, games: int, turns: int) -> tuple[Game, Any]:
    """Games after some random moves; those that end earlier have ended."""
    game = cellgames.make("torus-v0", size=size)
    state, source = game.init(seeds(0, games)), generator(size)
    for _ in range(turns):
        state = game.step(state, game.random_actions(state, random_bits(games, source)), checked=False)
    return game, state


def order_shares(game: Game, state: State) -> float:
    """How often the first seat wins from a batch of one, over all orders in which the free cells can be taken."""
    orders = torch.tensor(list(permutations(game.legal_actions(state)[0].nonzero().squeeze(1).tolist())))
    games = state[torch.zeros(len(orders), dtype=torch.int64)]
    for actions in orders.unbind(1):
        games = game.step(games, actions, checked=False)
    assert games.done.all()
    return float((game.outcome(games)[:, 0] > 0).double().mean())


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 16])
def test_filling_what_is_left_of_a_finished_game_changes_no_winner(size: int) -> None:
    game, state = torus(size, 64, num_cells(size))
    assert state.done.all()
    assert game.legal_actions(state.replace(terminated=~state.done)).any(), "expected free cells, for the test's sake"
    wins = game.outcome(state)
    for seed in range(2):
        assert torch.equal(finish(game, state, generator(seed)), wins)
    assert min((wins[:, 0] > 0).sum(), (wins[:, 1] > 0).sum()) > 16


@pytest.mark.parametrize("turns", [3, 4])
def test_sides_win_fillings_as_often_as_all_orders_of_play(turns: int) -> None:
    """Even and odd numbers of free cells, and either side to move."""
    game, state = torus(2, 4, turns)
    games = 2000
    for env_id in range(4):
        for player in range(2):
            one = state[env_id].replace(current_player=torch.tensor([player]))
            share = order_shares(game, one)
            many = one[torch.zeros(games, dtype=torch.int64)]
            won = float((finish(game, many, generator(env_id))[:, 0] > 0).double().mean())
            assert abs(won - share) <= 4 * (share * (1 - share) / games) ** 0.5


def test_outcomes_are_those_of_whole_turns_where_single_actions_make_none() -> None:
    game = ClothOfGold(height=8, width=8)
    state = game.init(seeds(0, 4))
    ended = finish_turns(game, state, generator(1))
    assert torch.equal(outcomes(game, state, generator(1)), ended)
    assert ended.any(1).all()

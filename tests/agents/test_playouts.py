"""Playouts, those that are not played, and the Monte Carlo agent `rollout:N` that stands on them."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
import torch
from every_game import ask, generator, play
from torch import Tensor
from toy_games import Race

import cellgames
from cellgames.agents import playouts as rollout
from cellgames.agents.cloth_of_gold.greedy import finish_turns
from cellgames.agents.playouts import RolloutAgent, finish, outcomes
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.core import Game, State, seeds
from cellgames.envs.core.state import S
from cellgames.envs.torus.geometry import num_cells


def midway(game: Game[S], num_envs: int, turns: int, seed: int = 9) -> S:
    """Games after some random moves; those that end earlier have ended."""
    state: S = play(game, game.init(seeds(0, num_envs)), turns, seed)
    return state


def order_shares(game: Game, state: State) -> float:
    """How often the first seat wins from a batch of one, over all orders in which the free cells can be taken."""
    orders = torch.tensor(list(permutations(game.legal_actions(state)[0].nonzero().squeeze(1).tolist())))
    games = state[torch.zeros(len(orders), dtype=torch.int64)]
    for actions in orders.unbind(1):
        games = game.step(games, actions, checked=False)
    assert games.done.all()
    return float((game.outcome(games)[:, 0] > 0).double().mean())


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 16])
def test_playouts_end_every_game_and_filling_what_is_left_of_a_finished_one_changes_no_winner(size: int) -> None:
    game: Any = cellgames.make("torus-v0", size=size)
    ended, going = midway(game, 64, num_cells(size), size), midway(game, 4, size // 2, size)
    assert ended.done.all()
    assert game.legal_actions(ended.replace(terminated=~ended.done)).any(), "expected free cells, for the test's sake"
    state = type(ended).cat([ended, going])
    wins = game.outcome(ended)
    for seed in range(2):
        found = finish(game, state, generator(seed))
        assert torch.equal(found[:64], wins)
        assert found.abs().eq(1).all()
        assert found.sum(1).eq(0).all()
        assert torch.equal(found, finish(game, state, generator(seed)))
    assert min((wins[:, 0] > 0).sum(), (wins[:, 1] > 0).sum()) > 16
    assert finish(game, state[:0], generator()).shape == (0, 2)


@pytest.mark.parametrize("turns", [3, 4])
def test_sides_win_fillings_as_often_as_all_orders_of_play(turns: int) -> None:
    """Even and odd numbers of free cells, and either side to move."""
    game: Any = cellgames.make("torus-v0", size=2)
    state = midway(game, 4, turns)
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


TORUS = cellgames.make("torus-v0", size=3)


@pytest.mark.parametrize("playouts", [1, 3, 64, 200])
def test_rollout_spends_exactly_n_playouts_on_every_move(playouts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[State] = []

    def spy(game: Game, state: State, *rest: Any) -> Tensor:
        begun.append(state)
        return finish(game, state, *rest)

    monkeypatch.setattr(rollout, "finish", spy)
    state = midway(TORUS, 6, 7)
    env_ids = seeds(0, 6)  # which name the envs in what begins
    ask(RolloutAgent(playouts), TORUS, state)
    spent = torch.cat([games.seed for games in begun]) if begun else env_ids[:0]
    wanted = 0 if playouts == 1 else playouts  # one playout compares nothing
    assert [(spent == env_id).sum() for env_id in env_ids] == [wanted] * 6


def test_it_plays_games_with_draws_dice_and_uneven_turns() -> None:
    game = Race()
    state = game.init(seeds(0, 60))
    # One step before the goal, the other far behind: to walk may overshoot, to run must, to rest waits.
    near = state.replace(current_player=torch.zeros(60, dtype=torch.int64), place=torch.tensor([[6, 0]] * 60))
    assert (ask(RolloutAgent(256), game, near) != 2).all(), "running overshoots for certain"

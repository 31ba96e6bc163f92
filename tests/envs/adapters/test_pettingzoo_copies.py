"""A copy of an environment is the game in progress, not a new one."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils.conversions import parallel_to_aec
from pettingzoo_play import Dress, choose, either, game_at_once, game_in_turns, play_on, same
from slow import slow_except

from cellgames.envs import torus_v0
from cellgames.envs.adapters.pettingzoo_aec import AECGame, wrapped
from cellgames.envs.adapters.pettingzoo_parallel import ParallelGame
from cellgames.envs.core import Game

Duplicate = Callable[[Any], Any]
COPIES: dict[str, Duplicate] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "pickle-2": lambda env: pickle.loads(pickle.dumps(env, protocol=2)),
}


@pytest.mark.parametrize("duplicate", slow_except(["deepcopy", "pickle"], COPIES.values(), COPIES))
@game_in_turns
@either
def test_a_copy_goes_on_from_where_the_game_is(game: Game, dress: Dress, duplicate: Duplicate) -> None:
    env = dress(AECGame(game))
    env.reset(seed=8)
    for moves in (0, 3, 2):
        play_on(env, moves=moves)
        twin, witness = duplicate(env), duplicate(env)
        assert twin.unwrapped is not env.unwrapped
        assert twin.unwrapped.core_state().equal(env.unwrapped.core_state())
        steps = play_on(twin, 5)
        assert witness.unwrapped.core_state().equal(env.unwrapped.core_state())  # not moved by its twin
        assert same(play_on(witness, 5), steps)
        for ended in (twin, witness):
            ended.reset()  # the seeds that follow are copied too
        assert same(play_on(twin, 6), play_on(witness, 6))
    expected = duplicate(env)
    assert same(play_on(env, 7), play_on(expected, 7))


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
@game_in_turns
def test_a_copy_between_the_last_steps_keeps_the_rewards_still_owed(game: Game, duplicate: Duplicate) -> None:
    env: Any = wrapped(AECGame(game))
    env.reset(seed=8)
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        env.step(choose(env.last()[0]["action_mask"], np.random.default_rng(0)))
    env.step(None)
    assert same(play_on(duplicate(env)), play_on(env))


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
def test_a_copy_after_an_illegal_action_ends_as_the_original(duplicate: Duplicate) -> None:
    env = torus_v0.env(size=3)
    env.reset(seed=8)
    env.step(0)
    env.step(0)
    assert same(play_on(duplicate(env)), play_on(env))


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
def test_a_copy_samples_actions_of_its_own(duplicate: Duplicate) -> None:
    env = torus_v0.env()
    env.action_space("black").seed(3)
    twin = duplicate(env)
    drawn = [twin.action_space("black").sample() for _ in range(5)]
    assert [env.action_space("black").sample() for _ in range(5)] == drawn


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
@game_at_once
def test_a_copy_of_a_simultaneous_game_goes_on_from_where_it_is(game: Game, duplicate: Duplicate) -> None:
    for env in (ParallelGame(game), parallel_to_aec(ParallelGame(game))):
        env.reset(seed=8)
        if isinstance(env, ParallelGame):
            random = np.random.default_rng(0)
            views = {agent: env._as_mask(env._legal[seat]) for agent, seat in env._seats.items()}
            env.step({agent: choose(mask, random) for agent, mask in views.items()})
            twin = duplicate(env)
            views = {agent: env._as_mask(env._legal[seat]) for agent, seat in env._seats.items()}
            actions = {agent: choose(mask, random) for agent, mask in views.items()}
            one = env.step(actions)
            assert not twin.core_state().equal(env.core_state())
            assert same(one, twin.step(actions))
        else:
            play_on(env, moves=4)
            twin = duplicate(env)
            assert same(play_on(env, 1), play_on(twin, 1))


def test_a_copy_shares_the_rules_and_no_more() -> None:
    env = torus_v0.raw_env()
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    assert twin.game is env.game
    assert twin.rewards is not env.rewards
    assert twin.action_spaces["black"] is not env.action_spaces["black"]
    assert pickle.loads(pickle.dumps(env)).game == env.game

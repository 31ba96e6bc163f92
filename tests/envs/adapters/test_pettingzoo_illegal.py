"""What illegal actions do in PettingZoo's environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pettingzoo_play import choose, game_at_once, game_in_turns, parts, play_on, same
from toy_games import Sealed

from cellgames.envs import torus_v0
from cellgames.envs.adapters.pettingzoo_aec import AECGame, wrapped
from cellgames.envs.adapters.pettingzoo_parallel import ParallelGame
from cellgames.envs.core import Game


def illegal_action(mask: Any) -> Any:
    """An action with one illegal component."""
    choices = [int(part.argmax()) for part in parts(mask)]
    wrong = next(i for i, part in enumerate(parts(mask)) if not part.all())
    choices[wrong] = int(parts(mask)[wrong].argmin())
    return np.array(choices) if isinstance(mask, tuple) else choices[0]


def until_something_is_illegal(env: Any) -> Any:
    random = np.random.default_rng(3)
    for _ in range(3):
        env.step(choose(env.last()[0]["action_mask"], random))
    return illegal_action(env.last()[0]["action_mask"])


@game_in_turns
def test_an_illegal_action_raises_in_the_raw_environment_and_harms_nothing(game: Game) -> None:
    env: Any = AECGame(game)
    env.reset(seed=6)
    action = until_something_is_illegal(env)
    before, steps = env.core_state(), env.last()
    number = action if isinstance(action, int) else r"\d+"
    message = rf"^{game.id}: illegal action {number} of player {env.agent_selection} in env 0.*: .+"
    with pytest.raises(ValueError, match=message):
        env.step(action)
    for wrong in (-1, 10**6, 2**70, None, 1.0, "e4", np.array([0, 0, 0]), [0.5, 0.5]):
        with pytest.raises(ValueError, match=f"^{game.id}: "):
            env.step(wrong)
    assert env.core_state().equal(before)
    assert same(env.last(), steps)
    play_on(env)
    assert not env.agents


@game_in_turns
def test_an_illegal_action_ends_the_wrapped_game_against_its_player(game: Game) -> None:
    env: Any = wrapped(AECGame(game))
    for seed in range(4):  # the mover differs
        env.reset(seed=seed)
        action, mover = until_something_is_illegal(env), env.agent_selection
        before, owed = env.unwrapped.core_state(), dict(env.unwrapped._cumulative_rewards)
        env.step(action)
        assert env.unwrapped.core_state().equal(before)
        worst = game.info.reward_range[0]
        assert env.rewards == {agent: worst if agent == mover else 0 for agent in env.possible_agents}
        assert all(env.terminations.values())
        for agent in env.agent_iter():
            observation, reward, terminated, _, _ = env.last()
            assert reward == (worst if agent == mover else owed[agent])
            assert terminated
            assert not any(mask.any() for mask in parts(observation["action_mask"]))
            env.step(None)
        assert env.agents == []
        env.reset(seed=seed)
        assert not any(env.terminations.values())
        play_on(env)


@game_in_turns
def test_an_action_outside_the_space_is_an_assertion_in_the_wrapped_environment(game: Game) -> None:
    env: Any = wrapped(AECGame(game))
    env.reset(seed=0)
    for wrong in (-1, 10**6, None, "e4", 0.5):
        with pytest.raises(AssertionError, match="action is not in action space"):
            env.step(wrong)


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.array])
def test_actions_may_be_numbers_of_any_integer_type(kind: Callable[[int], Any]) -> None:
    for env in (torus_v0.env(size=3), torus_v0.raw_env(size=3)):
        env.reset(seed=0)
        env.step(kind(4))
        assert env.state()[4] == 1


def test_the_reason_of_an_illegal_action_is_the_games_own() -> None:
    env = torus_v0.raw_env(size=3)
    env.reset()
    env.step(0)
    with pytest.raises(ValueError, match="illegal action 0 of player white in env 0: cell a1 is taken"):
        env.step(0)


def test_illegal_choices_of_a_simultaneous_game_become_the_last_legal_one_and_are_reported() -> None:
    game = Sealed()
    env, fair = ParallelGame(game), ParallelGame(game)
    env.reset(seed=3)
    fair.reset(seed=3)
    first = {"player_0": [1, 2], "player_1": [2, 2], "player_2": [4, 2]}
    *_, infos = env.step(first)
    assert all("illegal_action" not in info for info in infos.values())
    fair.step(first)
    # In round 1 guesses are open; card 1 of player_0 is spent, 9 is no card, -1 no guess.
    *_, infos = env.step({"player_0": [1, 0], "player_1": [9, -1], "player_2": np.array([0, 1])})
    fair.step({"player_0": [4, 0], "player_1": [4, 2], "player_2": [0, 1]})
    assert env.core_state().equal(fair.core_state())
    assert "illegal_action" not in infos["player_2"]
    assert infos["player_0"]["illegal_action"] == (
        "toy-sealed-v0: illegal action 1 of player player_0 in env 0, component 0: card 1 is spent; played 4 instead"
    )
    assert infos["player_1"]["illegal_action"].splitlines() == [
        "toy-sealed-v0: illegal action 9 of player player_1 in env 0, component 0: "
        "expected a number from 0 to 4; played 4 instead",
        "toy-sealed-v0: illegal action -1 of player player_1 in env 0, component 1: "
        "expected a number from 0 to 2; played 2 instead",
    ]


@game_at_once
def test_a_malformed_step_of_a_simultaneous_game_is_refused_and_harms_nothing(game: Game) -> None:
    env = ParallelGame(game)
    observations, _ = env.reset(seed=3)
    random = np.random.default_rng(0)
    good = {agent: choose(view["action_mask"], random) for agent, view in observations.items()}
    first, *others = env.agents
    before = env.core_state()
    with pytest.raises(ValueError, match=f"{game.id}: expected actions of "):
        env.step({agent: good[agent] for agent in others})
    with pytest.raises(ValueError, match=f"{game.id}: expected actions of "):
        env.step({**good, "nobody": good[first]})
    for wrong in (None, 0.5, "e4", [[0]], np.zeros(9, np.int64), [0.5, 0.5]):
        with pytest.raises(ValueError, match=f"whole number.* as action of player {first}, got"):
            env.step({**good, first: wrong})
    assert env.core_state().equal(before)
    env.step(good)

"""The games as PettingZoo's users see them: PettingZoo's own tests, and every moment as in the core."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from pettingzoo.test.api_test import api_test
from pettingzoo.test.parallel_test import parallel_api_test
from pettingzoo.test.seed_test import parallel_seed_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)
from pettingzoo_play import (
    Dress,
    aec,
    any_game,
    choose,
    either,
    game_at_once,
    game_in_turns,
    one_step,
    parts,
    play_on,
    raw,
    same,
)
from toy_games import Race, Sealed

from cellgames.envs import torus_v0
from cellgames.envs.adapters.pettingzoo_aec import AECGame, wrapped
from cellgames.envs.adapters.pettingzoo_parallel import ParallelGame
from cellgames.envs.core import Game, chance, seeds

# ---------------------------------------------------------------- PettingZoo's own tests


@pytest.fixture
def quiet() -> Iterator[None]:
    """Without the warnings that PettingZoo's tests give to its own games too."""
    about = (
        "Observation space for each agent probably",
        "Action space for each agent probably",
        "We recommend agents to be named",
        "Observation is not a NumPy array",
        "Action mask is not a NumPy array",
        "State numpy array is all zeros",
        "Observation numpy array is all zeros",
        "Action mask numpy array is a",
        ".*unknown option 'options'",  # which api_test passes to see whether reset takes options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for message in about:
            warnings.filterwarnings("ignore", message=message)
        yield


@any_game
@pytest.mark.usefixtures("quiet")
def test_pettingzoos_api_test_passes(game: Game, capsys: pytest.CaptureFixture[str]) -> None:
    api_test(aec(game), num_cycles=200)  # type: ignore[no-untyped-call]  # PettingZoo's
    if not game.info.simultaneous:
        api_test(raw(game), num_cycles=200)  # type: ignore[no-untyped-call]  # PettingZoo's
    assert "Passed API test" in capsys.readouterr().out


@game_at_once
@pytest.mark.usefixtures("quiet")
def test_pettingzoos_parallel_tests_pass(game: Game) -> None:
    parallel_api_test(raw(game), num_cycles=100)
    parallel_seed_test(lambda: raw(game), num_cycles=100)  # type: ignore[no-untyped-call]  # PettingZoo's


@any_game
@pytest.mark.usefixtures("quiet")
def test_pettingzoos_seed_test_passes(game: Game) -> None:
    seed_test(lambda: aec(game), num_cycles=100)  # type: ignore[no-untyped-call]  # PettingZoo's


@any_game
@pytest.mark.usefixtures("quiet")
def test_pettingzoos_state_test_passes(game: Game) -> None:
    env = aec(game)
    check_state_space(env)  # type: ignore[no-untyped-call]  # PettingZoo's
    if not game.info.simultaneous:  # the test plays illegal moves, of which the wrapper warns in the log
        check_state(env, num_cycles=2)


# ---------------------------------------------------------------- what stands on an environment


@any_game
def test_spaces_and_facts_are_those_of_the_game(game: Game) -> None:
    env, info = raw(game), game.info
    assert env.possible_agents == list(info.players)
    assert str(env) == env.metadata["name"] == game.id.replace("-", "_")
    assert env.metadata["render_modes"] == ["human", "rgb_array", "ansi"]
    assert env.metadata["is_parallelizable"] == info.simultaneous
    env.reset(seed=1)
    assert env.state_space.shape == info.board.shape
    assert env.state_space.contains(env.state())
    for agent in info.players:
        seen, action = env.observation_space(agent), env.action_space(agent)
        assert seen is env.observation_space(agent)
        assert seen["observation"].shape == info.observation.shape
        assert str(seen["observation"].dtype) == str(info.observation.dtype).removeprefix("torch.")
        if len(info.action_nvec) == 1:
            assert action == spaces.Discrete(info.num_actions)
        else:
            assert action == spaces.MultiDiscrete(list(info.action_nvec))
    own = [id(env.action_space(agent)) for agent in info.players]
    assert len(set(own)) == len(own)  # each is seeded for itself


@game_in_turns
def test_the_wrapped_environment_wears_pettingzoos_wrappers(game: Game) -> None:
    env = wrapped(AECGame(game))
    assert isinstance(env, OrderEnforcingWrapper)
    assert isinstance(env.env, AssertOutOfBoundsWrapper)
    assert isinstance(env.env.env, TerminateIllegalWrapper)
    assert isinstance(env.unwrapped, AECGame)
    assert str(env) == str(env.unwrapped)
    for name in (
        "agents",
        "agent_selection",
        "rewards",
        "terminations",
        "truncations",
        "infos",
        "num_agents",
    ):
        with pytest.raises(AttributeError, match=f"{name} cannot be accessed before reset|agents cannot be"):
            getattr(env, name)
    with pytest.raises(AttributeError, match="agent_selection cannot be accessed before reset"):
        env.last()


@any_game
def test_before_reset_the_raw_environment_says_what_is_missing(game: Game) -> None:
    env = raw(game)
    with pytest.raises(AttributeError, match="did you forget to call reset"):
        env.state()
    assert env._repr_html_() is None


def test_a_game_of_the_other_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="all players act at once; use ParallelGame"):
        AECGame(Sealed())
    with pytest.raises(ValueError, match="players act in turn; use AECGame"):
        ParallelGame(Race())


# ---------------------------------------------------------------- the same game as the core's


def infos_of(game: Game, state: Any, seat: int) -> dict[str, Any]:
    """What infos are to hold."""
    return {name: value[0].tolist() for name, value in game.infos(state, seat).items()}


@game_in_turns
@either
def test_every_moment_is_that_of_the_core_for_all_players(game: Game, dress: Dress) -> None:
    env, random, players = dress(AECGame(game)), np.random.default_rng(1), game.info.players
    for seed in range(6):
        env.reset(seed=seed)
        state = game.init(torch.tensor([seed]))
        owed = np.zeros(len(players))
        while not state.done:
            mover = int(state.current_player)
            assert env.agent_selection == players[mover]
            legal = game.legal_actions(state)[0].numpy()
            for seat, agent in enumerate(players):
                view = env.observe(agent)
                assert same(view["observation"], game.observe(state, seat)[0].numpy())
                masks = parts(view["action_mask"])
                assert all(mask.dtype == np.int8 for mask in masks)
                assert np.array_equal(np.concatenate(masks), legal if seat == mover else 0 * legal)
            assert np.array_equal(env.state(), game.board(state)[0].numpy())
            observation, reward, terminated, truncated, info = env.last()
            assert reward == owed[mover]
            assert not terminated
            assert not truncated
            assert info == infos_of(game, state, mover)
            assert info["score"] == float(state.scores[0, mover])
            action = choose(observation["action_mask"], random)
            env.step(action)
            state = game.step(state, torch.tensor([action] if isinstance(action, int) else action[None]))
            owed[mover] = 0
            owed += state.rewards[0].numpy()
            assert list(env.rewards.values()) == state.rewards[0].tolist()
        assert env.unwrapped.core_state().equal(state)
        check_dead_steps(game, env, state, owed)


def check_dead_steps(game: Game, env: Any, state: Any, owed: Any) -> None:
    """After the game each agent is told once what it is owed, steps with None, and is gone."""
    players = env.possible_agents
    assert env.agents == players
    for left in range(len(players), 0, -1):
        agent = env.agent_selection
        observation, reward, terminated, truncated, info = env.last()
        assert reward == owed[players.index(agent)]
        assert (terminated, truncated) == (bool(state.terminated), bool(state.truncated))
        assert info == infos_of(game, state, players.index(agent))
        assert not any(mask.any() for mask in parts(observation["action_mask"]))
        with pytest.raises((ValueError, AssertionError)):
            env.step(0)
        env.step(None)
        assert agent not in env.agents
        assert len(env.agents) == len(env.rewards) == len(env.infos) == left - 1
    assert list(env.agent_iter()) == []


@game_in_turns
def test_an_observation_is_the_callers_to_change(game: Game) -> None:
    env = raw(game)
    env.reset(seed=1)
    before = copy.deepcopy(env.last()[0])
    given, state = env.last()[0], env.state()
    given["observation"][...] = 1
    for mask in parts(given["action_mask"]):
        mask[...] = 1 - mask
    state[...] = 1
    assert same(env.last()[0], before)
    env.step(choose(before["action_mask"], np.random.default_rng(0)))


@game_at_once
def test_every_moment_of_a_simultaneous_game_is_that_of_the_core(game: Game) -> None:
    env, random, players = ParallelGame(game), np.random.default_rng(1), game.info.players
    for seed in range(6):
        observations, infos = env.reset(seed=seed)
        state = game.init(torch.tensor([seed]))
        assert infos == {agent: infos_of(game, state, seat) for seat, agent in enumerate(players)}
        while True:
            legal = game.legal_actions(state)[0].numpy()
            for seat, agent in enumerate(players):
                mask = observations[agent]["action_mask"]
                assert same(observations[agent]["observation"], game.observe(state, seat)[0].numpy())
                assert np.array_equal(np.concatenate(mask if isinstance(mask, tuple) else [mask]), legal[seat])
                assert state.done or env.observation_space(agent).contains(observations[agent])
            if state.done:
                break
            actions = {agent: choose(observations[agent]["action_mask"], random) for agent in players}
            observations, rewards, terminations, truncations, infos = env.step(actions)
            state = game.step(state, torch.tensor(np.array([actions[agent] for agent in players]))[None])
            assert list(rewards.values()) == state.rewards[0].tolist()
            assert terminations == dict.fromkeys(players, bool(state.terminated))
            assert truncations == dict.fromkeys(players, bool(state.truncated))
            assert [info["score"] for info in infos.values()] == state.scores[0].tolist()
            assert infos == {agent: infos_of(game, state, seat) for seat, agent in enumerate(players)}
            assert list(infos) == list(players)
        assert env.agents == []
        assert env.step({}) == ({}, {}, {}, {}, {})


@either
def test_last_tells_every_reward_once_however_turns_are_shared(dress: Dress) -> None:
    env, twice = dress(AECGame(Race())), 0
    for seed in range(40):
        env.reset(seed=seed)
        steps = play_on(env, seed)
        twice += sum(one[0] == two[0] for one, two in pairwise(steps))
        for agent in env.possible_agents:
            total = sum(reward for mover, _, reward, *_ in steps if mover == agent)
            assert total == sum(rewards[agent] for *_, rewards in steps if agent in rewards)
    assert twice > 20


# ---------------------------------------------------------------- seeds and options


@any_game
def test_a_seed_gives_the_cores_game_and_the_games_that_follow_in_a_env(game: Game) -> None:
    env, other = aec(game), aec(game)
    seed = int(seeds(9, 1))
    env.reset(seed=seed)
    assert env.unwrapped.core_state().equal(game.init(torch.tensor([seed])))
    following = torch.tensor([seed])
    for _ in range(3):
        play_on(env, moves=2)
        env.reset()
        following = chance.next_seed(following)
        assert env.unwrapped.core_state().equal(game.init(following))
    other.reset(seed=np.int64(seed))
    env.reset(seed=seed)
    assert same(play_on(env, 5), play_on(other, 5))


@any_game
def test_without_a_seed_the_first_game_is_a_random_one(game: Game) -> None:
    drawn = set()
    for _ in range(4):
        env = raw(game)
        env.reset()
        drawn.add(int(env.core_state().seed))
    assert len(drawn) == 4


@any_game
@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "7", True])
def test_a_bad_seed_is_refused(game: Game, seed: Any) -> None:
    with pytest.raises(ValueError, match=r"expected a seed from 0 to 2\*\*63 - 1, or None, got"):
        raw(game).reset(seed=seed)


@any_game
def test_a_game_starts_from_a_position(game: Game) -> None:
    env, other = aec(game), aec(game)
    env.reset(seed=4)
    play_on(env, moves=2 * one_step(game))
    state = env.unwrapped.core_state()
    line = game.state_to_string(state)
    other.reset(seed=11, options={"position": line})
    assert game.state_to_string(other.unwrapped.core_state()) == line
    assert int(other.unwrapped.core_state().seed) == 11
    assert np.array_equal(other.state(), env.state())
    if not game.info.simultaneous:
        assert other.agent_selection == env.agent_selection
        for agent in env.agents:
            assert same(other.observe(agent), env.observe(agent))
    other.reset()
    assert other.unwrapped.core_state().equal(game.init(chance.next_seed(torch.tensor([11]))))


@any_game
def test_a_bad_position_is_refused_and_the_game_goes_on(game: Game) -> None:
    env = raw(game)
    env.reset(seed=4)
    before = env.core_state()
    for wrong in ("nonsense", 7, ["x"], b"x"):
        with pytest.raises(ValueError, match=r"expected a .*, got "):
            env.reset(options={"position": wrong})
    state, random = before, np.random.default_rng(0)
    while not state.done:
        legal = game.legal_actions(state)[0].numpy().reshape(-1, game.info.num_actions)
        splits = np.cumsum(game.info.action_nvec)[:-1]
        chosen = [[choose(part, random) for part in np.split(row, splits)] for row in legal]
        shape = game.info.num_players if game.info.simultaneous else 1
        action = torch.tensor(chosen).view(1, shape, -1)
        action = action if len(game.info.action_nvec) > 1 else action.squeeze(2)
        state = game.step(state, action if game.info.simultaneous else action.squeeze(1))
    with pytest.raises(ValueError, match="expected a position to play on from, got a game that is over"):
        env.reset(options={"position": game.state_to_string(state)})
    assert env.core_state().equal(before)


def test_an_unknown_option_is_named_and_ignored() -> None:
    env = torus_v0.raw_env(size=3)
    with pytest.warns(UserWarning, match="reset ignores the unknown option 'postion'; known: position"):
        env.reset(seed=1, options={"postion": "x"})
    assert not env.state().any()

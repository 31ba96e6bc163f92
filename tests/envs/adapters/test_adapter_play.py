"""Games through every adapter, move for move: as in the core, or as in the library's own vector of single games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from adapter_doors import choose, parts
from every_game import generator
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from learner_play import GAMES, every_game, of_each, random_learner, same

from cellgames.envs import adapters as doors  # TorchRL takes seconds to import
from cellgames.envs.adapters import AECGame, ParallelGame, SeatEnv, SeatVecEnv, SeatVector, SeatVectorEnv
from cellgames.envs.adapters.pettingzoo_aec import Wrapped
from cellgames.envs.adapters.pettingzoo_common import masks_by_component
from cellgames.envs.core import Game, chance, seeds
from cellgames.envs.core.state import along_envs

game_in_turns = of_each({id: game for id, game in GAMES.items() if not game.info.simultaneous})
game_at_once = of_each({id: game for id, game in GAMES.items() if game.info.simultaneous})
either = pytest.mark.parametrize("dress", [lambda env: env, Wrapped], ids=["raw", "wrapped"])

pytestmark = pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested:UserWarning")


def infos_of(game: Game, state: Any, seat: int) -> dict[str, Any]:
    return {name: value[0].tolist() for name, value in game.infos(state, seat).items()}


@game_in_turns
@either
def test_every_moment_in_turns_is_that_of_the_core_for_all_players(game: Game, dress: Any) -> None:
    env, random, players = dress(AECGame(game)), np.random.default_rng(1), game.info.players
    for seed in range(4):
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
            assert (reward, terminated, truncated) == (owed[mover], False, False)
            assert info == infos_of(game, state, mover)
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


@game_at_once
def test_every_moment_of_a_simultaneous_game_is_that_of_the_core(game: Game) -> None:
    env, random, players = ParallelGame(game), np.random.default_rng(1), game.info.players
    for seed in range(4):
        observations, infos = env.reset(seed=seed)
        state = game.init(torch.tensor([seed]))
        while True:
            assert infos == {agent: infos_of(game, state, seat) for seat, agent in enumerate(players)}
            legal = game.legal_actions(state)[0].numpy()
            for seat, agent in enumerate(players):
                assert same(observations[agent]["observation"], game.observe(state, seat)[0].numpy())
                assert np.array_equal(np.concatenate(parts(observations[agent]["action_mask"])), legal[seat])
            if state.done:
                break
            actions = {agent: choose(observations[agent]["action_mask"], random) for agent in players}
            observations, rewards, terminations, truncations, infos = env.step(actions)
            state = game.step(state, torch.tensor(np.array([actions[agent] for agent in players]))[None])
            assert list(rewards.values()) == state.rewards[0].tolist()
            assert terminations == dict.fromkeys(players, bool(state.terminated))
            assert truncations == dict.fromkeys(players, bool(state.truncated))
        assert env.agents == []
        assert env.step({}) == ({}, {}, {}, {}, {})


@every_game
def test_spaces_and_metadata_of_pettingzoo_are_the_games(game: Game) -> None:
    env: Any = (ParallelGame if game.info.simultaneous else AECGame)(game)
    info = game.info
    assert str(env) == env.metadata["name"] == game.id.replace("-", "_")
    assert env.metadata["is_parallelizable"] == info.simultaneous
    env.reset(seed=1)
    assert env.state_space.contains(env.state())
    for agent in info.players:
        seen, nvec = env.observation_space(agent)["observation"], info.action_nvec
        assert (seen.shape, f"torch.{seen.dtype}") == (info.observation.shape, str(info.observation.dtype))
        space = spaces.Discrete(nvec[0]) if len(nvec) == 1 else spaces.MultiDiscrete(list(nvec))
        assert env.action_space(agent) == space


@every_game
def test_gymnasiums_game_is_that_of_the_seat_vector(game: Game) -> None:
    env: Any = SeatEnv(game)
    observation, info = env.reset(seed=5)
    vector = SeatVector(game, 1, seed=torch.tensor([5]))
    env.action_space.seed(1)
    games = 0
    while games < 2:
        assert observation in env.observation_space
        assert np.array_equal(observation, vector.observation[0].numpy())
        assert np.array_equal(env.action_masks(), vector.action_mask[0].numpy())
        assert same(info["action_mask"], masks_by_component(game, env.action_masks()))
        assert info["player"] == int(vector.player[0])
        action = env.action_space.sample(info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
        moved = vector.step(torch.as_tensor(action)[None])
        assert "illegal_action" not in info
        assert isinstance(reward, float)
        ends = bool(moved.terminated[0]), bool(moved.truncated[0])
        assert (reward, terminated, truncated) == (float(moved.rewards[0]), *ends)
        assert ("outcome" in info) == ("score" in info) == (terminated or truncated)
        if moved.ended is not None:
            games += 1
            assert np.array_equal(observation, moved.ended.observation[0].numpy())
            assert (info["outcome"], info["score"]) == (int(moved.ended.outcome[0]), float(moved.ended.scores[0]))
            assert env.core_state().equal(moved.ended.state)
            assert not env.action_masks().any()
            with pytest.raises(ResetNeeded):
                env.step(action)
            observation, info = env.reset()  # the game that follows
            assert env.vector.state.equal(vector.state)


@every_game
def test_gymnasiums_vector_equals_its_own_vector_of_single_games(game: Game) -> None:
    num_envs, steps = 3, min(2 * game.info.max_turns, 16)
    ours = SeatVectorEnv(game, num_envs)
    theirs = SyncVectorEnv([lambda: SeatEnv(game)] * num_envs, autoreset_mode=AutoresetMode.SAME_STEP)
    for name in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    line = game.state_to_string(game.step(first := game.init(seeds(1, 1)), game.random_actions(first, generator())))
    ended, random = 0, generator()
    starts: tuple[dict[str, Any], ...] = ({"seed": 6}, {"seed": [9, 2, 4], "options": {"position": line}})
    for start in starts:  # games that follow one that began at a position start as always
        assert same(ours.reset(**start), theirs.reset(**start))
        for _ in range(steps):
            actions = random_learner(ours.vector, random).numpy()
            assert actions in ours.action_space
            one, two = ours.step(actions), theirs.step(actions)
            assert same(one[:4], two[:4])
            assert same({k: one[4][k] for k in sorted(one[4])}, {k: two[4][k] for k in sorted(two[4])})
            assert np.array_equal(ours.action_masks(), np.stack(theirs.call("action_masks")))
            ended += int((one[2] | one[3]).sum())
    assert ended
    assert same(ours.reset(), theirs.reset())


@every_game
def test_sb3s_environment_equals_its_own_vector_of_single_games(game: Game) -> None:
    from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

    num_envs, steps = 3, min(2 * game.info.max_turns, 25)
    ours, theirs = SeatVecEnv(game, num_envs), DummyVecEnv([lambda: SeatEnv(game)] * num_envs)
    watched = VecMonitor(theirs)
    assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
    for env in (ours, theirs):
        env.seed(12)
    assert same(ours.reset(), watched.reset())
    random, ended = generator(), 0
    for _ in range(steps):
        masks: Any = ours.env_method("action_masks")
        assert np.array_equal(np.stack(masks), np.stack(theirs.env_method("action_masks")))
        actions = random_learner(ours.vector, random).numpy()
        one, two = ours.step(actions), watched.step(actions)
        assert same(one[:3], two[:3])
        for done, told, expected in zip(one[2], one[3], two[3], strict=True):
            if not done:
                assert told == {}
                continue
            for name in ("terminal_observation", "TimeLimit.truncated", "outcome", "score", "player"):
                assert same(told[name], expected[name])
            assert told["episode"]["r"] == pytest.approx(expected["episode"]["r"], abs=1e-5)
            assert told["episode"]["l"] == expected["episode"]["l"]
            ended += 1
    assert ended
    assert same(ours.reset(), theirs.reset())


def test_sb3s_envs_have_attributes_and_methods() -> None:
    from sb3_contrib.common.maskable.utils import is_masking_supported
    from stable_baselines3.common.monitor import Monitor

    game = GAMES["torus-small-v0"]
    env = SeatVecEnv(game, 4, seat="white", seed=1)
    env.reset()
    assert env.get_attr("player") == [1] * 4
    assert env.get_attr("game", indices=[0, 2]) == [game] * 2
    assert env.get_attr("render_mode") == [None] * 4
    env.set_attr("stage", 7, indices=1)
    assert env.get_attr("stage", indices=1) == [7]
    assert not env.has_attr("stage")  # of all envs
    assert env.has_attr("action_masks")
    assert is_masking_supported(env)
    masks = env.env_method("action_masks", indices=[3, 0])
    assert np.array_equal(masks, env.action_masks()[[3, 0]])
    assert env.env_is_wrapped(Monitor) == [False] * 4
    with pytest.raises(AttributeError):
        env.get_attr("stages")
    masks[0][:] = True
    assert not env.action_masks().all()  # what is handed out is a copy


def seen(env: doors.TorchRLGame, td: Any) -> tuple[Any, ...]:
    td = td["agents"] if env.game.info.simultaneous else td
    return td["observation"].numpy(), td["action_mask"].numpy()


def of_the_core(game: Game, state: Any) -> tuple[Any, ...]:
    legal = game.legal_actions(state)
    mask = legal | along_envs(state.done, legal.ndim)
    if not game.info.simultaneous:
        return game.observe(state, state.current_player).numpy(), mask.numpy()
    views = torch.stack([game.observe(state, seat) for seat in range(game.info.num_players)], 1)
    return views.numpy(), mask.numpy()


@every_game
def test_torchrls_rollout_is_the_games_that_a_vector_plays(game: Game) -> None:
    from torchrl.envs import ActionMask, StepCounter, TransformedEnv

    env = doors.TorchRLGame(game, 3, seed=5)
    group = (env.action_key[0],) if game.info.simultaneous else ()
    whole = TransformedEnv(env, StepCounter()).append_transform(ActionMask(env.action_key, (*group, "action_mask")))
    rollout = whole.rollout(game.info.max_turns + 3, break_when_any_done=False)
    vector = game.vector(3, seed=5, compile="never")
    assert rollout["next", "done"].any()
    assert rollout["next", "step_count"].max() <= game.info.max_turns
    for td in rollout.unbind(1):
        before = vector.state.clone()
        assert same(seen(env, td), of_the_core(game, before))
        assert not td["done"].any()
        after, step = game.step(before, td[env.action_key]), vector.step(td[env.action_key])
        assert same(seen(env, td["next"]), of_the_core(game, after))
        assert torch.equal(td["next", env.reward_key].flatten(1), step.rewards)
        for name, flags in (("terminated", step.terminated), ("truncated", step.truncated), ("done", after.done)):
            assert torch.equal(td["next", name], flags[:, None])
        if not game.info.simultaneous:
            assert torch.equal(td["current_player"], before.current_player)


@every_game
def test_torchrl_resets_and_steps_some_envs_and_leaves_the_others_alone(game: Game) -> None:
    from torchrl.envs.utils import step_mdp

    env, chosen = doors.TorchRLGame(game, 3, seed=2), torch.tensor([[False], [True], [False]])
    td = step_mdp(env.rand_step(env.reset()))
    before = env.core_state()
    td = env.reset(td.set("_reset", chosen))
    after = env.core_state()
    assert after[[0, 2]].equal(before[[0, 2]])
    assert after[1].equal(game.init(chance.next_seed(seeds(2, 3))[1:2]))
    assert same(seen(env, td), of_the_core(game, after))
    actions = game.random_actions(after, generator())
    actions[1] = -1  # of an env that does not step: nobody looks at it
    td = env.step(td.set(env.action_key, actions).set("_step", ~chosen.squeeze(1)))
    for leaf in td.values(include_nested=True, leaves_only=True):
        leaf.zero_()  # tensors are the caller's to change
    moved = env.core_state()
    assert moved[[0, 2]].equal(game.step(after[[0, 2]], game.random_actions(after, generator())[[0, 2]]))
    assert moved[1].equal(after[1].replace(rewards=torch.zeros_like(after.rewards[1:2])))


@every_game
def test_torchrls_finished_game_stays_as_it_is_until_it_is_reset(game: Game) -> None:
    from torchrl.envs.utils import step_mdp

    torch.manual_seed(0)  # TorchRL draws random actions from the global generator
    env = doors.TorchRLGame(game, 3)
    assert env.rollout(game.info.max_turns, break_when_all_done=True)["next", "done"][:, -1].all()
    td = env.reset()
    for _ in range(game.info.max_turns + 1):
        td = env.rand_step(td)
        last, td = td["next"], step_mdp(td)
    assert last["done"].all()
    assert not last[env.reward_key].any()
    assert seen(env, last)[1].all()
    state = env.core_state()
    env.rand_step(td)
    assert env.core_state().equal(state)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@every_game
def test_torchrls_games_are_the_same_on_a_gpu(game: Game) -> None:
    env, there = doors.TorchRLGame(game, 3, seed=4), doors.TorchRLGame(game, 3, seed=4).to("cuda")
    td, moved, random = env.reset(), there.reset(), generator()
    for _ in range(game.info.max_turns):
        actions = game.random_actions(env.core_state(), random)
        td = env.step_and_maybe_reset(td.set(env.action_key, actions))[1]
        moved = there.step_and_maybe_reset(moved.set(env.action_key, actions.cuda()))[1]
        assert env.core_state().equal(there.core_state())
    assert moved.device.type == "cuda"

"""Gymnasium's interfaces: one environment, and many at once that are the same environment."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from every_game import generator, smaller
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from learner_play import GAMES, REGISTERED, Habit, every_game, random_learner
from slow import slow_except
from toy_games import Race, Sealed

import cellgames
from cellgames.envs.adapters import register
from cellgames.envs.adapters.gymnasium_env import SeatEnv
from cellgames.envs.adapters.gymnasium_vector import SeatVectorEnv
from cellgames.envs.adapters.learner_games import masks_by_component
from cellgames.envs.adapters.seats import SeatVector
from cellgames.envs.core import Game, chance
from cellgames.envs.core.raster import to_rgb

every_registered = pytest.mark.parametrize("id", slow_except(smaller(REGISTERED), REGISTERED))


@pytest.fixture(autouse=True)
def _no_display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield
    if sys.modules.get("pygame"):
        sys.modules["pygame"].display.quit()


def same(one: Any, two: Any) -> bool:
    """Nested dicts, tuples and arrays, by content and dtype."""
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, np.ndarray):
        if one.dtype == object:
            return one.shape == two.shape and same(list(one), list(two))
        return bool(one.dtype == two.dtype) and np.array_equal(one, two)
    return bool(one == two)


def made(id: str, **more: Any) -> Any:
    """The registered environment, with what makes the game short."""
    game = REGISTERED[id]
    return gymnasium.make(f"cellgames/{id}", **{**game.parameters, **more})


# ---------------------------------------------------------------- one environment


@every_registered
def test_gymnasiums_checker_passes(id: str) -> None:
    env = made(id)
    assert env.unwrapped.game == REGISTERED[id]
    check_env(env.unwrapped)


def test_ids_may_name_the_package_that_registers_them() -> None:
    env: Any = gymnasium.make("cellgames:cellgames/torus-v0", size=3, opponents="greedy")
    assert env.unwrapped.game == cellgames.make("torus-v0", size=3)
    envs: Any = gymnasium.make_vec("cellgames:cellgames/torus-v0", num_envs=2, opponents="greedy", size=3)
    assert repr(envs) == "SeatVectorEnv(Torus(size=3), 2 envs)"
    assert env.unwrapped.vector.opponents[0].name == envs.vector.opponents[0].name == "greedy"


def test_gymnasium_makes_a_vector_of_single_environments() -> None:
    """Its `make_vec` hands the arguments of the specification to `make`, which has an argument `id` of its own."""
    envs = gymnasium.make_vec("cellgames/torus-v0", num_envs=2, vectorization_mode="sync", opponents="greedy", size=3)
    assert isinstance(envs, SyncVectorEnv)
    _, infos = envs.reset(seed=1)
    assert infos["action_mask"].shape == (2, 18)


@every_game
def test_a_game_gives_what_the_seat_vector_gives_and_its_masks_sample(game: Game) -> None:
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
        assert reward == float(moved.rewards[0])
        assert (terminated, truncated) == (bool(moved.terminated[0]), bool(moved.truncated[0]))
        assert ("outcome" in info) == ("score" in info) == (terminated or truncated)
        if moved.ended is not None:
            games += 1
            assert observation in env.observation_space
            assert np.array_equal(observation, moved.ended.observation[0].numpy())
            assert info["outcome"] == int(moved.ended.outcome[0])
            assert info["score"] == float(moved.ended.scores[0])
            assert not env.action_masks().any()
            assert same(info["action_mask"], masks_by_component(game, env.action_masks()))
            with pytest.raises(ResetNeeded, match="the game is over"):
                env.step(action)
            observation, info = env.reset()  # the game that follows
            assert env.vector.state.equal(vector.state)


def test_resets_start_the_game_of_the_seed_or_the_next() -> None:
    env = SeatEnv("torus-small-v0")
    first, _ = env.reset(seed=3)
    assert int(env.vector.state.seed[0]) == 3
    env.step(int(env.action_masks().argmax()))
    env.reset()
    assert int(env.vector.state.seed[0]) == chance.next_seed(3)
    again, _ = env.reset(seed=3)
    assert np.array_equal(first, again)
    fresh = {int(SeatEnv("torus-small-v0").vector.state.seed[0]) for _ in range(3)}
    assert len(fresh) == 3  # random without a seed
    with pytest.raises(ValueError, match="expected a position of size 5"):
        env.reset(options={"position": "x"})


def test_an_illegal_action_loses_a_game_in_turns() -> None:
    env = SeatEnv(cellgames.make("torus-v0", size=3), seat="white")
    before, info = env.reset(seed=4)
    taken = int(info["action_mask"].argmin())
    observation, reward, terminated, truncated, info = env.step(taken)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert np.array_equal(observation, before)
    assert info["outcome"] == -1
    assert info["illegal_action"].startswith(f"torus-v0: illegal action {taken} of player white in env 0: cell ")
    assert not env.action_masks().any()
    env.reset()
    assert env.action_masks().any()


def test_an_illegal_choice_is_replaced_where_all_act_at_once() -> None:
    env = SeatEnv(Sealed())
    env.reset(seed=4)
    _, _, terminated, truncated, info = env.step(np.array([2, 1]))
    assert not terminated
    assert not truncated
    assert info["illegal_action"].endswith("component 1: this round takes no guesses; played 2 instead")


@pytest.mark.parametrize("action", [1.0, float("nan"), None, "a1", -1, 50, [0], [[0]], True])
def test_what_is_no_action_is_refused(action: Any) -> None:
    env = SeatEnv("torus-small-v0")
    env.reset(seed=4)
    before = env.vector.state.clone()
    with pytest.raises(ValueError, match=r"^torus-v0: (expected whole numbers|illegal action|actions must have shape)"):
        env.step(action)
    assert env.vector.state.equal(before)


@every_registered
def test_pictures_and_text_are_those_of_the_core_and_last_show_the_final_position(id: str) -> None:
    env, text = made(id, render_mode="rgb_array").unwrapped, made(id, render_mode="ansi").unwrapped
    for one in (env, text):
        one.reset(seed=2)
    random, done, step = generator(), False, 0
    while not done:
        if step < 2:
            assert np.array_equal(env.render(), to_rgb(env.game.draw(env.vector.state)))
            assert text.render() == text.game.text(text.vector.state)
        step += 1
        action = random_learner(env.vector, random)[0].numpy()
        *_, terminated, truncated, _ = env.step(action)
        text.step(action)
        done = terminated or truncated
    assert env._final is not None
    assert env._final.done.all()
    assert np.array_equal(env.render(), to_rgb(env.game.draw(env._final)))
    assert text.render() == env.game.text(env._final)


def test_a_window_shows_every_step_and_render_without_a_mode_warns() -> None:
    env = SeatEnv("torus-small-v0", render_mode="human")
    env.metadata = {**env.metadata, "render_fps": 100_000}
    env.reset(seed=1)
    import pygame

    def shown() -> Any:
        surface = pygame.display.get_surface()
        assert surface is not None
        return pygame.surfarray.array3d(surface)

    first = shown()
    env.step(int(env.action_masks().argmax()))
    assert (shown() != first).any()
    assert env.render() is None
    env.close()
    assert pygame.display.get_surface() is None
    silent = SeatEnv("torus-small-v0")
    silent.reset(seed=1)
    with pytest.warns(UserWarning, match="without specifying any render mode"):
        assert silent.render() is None
    with pytest.raises(ValueError, match="expected a render_mode of human, rgb_array, ansi, got 'svg'"):
        SeatEnv("torus-small-v0", render_mode="svg")  # type: ignore[arg-type]  # on purpose


# ---------------------------------------------------------------- many environments


@every_game
def test_many_environments_equal_gymnasiums_own_vector_of_single_ones(game: Game) -> None:
    num_envs, steps = 3, min(2 * game.info.max_turns, 25)
    ours = SeatVectorEnv(game, num_envs)
    theirs = SyncVectorEnv([lambda: SeatEnv(game)] * num_envs, autoreset_mode=AutoresetMode.SAME_STEP)
    for name in ("observation_space", "action_space", "single_observation_space", "single_action_space"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    seeds: tuple[Any, ...] = (6, [9, 2, 4])
    for seed in seeds:
        assert same(ours.reset(seed=seed), theirs.reset(seed=seed))
    ended, random = 0, generator()
    for _ in range(steps):
        actions = random_learner(ours.vector, random).numpy()
        assert actions in ours.action_space
        one, two = ours.step(actions), theirs.step(actions)
        assert same(one[:4], two[:4])
        assert one[4].keys() == two[4].keys()
        assert same({k: one[4][k] for k in sorted(one[4])}, {k: two[4][k] for k in sorted(two[4])})
        assert np.array_equal(ours.action_masks(), np.stack(theirs.call("action_masks")))
        ended += int((one[2] | one[3]).sum())
    assert ended
    assert same(ours.reset(), theirs.reset())


@pytest.mark.parametrize("game", [Race(), Sealed()], ids=["in turns", "at once"])
def test_illegal_actions_are_told_as_in_single_environments(game: Game) -> None:
    ours = SeatVectorEnv(game, 4)
    theirs = SyncVectorEnv([lambda: SeatEnv(game)] * 4, autoreset_mode=AutoresetMode.SAME_STEP)
    ours.reset(seed=1)
    theirs.reset(seed=1)
    ours.action_space.seed(0)
    illegal = 0
    for _ in range(12):
        actions = ours.action_space.sample()
        one, two = ours.step(actions), theirs.step(actions)
        infos = [dict(outcome[4]) for outcome in (one, two)]
        for info in infos:  # they name the env, of which a single environment has one
            for texts in (info.get("illegal_action"), info.get("final_info", {}).get("illegal_action")):
                if texts is not None:
                    illegal += 1
                    texts[:] = [None if text is None else text.partition(" in env ")[0] for text in texts]
        assert same(one[:4], two[:4])
        assert same({k: infos[0][k] for k in sorted(infos[0])}, {k: infos[1][k] for k in sorted(infos[1])})
    assert illegal


def test_gymnasiums_episode_statistics_are_the_games() -> None:
    env = SeatVectorEnv(Race(), 6, Habit(2))
    recorded: Any = RecordEpisodeStatistics(env)
    recorded.reset(seed=3)
    plain = SeatVector(Race(), 6, Habit(2), seed=3 + torch.arange(6))
    random, games = generator(), 0
    for _ in range(25):
        actions = random_learner(env.vector, random)
        *_, infos = recorded.step(actions.numpy())
        moved = plain.step(actions)
        assert ("episode" in infos) == (moved.ended is not None)
        if moved.ended is not None:
            env_ids = moved.ended.env_ids.numpy()
            assert infos["episode"]["r"][env_ids] == pytest.approx(moved.ended.returns.numpy(), abs=1e-5)
            assert infos["episode"]["l"][env_ids].tolist() == moved.ended.lengths.tolist()
            games += len(env_ids)
    assert games > 6


def test_a_vector_draws_every_env() -> None:
    env = SeatVectorEnv("torus-small-v0", 3, render_mode="rgb_array")
    env.reset(seed=1)
    pictures = env.render()
    assert pictures is not None
    expected = [to_rgb(env.game.draw(env.vector.state[env_id])) for env_id in range(3)]
    assert all(map(np.array_equal, pictures, expected))
    with pytest.raises(ValueError, match="expected a render_mode of 'rgb_array' or None, got 'human'"):
        SeatVectorEnv("torus-small-v0", 3, render_mode="human")


@pytest.mark.parametrize(("seed", "got"), [(-1, "-1"), (2**63, str(2**63)), (1.5, "1.5"), (True, "True")])
def test_bad_seeds_and_numbers_of_envs_are_refused(seed: Any, got: str) -> None:
    env = SeatVectorEnv("torus-small-v0", 2)
    with pytest.raises(ValueError, match=r"torus-v0: expected a seed from 0 to 2\*\*63 - 1, or None, got"):
        env.reset(seed=[0, seed])
    with pytest.raises(ValueError, match="torus-v0: expected 2 seeds, one per env, got 3"):
        env.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match="torus-v0: expected from 1 to"):
        SeatVectorEnv("torus-small-v0", 0)
    with pytest.raises(ValueError, match="reset knows the option 'position', got 'reset_mask'"):
        env.reset(options={"reset_mask": np.array([True, False])})


# ---------------------------------------------------------------- Gymnasium's registry


def test_gymnasiums_registry_takes_parameters_and_opponents() -> None:
    habit = Habit(3)
    env: Any = gymnasium.make("cellgames/torus-v0", size=3, seat="black", opponents=habit)
    assert env.unwrapped.game == cellgames.make("torus-v0", size=3)
    env.reset(seed=1)
    assert int(env.unwrapped.vector.player[0]) == 0
    env.step(0)
    assert isinstance(env.unwrapped.vector.opponents[0], Habit)
    many: Any = gymnasium.make_vec("cellgames/torus-v0", num_envs=3, size=3, seat="white")
    assert isinstance(many, SeatVectorEnv)
    assert many.vector.player.tolist() == [1, 1, 1]
    for id in REGISTERED:
        spec = gymnasium.spec(f"cellgames/{id}")
        assert pickle.loads(pickle.dumps(spec)) == spec
    with pytest.raises(ValueError, match="torus-v0: unknown parameter 'sizes'; known: size"):
        gymnasium.make("cellgames/torus-v0", sizes=3)


def test_registering_twice_changes_nothing() -> None:
    before = dict(gymnasium.registry)
    register()
    assert gymnasium.registry == before


def test_every_game_has_a_single_learner() -> None:
    assert {f"cellgames/{id}" for id in REGISTERED} <= set(gymnasium.registry)
    assert set(REGISTERED) < set(GAMES)


# ---------------------------------------------------------------- notebooks


def test_a_notebook_draws_the_games_and_repr_says_who_the_learner_is() -> None:
    env = SeatEnv(cellgames.make("torus-v0", size=3), seat="white")
    env.reset(seed=1)
    assert repr(env) == "SeatEnv(Torus(size=3), learner is white, 1 steps played)"
    assert env._repr_html_() == env.game.draw(env.core_state())._repr_html_()
    many = SeatVectorEnv("torus-small-v0", 3)
    assert repr(many) == "SeatVectorEnv(Torus(size=5), 3 envs)"
    assert many._repr_html_() == many.game.draw_batch(many.vector.state)._repr_html_()

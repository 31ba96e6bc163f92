"""Stable-Baselines3's `VecEnv` on the batch: what `DummyVecEnv` of single environments is, and what learners need."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from every_game import generator
from learner_play import REGISTERED, Habit, every_game, random_learner
from toy_games import Race, Sealed

import cellgames
from cellgames.envs.adapters.gymnasium_env import SeatEnv
from cellgames.envs.core import Game

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

from cellgames.envs.adapters.sb3 import SeatVecEnv

TORUS = cellgames.make("torus-v0", size=2)
GRID = REGISTERED["grid-adaptation-small-v0"]
CHECKED = [*REGISTERED.values(), Race(), Sealed()]


def run(env: Any, batch: SeatVecEnv, steps: int, seed: int = 3) -> list[Any]:
    """What random legal actions lead to; `batch` is the environment below `env`'s wrappers."""
    random = generator(seed)
    return [env.step(random_learner(batch.vector, random).numpy()) for _ in range(steps)]


@pytest.mark.parametrize("game", CHECKED, ids=[game.id for game in CHECKED])
def test_sb3s_checker_passes_on_the_single_environment(game: Game) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # boards are no images, whatever their shape
        check_env(SeatEnv(game))


@every_game
def test_it_equals_sb3s_own_vector_of_single_environments(game: Game) -> None:
    num_envs, steps = 3, min(2 * game.info.max_turns, 25)
    ours, theirs = SeatVecEnv(game, num_envs), DummyVecEnv([lambda: SeatEnv(game)] * num_envs)
    assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
    for env in (ours, theirs):
        env.seed(12)
    assert np.array_equal(ours.reset(), theirs.reset())  # type: ignore[arg-type]  # an array
    random, ended = generator(), 0
    for _ in range(steps):
        masks = ours.env_method("action_masks")
        assert isinstance(masks, list)
        assert np.array_equal(np.stack(masks), np.stack(theirs.env_method("action_masks")))
        assert np.array_equal(get_action_masks(ours), np.stack(masks))
        actions = random_learner(ours.vector, random).numpy()
        one, two = ours.step(actions), theirs.step(actions)
        for part, other in zip(one[:3], two[:3], strict=True):
            assert part.dtype == other.dtype  # type: ignore[union-attr]  # arrays
            assert np.array_equal(part, other)  # type: ignore[arg-type]  # same
        for done, told, expected in zip(one[2], one[3], two[3], strict=True):
            if not done:
                assert told == {}
                continue
            assert np.array_equal(told["terminal_observation"], expected["terminal_observation"])
            for name in ("TimeLimit.truncated", "outcome", "score", "player"):
                assert told[name] == expected[name]
            ended += 1
    assert ended
    assert np.array_equal(ours.reset(), theirs.reset())  # type: ignore[arg-type]  # an array


@every_game
def test_episodes_are_those_that_sb3s_monitor_counts(game: Game) -> None:
    env, told = SeatVecEnv(game, 4, Habit(1), seed=3), SeatVecEnv(game, 4, Habit(1), seed=3)
    watched = VecMonitor(env)
    watched.reset()
    told.reset()
    steps, games = min(2 * game.info.max_turns, 25), 0
    for counted, ours in zip(run(watched, env, steps), run(told, told, steps), strict=True):
        for done, one, two in zip(ours[2], counted[3], ours[3], strict=True):
            assert ("episode" in one) == ("episode" in two) == done
            if done:
                assert two["episode"]["r"] == pytest.approx(one["episode"]["r"], abs=1e-5)
                assert two["episode"]["l"] == one["episode"]["l"]
                assert two["episode"]["t"] >= 0
                games += 1
    assert games


def test_infos_are_every_envs_own() -> None:
    env = SeatVecEnv("torus-small-v0", 5, seed=3)
    env.reset()
    for _, _, _, infos in run(env, env, 30):
        assert len({id(info) for info in infos}) == 5
        infos[0]["mine"] = True
        assert all("mine" not in info for info in infos[1:])


@pytest.mark.parametrize("game", [Race(limit=4), TORUS], ids=["limit", "no limit"])
def test_games_that_were_cut_off_say_so(game: Game) -> None:
    env = SeatVecEnv(game, 20, seed=3)
    env.reset()
    cut = [info["TimeLimit.truncated"] for step in run(env, env, 10) for info in step[3] if info]
    assert any(cut) == isinstance(game, Race)
    assert not all(cut)


def test_sb3s_normalization_works_on_it(tmp_path: Any) -> None:
    env = SeatVecEnv(TORUS, 8, seed=1)
    normal = VecNormalize(env, norm_reward=False)
    normal.reset()
    for observation, _, dones, infos in run(normal, env, 40):
        assert observation.dtype == np.float32
        for done, info in zip(dones, infos, strict=True):
            if done:
                assert info["terminal_observation"].dtype == np.float32
    assert isinstance(normal.obs_rms, RunningMeanStd)
    assert normal.obs_rms.count > 300
    normal.save(str(tmp_path / "normal.pkl"))
    again = VecNormalize.load(str(tmp_path / "normal.pkl"), SeatVecEnv(TORUS, 8, seed=1))
    assert isinstance(again.obs_rms, RunningMeanStd)
    assert np.array_equal(again.obs_rms.mean, normal.obs_rms.mean)


def test_envs_have_attributes_and_methods() -> None:
    env = SeatVecEnv(TORUS, 4, seat="white", seed=1)
    env.reset()
    assert env.get_attr("player") == [1] * 4
    assert env.get_attr("game", indices=[0, 2]) == [TORUS] * 2
    assert env.get_attr("render_mode") == [None] * 4
    env.set_attr("stage", 7, indices=1)
    assert env.get_attr("stage", indices=1) == [7]
    assert not env.has_attr("stage")  # of all envs
    assert env.has_attr("action_masks")
    assert is_masking_supported(env)
    masks = env.env_method("action_masks", indices=[3, 0])
    assert np.array_equal(masks, env.action_masks()[[3, 0]])
    assert env.env_is_wrapped(Monitor) == [False] * 4
    with pytest.raises(AttributeError, match="no attribute 'stages'"):
        env.get_attr("stages")
    masks[0][:] = True
    assert not env.action_masks().all()  # what is handed out is a copy


def test_seeds_resets_and_options() -> None:
    one, two = SeatVecEnv("torus-small-v0", 6, seed=5), SeatVecEnv("torus-small-v0", 6)
    assert two.seed(5) == [5, 6, 7, 8, 9, 10]
    first = one.reset()
    assert np.array_equal(first, two.reset())
    assert not np.array_equal(first, one.reset())  # the games that follow
    one.seed(5)
    assert np.array_equal(first, one.reset())
    assert one.vector.state.seed.tolist() == [5, 6, 7, 8, 9, 10]
    one.set_options({"position": "x"})
    with pytest.raises(ValueError, match="expected a position of size 5"):
        one.reset()


def test_pictures_of_all_envs_stand_side_by_side() -> None:
    env = SeatVecEnv("torus-small-v0", 4, seed=1, render_mode="rgb_array")
    env.reset()
    images = env.get_images()
    assert images[0] is not None
    height, width, _ = images[0].shape
    shown = env.render()
    assert shown is not None
    assert shown.shape == (2 * height, 2 * width, 3)
    with pytest.raises(ValueError, match="expected a render_mode of 'rgb_array' or None, got 'human'"):
        SeatVecEnv("torus-small-v0", 4, render_mode="human")  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("number", [-1, 8, float("nan"), 0.5, 2**40])
def test_numbers_that_are_no_actions_are_refused(number: float) -> None:
    env = SeatVecEnv(TORUS, 3, seed=1)
    env.reset()
    with pytest.raises(
        ValueError, match=r"torus-v0: (expected whole numbers as actions, got|illegal action .* in env 2)"
    ):
        env.step(np.array([0, 0, number]) if isinstance(number, float) else np.array([7, 7, number]))
    with pytest.raises(
        ValueError, match=r"actions must have shape \[B\] = \[3\], one of the learner's per env, got \[2\]"
    ):
        env.step(np.array([0, 0]))


def test_an_illegal_action_loses_and_is_told() -> None:
    env = SeatVecEnv(cellgames.make("torus-v0", size=3), 3, seat="white", seed=1)
    env.reset()
    actions = env.action_masks().argmax(1)
    actions[1] = env.action_masks()[1].argmin()
    _, rewards, dones, infos = env.step(actions)
    assert rewards.tolist() == [0.0, -1.0, 0.0]
    assert dones.tolist() == [False, True, False]
    assert infos[1]["illegal_action"].endswith("is taken; the game is lost")
    assert infos[1]["episode"]["r"] == -1.0
    assert infos[0] == infos[2] == {}


@pytest.mark.parametrize("game", [TORUS, GRID], ids=["torus", "grid"])
def test_maskable_ppo_learns_on_it_and_plays_no_illegal_action(game: Game) -> None:
    env = SeatVecEnv(game, 4, "random", seed=1)
    model = MaskablePPO("MlpPolicy", VecMonitor(env), n_steps=16, batch_size=32, n_epochs=1, seed=3)
    before = {name: weight.clone() for name, weight in model.policy.state_dict().items()}

    def step_wait() -> Any:
        moved = SeatVecEnv.step_wait(env)
        assert not any("illegal_action" in info for info in moved[3])
        return moved

    env.step_wait = step_wait  # type: ignore[method-assign]
    model.learn(96)
    assert model.num_timesteps == 128
    assert any((weight != before[name]).any() for name, weight in model.policy.state_dict().items())
    assert len(model.ep_info_buffer or ()) > 5


def test_an_illegal_action_has_no_chance_in_the_policy() -> None:
    env = SeatVecEnv(GRID, 3, seed=1)
    observation, masks = env.reset(), env.action_masks()
    model = MaskablePPO("MlpPolicy", env, n_steps=8, seed=3)
    distribution = model.policy.get_distribution(torch.as_tensor(observation).float(), masks)
    probabilities = torch.cat([part.probs for part in distribution.distributions], 1)  # type: ignore[attr-defined]  # of MultiDiscrete
    assert (probabilities[torch.as_tensor(~masks)] < 1e-12).all()
    assert (probabilities[torch.as_tensor(masks)] > 0).any()


def test_sb3s_evaluation_counts_games_by_their_results() -> None:
    env = SeatVecEnv(TORUS, 4, "greedy", seed=1)
    model = MaskablePPO("MlpPolicy", env, n_steps=8, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that no Monitor is around it
        rewards, lengths = evaluate_policy(model, env, 40, return_episode_rewards=True)
    assert isinstance(rewards, list)
    assert set(rewards) <= {-1.0, 1.0}
    assert sum(rewards) < -10
    assert max(lengths) <= 4  # type: ignore[arg-type]  # a list

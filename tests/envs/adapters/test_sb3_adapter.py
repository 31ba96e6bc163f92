"""Stable-Baselines3's `VecEnv` on the batch: what `DummyVecEnv` of single environments is, and what learners need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from learner_play import REGISTERED

import cellgames
from cellgames.envs.core import Game

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor

from cellgames.envs.adapters.sb3 import SeatVecEnv

TORUS = cellgames.make("torus-v0", size=2)
GRID = REGISTERED["grid-adaptation-small-v0"]


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
    with pytest.raises(AttributeError):
        env.get_attr("stages")
    masks[0][:] = True
    assert not env.action_masks().all()  # what is handed out is a copy


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

"""MaskablePPO on PettingZoo's connect_four, alone and through SuperSuit.

Run it by `python -m benchmarks.training.learning_peers NAME`.

PettingZoo's tutorial "SB3: Action Masked PPO for Connect Four" is the model, with three things done differently,
since it asks for Gymnasium 0.29 or older and knows no SuperSuit:

- Its wrapper is a PettingZoo wrapper that sb3-contrib's `ActionMasker` takes for a Gymnasium environment. Gymnasium 1
  does not, so `OnePlayerAtATime` is a `gymnasium.Env`; its `action_masks` serves MaskablePPO without `ActionMasker`.
- SuperSuit's `pettingzoo_env_to_vec_env_v1`, which PettingZoo's other tutorials use, takes parallel environments only,
  and its vector environments hand on no masks. So the copies come from `stable_baselines3_vec_env_v0`, in this
  process (SB3's DummyVecEnv) or in one each (SubprocVecEnv).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from benchmarks.measurement import Measurement, serve
from benchmarks.training.learning_maskable import LARGE_BATCHES, TUTORIAL, Settings, learn

__all__ = ["PEERS", "OnePlayerAtATime"]

COPIES = 8


class OnePlayerAtATime(gymnasium.Env[npt.NDArray[np.int8], int]):
    """An AEC environment of two players as one environment in which the policy plays both, move by move.

    As in the tutorial, an observation is that of the player to act, and a reward that of the one who has acted.
    """

    def __init__(self, env: Any) -> None:
        self.env = env
        player = env.possible_agents[0]
        self.observation_space = env.observation_space(player)["observation"]
        self.action_space = env.action_space(player)
        self._seen: dict[str, Any] = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.int8], dict[str, Any]]:
        """A new game."""
        super().reset(seed=seed)
        self.env.reset(seed=seed)
        return self._observe(), {}

    def step(self, action: int) -> tuple[npt.NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """A move of the player whose turn it is."""
        mover = self.env.agent_selection
        self.env.step(int(action))
        ends = self.env.terminations[mover], self.env.truncations[mover]
        return self._observe(), float(self.env.rewards[mover]), *ends, {}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Bool [A], of the player to act."""
        mask: npt.NDArray[np.bool_] = self._seen["action_mask"].astype(np.bool_)
        return mask

    def _observe(self) -> npt.NDArray[np.int8]:
        self._seen = self.env.observe(self.env.agent_selection)
        observation: npt.NDArray[np.int8] = self._seen["observation"]
        return observation


def _connect_four() -> OnePlayerAtATime:
    import pettingzoo

    return OnePlayerAtATime(pettingzoo.make("aec", "classic/connect_four-v3"))


def pettingzoo_tutorial(seconds: float) -> Measurement:
    """One environment, as the tutorial has it."""
    return learn("pettingzoo_tutorial", "pettingzoo", _connect_four(), 1, TUTORIAL, seconds)


def supersuit_copies(seconds: float, *, name: str, settings: Settings, multiprocessing: bool = False) -> Measurement:
    """`COPIES` of it by SuperSuit."""
    import supersuit

    env = supersuit.stable_baselines3_vec_env_v0(_connect_four(), COPIES, multiprocessing)
    try:
        return learn(name, "supersuit", env, COPIES, settings, seconds)
    finally:
        env.close()


def _supersuit(
    name: str, settings: Settings, multiprocessing: bool = False
) -> dict[str, Callable[[float], Measurement]]:
    measure = partial(supersuit_copies, name=name, settings=settings, multiprocessing=multiprocessing)
    return {name: measure}


PEERS: dict[str, Callable[[float], Measurement]] = {
    "pettingzoo_tutorial": pettingzoo_tutorial,
    **_supersuit("supersuit_tutorial", TUTORIAL),
    **_supersuit("supersuit_large_batches", LARGE_BATCHES),
    **_supersuit("supersuit_processes", LARGE_BATCHES, multiprocessing=True),
}

if __name__ == "__main__":
    sys.exit(serve(PEERS))

"""Stable-Baselines3's `VecEnv` straight on the batch: one process, one tensor operation for all envs.

Needs Stable-Baselines3: `pip install "cellgames[train]"`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch

from cellgames.envs.core import Game
from cellgames.utils.errors import check_one_of

from .learner_games import LearnerGames, as_tensor, endings, position_of
from .opponents import Opponents
from .seats import Ended
from .window import picture_of

try:
    from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv
except ImportError as error:
    raise ImportError('cellgames.envs.adapters.sb3 needs Stable-Baselines3: pip install "cellgames[train]"') from error

Stepped = tuple[npt.NDArray[Any], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]
"""Observations, rewards, which games ended, infos."""


class SubEnv:
    """One env of a `SeatVecEnv` as SB3 sees a single environment, for `get_attr`, `set_attr` and `env_method`.

    It has the environment's public attributes; those that are set on an env are its own.
    """

    def __init__(self, env: SeatVecEnv, index: int) -> None:
        self._env, self._index = env, index

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return getattr(self._env, name)

    def get_wrapper_attr(self, name: str) -> Any:
        """Return an attribute, as SB3 asks single environments for it."""
        return getattr(self, name)

    @property
    def player(self) -> int:
        """The learner's seat in the game in progress."""
        return int(self._env.vector.player[self._index])

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the learner's legal actions: bool [A]; components of an action one after the other."""
        return self._env.vector.action_mask[self._index].numpy(force=True).copy()

    def render(self) -> npt.NDArray[np.uint8] | None:
        """Return uint8 [H, W, 3] if the environment's `render_mode` is "rgb_array", else None."""
        if self._env.render_mode != "rgb_array":
            return None
        return picture_of(self._env.game, self._env.vector.state[self._index])


class SeatVecEnv(LearnerGames, DummyVecEnv):
    """A batch of games for one learner, by `SeatVector`; works with MaskablePPO of sb3-contrib as it is.

    Attributes and methods of single envs are reached as those of SB3's own vector of environments in one process.

    Env i plays the games of Gymnasium's `SeatEnv` with seed s + i. The infos of an env are empty but where its game
    ended ("terminal_observation", "episode" {"r", "l", "t"}, "TimeLimit.truncated", "outcome", "score", "player") or
    the action was illegal ("illegal_action"; see `SeatVector`, "forfeit"). Other values raise `ValueError`.

    Args:
        game: the rules, or their id.
        num_envs: number of games; SB3's `n_envs`.
        opponents: as for `SeatVector`.
        weights: as for `SeatVector`.
        seat: as for `SeatVector`.
        seed: as if `seed` was called with it; None is a random one.
        render_mode: "rgb_array" for pictures.
        device: device of the games; SB3 gets numpy arrays all the same.
        parameters: parameters of the game, if it is given by its id.

    Attributes:
        vector: the games.
        ended: the games that ended in the last step, of which infos do not tell all; None for none.
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int,
        opponents: Opponents = None,
        *,
        weights: Sequence[float] | None = None,
        seat: int | str = "random",
        seed: int | None = None,
        render_mode: Literal["rgb_array"] | None = None,
        device: torch.device | str = "cpu",
        **parameters: Any,
    ) -> None:
        check_one_of("render_mode", render_mode, ("rgb_array", None))
        spaces = self._set_up(
            game, num_envs, opponents, parameters, seed=seed, weights=weights, seat=seat, device=device
        )
        self.render_mode = render_mode
        self.envs: list[Any] = [SubEnv(self, index) for index in range(num_envs)]
        self._actions: Any = None
        self._began = time.time()
        self.ended: Ended | None = None
        VecEnv.__init__(self, num_envs, *spaces)  # `DummyVecEnv` would make games and buffers of its own

    def reset(self) -> npt.NDArray[Any]:
        """Start new games, of the seeds given to `seed`, else of those that follow.

        They start from the positions given to `set_options`, {"position": a line as `game.state_to_string` writes it}.
        """
        positions = [position_of(self.game, options) for options in self._options]
        seeds = None if self._seeds[0] is None else self._seeds
        observation = self._begin(seeds, None if positions == [None] * self.num_envs else positions)
        self._reset_seeds()
        self._reset_options()
        return observation

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Take note of the actions, integers [B] or [B, K]."""
        self._actions = as_tensor(self.game, actions, self.num_envs)

    def step_wait(self) -> Stepped:
        """Play them."""
        self._fresh = False
        moved = self.vector.step(self._actions)
        self.ended = moved.ended
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]  # wrappers write into them
        if moved.ended is not None:
            spent = round(time.time() - self._began, 6)
            cut = (moved.truncated & ~moved.terminated).tolist()
            totals = zip(moved.ended.returns.tolist(), moved.ended.lengths.tolist(), strict=True)
            for (env_id, observation, info), (earned, length) in zip(endings(moved.ended), totals, strict=True):
                episode = {"r": earned, "l": length, "t": spent}
                last = {"terminal_observation": observation, "episode": episode, "TimeLimit.truncated": cut[env_id]}
                infos[env_id] = info | last
        for env_id, text in moved.faults.items():
            infos[env_id]["illegal_action"] = text
        done = moved.terminated | moved.truncated
        return self._observation(), moved.rewards.numpy(force=True), done.numpy(force=True), infos

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method of each of some envs, or of all, such as "action_masks"."""
        if method_name == "action_masks" and indices is None:
            return list(self.action_masks())
        return super().env_method(method_name, *method_args, indices=indices, **method_kwargs)

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """Return a picture of every env; `render` puts them side by side."""
        return [env.render() for env in self.envs]

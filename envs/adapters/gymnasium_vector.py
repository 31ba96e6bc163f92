"""Gymnasium's `VectorEnv` straight on the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from cellgames.envs.core import Game
from cellgames.utils.errors import check_one_of

from .learner_games import LearnerGames, as_tensor, endings, position_of
from .opponents import Opponents
from .pettingzoo_common import masks_by_component
from .window import picture_of

Array = npt.NDArray[Any]


class SeatVectorEnv(LearnerGames, VectorEnv[Array, Array, Array]):
    """A batch of games for one learner, by `SeatVector`: as a `SyncVectorEnv` of `SeatEnv`s.

    A game that ends is replaced within the same step (`AutoresetMode.SAME_STEP`): its last observation and infos are
    in "final_obs" and "final_info". Infos are those of `SeatEnv`, as Gymnasium's vector environments hold them, with
    bool arrays `_name` that say which envs have one.

    Args:
        game: the rules, or their id.
        num_envs: number of games.
        opponents: as for `SeatVector`.
        weights: as for `SeatVector`.
        seat: as for `SeatVector`.
        render_mode: "rgb_array", a picture of every env.
        device: device of the games; observations are numpy arrays all the same.
        parameters: parameters of the game, if it is given by its id.

    Attributes:
        vector: the games.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012  # as Gymnasium has it

    def __init__(
        self,
        game: Game | str,
        num_envs: int,
        opponents: Opponents = None,
        *,
        weights: Sequence[float] | None = None,
        seat: int | str = "random",
        render_mode: str | None = None,
        device: torch.device | str = "cpu",
        **parameters: Any,
    ) -> None:
        check_one_of("render_mode", render_mode, ("rgb_array", None))
        spaces = self._set_up(game, num_envs, opponents, parameters, weights=weights, seat=seat, device=device)
        self.single_observation_space, self.single_action_space = spaces
        self.num_envs = num_envs
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space: gymnasium.Space[Any] = batch_space(self.single_action_space, num_envs)
        self.render_mode = render_mode
        self._nothing_legal = masks_by_component(self.game, np.zeros(self.game.info.num_actions, np.bool_))

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start new games in all envs.

        Args:
            seed: env i gets seed + i, or its own of a sequence; None goes on with the seeds that follow.
            options: {"position": a line as `game.state_to_string` writes it, or for each env a line or None} starts
                these games from there.
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        return self._begin(seed, position_of(self.game, options)), self._infos()

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Let the learner act in every env, integers [B] or [B, K], and then the others."""
        self._fresh = False
        moved = self.vector.step(as_tensor(self.game, actions, self.num_envs))
        infos, faults = self._infos(), dict(moved.faults)
        for env_id, observation, info in endings(moved.ended) if moved.ended is not None else ():
            info["action_mask"] = self._nothing_legal
            if env_id in faults:
                info["illegal_action"] = faults.pop(env_id)
            infos = self._add_info(infos, {"final_obs": observation, "final_info": info}, env_id)
        for env_id, text in faults.items():
            infos = self._add_info(infos, {"illegal_action": text}, env_id)
        ends = moved.terminated.numpy(force=True), moved.truncated.numpy(force=True)
        return self._observation(), moved.rewards.double().numpy(force=True), *ends, infos

    def _infos(self) -> dict[str, Any]:
        """Return the infos of the games in progress."""
        masks = masks_by_component(self.game, self.action_masks())
        if isinstance(masks, tuple):
            masks = np.fromiter(zip(*masks, strict=True), object, self.num_envs)
        infos = {"action_mask": masks, "player": self.vector.player.numpy(force=True).copy()}
        return infos | {f"_{name}": np.ones(self.num_envs, np.bool_) for name in infos}

    def render(self) -> tuple[Any, ...] | None:
        """Return a picture of every env, uint8 [H, W, 3]; None, with a warning, without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn("You are calling render method without specifying any render mode.")
            return None
        return tuple(picture_of(self.game, self.vector.state[env_id]) for env_id in range(self.num_envs))

"""The base of the interfaces for a single learner: Gymnasium's for one game and for many, and Stable-Baselines3's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from cellgames.envs.core import Game
from cellgames.envs.registry import make

from .conversions import env_seeds
from .pettingzoo_common import action_space_of, box_of
from .seats import Opponents, SeatVector

__all__ = ["LearnerGames", "check_pixels"]


def check_pixels(render_mode: str | None) -> None:
    """Raise a `ValueError` unless the mode is "rgb_array" or None, as environments of many games know it."""
    if render_mode not in (None, "rgb_array"):
        raise ValueError(f"expected a render_mode of 'rgb_array' or None, got {render_mode!r}")


class LearnerGames:
    """Games in each of which one seat is the learner's.

    Attributes:
        game: the rules.
        vector: the games.
    """

    game: Game
    vector: SeatVector

    def _set_up(
        self, game: Game | str, num_envs: int, opponents: Opponents, *, seed: int | None = None, **options: Any
    ) -> tuple[spaces.Box, spaces.Space[Any]]:
        """Make the games; return the spaces of one player's observation and action.

        Args:
            game: the rules, or their id.
            num_envs: how many games.
            opponents: as for `SeatVector`.
            seed: of the first game; the others count on from it. None takes random ones.
            options: others of `SeatVector`.
        """
        self.game = make(game) if isinstance(game, str) else game
        seeds = env_seeds(self.game, seed, max(num_envs, 0))
        self.vector = SeatVector(self.game, num_envs, opponents, seed=seeds, illegal="forfeit", **options)
        self._fresh = True  # no step has been made since the games began
        return box_of(self.game.info.observation), action_space_of(self.game)

    def _begin(self, seed: int | Sequence[int | None] | None) -> npt.NDArray[Any]:
        """Begin new games, with the seeds that follow if there is none, and return the observation."""
        if seed is not None:
            self.vector.reset(env_seeds(self.game, seed, self.vector.num_envs))
        elif not self._fresh:
            self.vector.reset()
        self._fresh = False
        return self._observation()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the learner's legal actions, bool [B, A]; components of an action one after the other."""
        masks: npt.NDArray[np.bool_] = self.vector.action_mask.numpy(force=True).copy()
        return masks

    def _observation(self) -> npt.NDArray[Any]:
        observation: npt.NDArray[Any] = self.vector.observation.numpy(force=True)
        return observation

    def _repr_html_(self) -> str | None:
        """Return the first games as SVG, for notebooks."""
        return self.game.draw_batch(self.vector.state)._repr_html_()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.game!r}, {self.vector.num_envs} envs)"

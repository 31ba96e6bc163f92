"""The base of the interfaces for a single learner: Gymnasium's for one game and for many, and Stable-Baselines3's.

It has their games, seeds, and the way between tensors and numpy arrays. Letters: `B` games (envs), `K` components of
an action.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from torch import Tensor

from cellgames.envs.core import Game
from cellgames.envs.core.inputs import from_numbers
from cellgames.envs.registry import make
from cellgames.utils.errors import InputError, check_one_of, listed

from .opponents import Opponents
from .pettingzoo_common import action_space_of, box_of, checked_seed
from .seats import Ended, SeatVector


class LearnerGames:
    """Games in each of which one seat is the learner's.

    Attributes:
        game: the rules.
    """

    game: Game
    _vector: SeatVector

    @property
    def vector(self) -> SeatVector:
        """The games."""
        return self._vector

    def _set_up(
        self,
        game: Game | str,
        num_envs: int,
        opponents: Opponents,
        parameters: Mapping[str, Any],
        *,
        seed: int | None = None,
        **options: Any,
    ) -> tuple[spaces.Box, spaces.Space[Any]]:
        """Start games of these rules, the first of `seed`, others counting on; return spaces of observation and action.

        An id of a game comes with its parameters.
        """
        if isinstance(game, Game) and parameters:
            expected, got = "none beside rules, which have their own", listed(list(parameters))
            raise InputError("parameters", expected, got, where=game.id)
        self.game = game if isinstance(game, Game) else make(game, **parameters)
        seeds = env_seeds(self.game, seed, max(num_envs, 0))
        self._vector = SeatVector(self.game, num_envs, opponents, seed=seeds, illegal="forfeit", **options)
        self._fresh = True  # no step has been made since the games began
        return box_of(self.game.info.observation), action_space_of(self.game)

    def _begin(
        self, seed: int | Sequence[int | None] | None, position: str | Sequence[str | None] | None
    ) -> npt.NDArray[Any]:
        """Start new games, with the seeds that follow if `seed` is None, and return the observation."""
        if seed is not None:
            self._vector.reset(env_seeds(self.game, seed, self._vector.num_envs), position=position)
        elif not self._fresh or position is not None:
            self._vector.reset(position=position)
        self._fresh = False
        return self._observation()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return the learner's legal actions, bool [B, A]; components of an action one after the other."""
        return self._vector.action_mask.numpy(force=True).copy()

    def _observation(self) -> npt.NDArray[Any]:
        return self._vector.observation.numpy(force=True)

    def _repr_html_(self) -> str | None:
        """Return the first games as SVG, for notebooks."""
        return self.game.draw_batch(self.vector.state)._repr_html_()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.game!r}, {self._vector.num_envs} envs)"


def env_seeds(game: Game, seed: int | Sequence[int | None] | None, num_envs: int) -> Tensor:
    """Return seed, seed + 1, ... for the envs, as other libraries count, int64 [B]; None is a random one."""
    if seed is None or isinstance(seed, Sequence):
        given: list[Any] = [None] * num_envs if seed is None else list(seed)
    else:
        given = [checked_seed(game, seed) + env_id for env_id in range(num_envs)]
    if len(given) != num_envs:
        raise InputError("seed", f"{num_envs} seeds, one per env", len(given), where=game.id)
    chosen = [secrets.randbits(62) if one is None else checked_seed(game, one) for one in given]
    return torch.tensor(chosen, device="cpu")


def as_tensor(game: Game, actions: Any, *batch: int) -> Tensor:
    """Return whole numbers as a tensor, int64 [*batch], or [*batch, K] if an action has K > 1 components.

    Args:
        game: the rules.
        actions: a number, lists of numbers, an array or a tensor.
        batch: the number of envs; nothing for the action of a single one.

    Raises:
        ValueError: actions that are not whole numbers, or of another shape.
    """
    components = len(game.info.action_nvec)
    shape = (*batch, components) if components > 1 else batch
    letters = ", ".join(["B"] * len(batch) + ["K"] * (components > 1))
    return from_numbers(actions, shape, f"shape [{letters}] = ", "give one action of the learner's per env", game.id)


def endings(ended: Ended) -> list[tuple[int, npt.NDArray[Any], dict[str, Any]]]:
    """Return the env of every game that ended, the learner's last observation, and its `infos`.

    "outcome" is 1 for a win, 0 for a draw, -1 for a loss; "score" the game's own measure; "player" the learner's seat.
    """
    observations = ended.observation.numpy(force=True)
    columns = (ended.env_ids, ended.outcome, ended.scores, ended.player)
    return [
        (env_id, observations[row], {"outcome": outcome, "score": score, "player": player})
        for row, (env_id, outcome, score, player) in enumerate(zip(*(x.tolist() for x in columns), strict=True))
    ]


def position_of(game: Game, options: Mapping[str, Any] | None) -> Any:
    """Return the position among the options of a `reset`; None without one.

    Raises:
        ValueError: other options.
    """
    for name in options or {}:
        check_one_of("option", name, ("position",), game.id)
    return (options or {}).get("position")

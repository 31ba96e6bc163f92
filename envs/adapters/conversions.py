"""Conversions of the interfaces for a single learner: seeds, and tensors to numpy arrays and back.

Letters: `B` games (envs), `K` components of an action.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cellgames.envs.core import Game

from .seats import Ended

__all__ = ["as_tensor", "endings", "env_seeds", "masks_by_component", "no_options"]


def env_seeds(game: Game, seed: int | Sequence[int | None] | None, num_envs: int) -> Tensor:
    """Return seed, seed + 1, ... for the envs, as other libraries count, int64 [B]; None is a random one."""
    if seed is None:
        given: list[Any] = [None] * num_envs
    elif isinstance(seed, Sequence):
        given = list(seed)
    else:
        given = [_checked_seed(game, seed) + env_id for env_id in range(num_envs)]
    if len(given) != num_envs:
        raise ValueError(f"{game.id}: expected {num_envs} seeds, one per env, got {len(given)}")
    return torch.tensor([secrets.randbits(62) if one is None else _checked_seed(game, one) for one in given])


def _checked_seed(game: Game, seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 1 << 63:
        raise ValueError(f"{game.id}: expected a seed from 0 to 2**63 - 1, or None, got {seed!r}")
    return int(seed)


def as_tensor(game: Game, actions: Any) -> Tensor:
    """Return whole numbers as a tensor, int64.

    Raises:
        ValueError: they are not whole numbers.
    """
    given = np.asarray(actions)
    if given.dtype.kind not in "iu":
        raise ValueError(f"{game.id}: expected whole numbers as actions, got {given.dtype}: {actions!r}")
    return torch.from_numpy(given.astype(np.int64))


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


def masks_by_component(game: Game, mask: npt.NDArray[np.bool_]) -> Any:
    """Return bool [..., A] as `space.sample(mask)` takes it: int8, in a tuple if an action has several components."""
    whole = mask.astype(np.int8)
    nvec = game.info.action_nvec
    return whole if len(nvec) == 1 else tuple(np.split(whole, np.cumsum(nvec)[:-1], axis=-1))


def no_options(game: Game, options: Mapping[str, Any] | None) -> None:
    """Raise a `ValueError` if `reset` is given options."""
    if options:
        raise ValueError(f"{game.id}: reset takes no options, got {', '.join(map(repr, options))}")

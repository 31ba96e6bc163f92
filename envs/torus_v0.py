"""Torus for PettingZoo: `from cellgames.envs import torus_v0; env = torus_v0.env(size=8)`.

Torus is a game by Mark Steere; it descends from ZeN, or NZ, by Bill Taylor.
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.env import AECEnv

from cellgames.envs.adapters.pettingzoo_aec import AECGame, wrapped
from cellgames.envs.adapters.pettingzoo_common import Observation, RenderMode
from cellgames.envs.torus.game import Torus

from .registry import make

__all__ = ["env", "raw_env"]


def env(
    *, size: int = Torus.size, render_mode: RenderMode | None = None, **unknown: Any
) -> AECEnv[str, Observation, Any]:
    """Make Torus by Mark Steere (after ZeN / NZ by Bill Taylor), wrapped as PettingZoo's own games are.

    An illegal action ends the game: its player gets -1, the other 0.

    Args:
        size: octagons a side, 2 to 16; the board has 2 size^2 cells.
        render_mode: "human", "rgb_array", "ansi" or None.
        unknown: answered with a `ValueError` that names the known parameters.
    """
    return wrapped(raw_env(size=size, render_mode=render_mode, **unknown))


def raw_env(*, size: int = Torus.size, render_mode: RenderMode | None = None, **unknown: Any) -> AECGame:
    """Make the environment without wrappers; an illegal action raises a `ValueError` and changes nothing."""
    return AECGame(make(Torus.id, size=size, **unknown), render_mode)

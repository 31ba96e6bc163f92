"""Y for PettingZoo: `from cellgames.envs import y_v0; env = y_v0.env(size=13)`.

Y was invented by Claude Shannon (1950s), and by Charles Titus and Craige Schensted (1953).
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.env import AECEnv

from cellgames.envs.adapters.pettingzoo_aec import AECGame, wrapped
from cellgames.envs.adapters.pettingzoo_common import Observation, RenderMode
from cellgames.envs.connection.boards import Tiling
from cellgames.envs.connection.y import Y

from .registry import make

__all__ = ["env", "raw_env"]


def env(
    *,
    size: int = Y.size,
    tiling: Tiling = Y.tiling,
    swap: bool = Y.swap,
    render_mode: RenderMode | None = None,
    **unknown: Any,
) -> AECEnv[str, Observation, Any]:
    """Make Y by Claude Shannon, and by Charles Titus and Craige Schensted, wrapped as PettingZoo's own games are.

    An illegal action ends the game: its player gets -1, the other 0.

    Args:
        size: cells a side, 2 to 22 on hexagons, 2 to 16 on octagons.
        tiling: "hexagons", or "octagons" with squares between them.
        swap: True if White may take over the first stone in place of its first move.
        render_mode: "human", "rgb_array", "ansi" or None.
        unknown: answered with a `ValueError` that names the known parameters.
    """
    return wrapped(raw_env(size=size, tiling=tiling, swap=swap, render_mode=render_mode, **unknown))


def raw_env(
    *,
    size: int = Y.size,
    tiling: Tiling = Y.tiling,
    swap: bool = Y.swap,
    render_mode: RenderMode | None = None,
    **unknown: Any,
) -> AECGame:
    """Make the environment without wrappers; an illegal action raises a `ValueError` and changes nothing."""
    return AECGame(make(Y.id, size=size, tiling=tiling, swap=swap, **unknown), render_mode)

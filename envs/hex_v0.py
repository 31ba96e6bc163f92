"""Hex for PettingZoo: `from cellgames.envs import hex_v0; env = hex_v0.env(size=11)`.

Hex was invented by Piet Hein (1942) and by John Nash (1948).
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.env import AECEnv

from cellgames.envs.adapters.pettingzoo_aec import AECGame, wrapped
from cellgames.envs.adapters.pettingzoo_common import Observation, RenderMode
from cellgames.envs.connection.boards import Tiling
from cellgames.envs.connection.hex import Hex

from .registry import make

__all__ = ["env", "raw_env"]


def env(
    *,
    size: int = Hex.size,
    tiling: Tiling = Hex.tiling,
    swap: bool = Hex.swap,
    render_mode: RenderMode | None = None,
    **unknown: Any,
) -> AECEnv[str, Observation, Any]:
    """Make Hex by Piet Hein and John Nash, wrapped as PettingZoo's own games are.

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
    size: int = Hex.size,
    tiling: Tiling = Hex.tiling,
    swap: bool = Hex.swap,
    render_mode: RenderMode | None = None,
    **unknown: Any,
) -> AECGame:
    """Make the environment without wrappers; an illegal action raises a `ValueError` and changes nothing."""
    return AECGame(make(Hex.id, size=size, tiling=tiling, swap=swap, **unknown), render_mode)

"""Cloth of Gold for PettingZoo: `from cellgames.envs import cloth_of_gold_v0; env = cloth_of_gold_v0.env()`.

Cloth of Gold is a game by Adam Murray; Life is John Horton Conway's.
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.env import AECEnv

from cellgames.envs.adapters.pettingzoo_aec import AECGame, wrapped
from cellgames.envs.adapters.pettingzoo_common import Observation
from cellgames.envs.cloth_of_gold.game import ClothOfGold

from .registry import make

__all__ = ["env", "raw_env"]


def env(**parameters: Any) -> AECEnv[str, Observation, Any]:
    """Make Cloth of Gold by Adam Murray, wrapped as PettingZoo's own games are.

    An illegal action ends the game: its player gets the lowest reward, the other 0.

    Args:
        parameters: those of `ClothOfGold` (height, width, generations, max_units, max_rounds, radius,
            initial_placement, first_verdict, neutral_births, neutral_density, win_rule, shaping, and the wild options
            terrain, weather, perks, territory, buffer, wildlife, neutral_stance, combinations), and render_mode:
            "human", "rgb_array", "ansi" or None. Others are answered with a `ValueError` that names the known ones.
    """
    return wrapped(raw_env(**parameters))


def raw_env(*, render_mode: str | None = None, **parameters: Any) -> AECGame:
    """Make the environment without wrappers; an illegal action raises a `ValueError` and changes nothing."""
    return AECGame(make(ClothOfGold.id, **parameters), render_mode)

"""The Toroidal Cup for PettingZoo: `from cellgames.envs import toroidal_cup_v0; env = toroidal_cup_v0.parallel_env()`.

The Cup and its patterns are golly.life's (golly-splorts); Life is John Horton Conway's.
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.env import AECEnv

from cellgames.envs.adapters.pettingzoo_aec import make_aec
from cellgames.envs.adapters.pettingzoo_common import Observation
from cellgames.envs.adapters.pettingzoo_parallel import ParallelGame, make_parallel
from cellgames.envs.toroidal_cup.game import ToroidalCup

__all__ = ["env", "parallel_env", "raw_env"]


def parallel_env(**parameters: Any) -> ParallelGame:
    """Make the Toroidal Cup of golly.life, in which all teams act at once.

    An illegal placement is replaced by the last legal one, which `infos` tells.

    Args:
        parameters: those of `ToroidalCup` (rows, cols, teams, pattern, stride, shapes, survivors, tolerance,
            max_generations), and render_mode: "human", "rgb_array", "ansi" or None. Others are answered with a
            `ValueError` that names the known ones.
    """
    return make_parallel(id=ToroidalCup.id, **parameters)


def env(**parameters: Any) -> AECEnv[str, Observation, Any]:
    """Make PettingZoo's AEC view of `parallel_env`: the teams choose in turn, without seeing the choices."""
    return make_aec(id=ToroidalCup.id, **parameters)


def raw_env(**parameters: Any) -> AECEnv[str, Observation, Any]:
    """Make the same as `env`, which needs no wrappers of its own."""
    return env(**parameters)

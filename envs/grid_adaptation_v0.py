"""Grid Adaptation for PettingZoo: `grid_adaptation_v0.parallel_env()`, from `cellgames.envs`.

Grid Adaptation is a game by pseudonam (Genius Game 4, Main Match 6); Life is John Horton Conway's.
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils.env import AECEnv

from cellgames.envs.adapters.pettingzoo_aec import make_aec
from cellgames.envs.adapters.pettingzoo_common import Observation
from cellgames.envs.adapters.pettingzoo_parallel import ParallelGame, make_parallel
from cellgames.envs.grid_adaptation.game import GridAdaptation

__all__ = ["env", "parallel_env", "raw_env"]


def parallel_env(**parameters: Any) -> ParallelGame:
    """Make Grid Adaptation by pseudonam, in which all players act at once.

    An illegal component of an action counts as "none" (a tile is forfeited), which `infos` tells.

    Args:
        parameters: those of `GridAdaptation` (size, players, rounds, first_tiles, starting_garnets, reserves,
            flip_rounds, reward_scheme, garnet_value, talk, words, talk_steps, scramble, mute), and render_mode:
            "human", "rgb_array", "ansi" or None. Others are answered with a `ValueError` that names the known ones.
    """
    return make_parallel(id=GridAdaptation.id, **parameters)


def env(**parameters: Any) -> AECEnv[str, Observation, Any]:
    """Make PettingZoo's AEC view of `parallel_env`: players choose in turn, without seeing the choices."""
    return make_aec(id=GridAdaptation.id, **parameters)


def raw_env(**parameters: Any) -> AECEnv[str, Observation, Any]:
    """Make the same as `env`, which needs no wrappers of its own."""
    return env(**parameters)

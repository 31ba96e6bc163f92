"""The games as other libraries expect them: one module for each library, no rule inside.

`import cellgames` adds the games to the registries of Gymnasium and PettingZoo, as `cellgames/torus-v0` and so on.
Names are imported when they are first used; `SeatVecEnv` needs the extra `train`, `TorchRLGame` the extra `torchrl`,
and the modules `rllib` and `openspiel` the extras of these names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .gymnasium_env import SeatEnv
    from .gymnasium_vector import SeatVectorEnv
    from .opponents import UNIFORM, Opponent, Opponents, Uniform
    from .pettingzoo_aec import AECGame
    from .pettingzoo_parallel import ParallelGame
    from .registration import register
    from .sb3 import SeatVecEnv
    from .seats import Ended, SeatTransition, SeatVector
    from .torchrl import TorchRLGame
else:
    from cellgames.utils.lazy_names import lazy_names

    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "gymnasium_env": ("SeatEnv",),
            "gymnasium_vector": ("SeatVectorEnv",),
            "opponents": ("UNIFORM", "Opponent", "Opponents", "Uniform"),
            "pettingzoo_aec": ("AECGame",),
            "pettingzoo_parallel": ("ParallelGame",),
            "registration": ("register",),
            "sb3": ("SeatVecEnv",),
            "seats": ("Ended", "SeatTransition", "SeatVector"),
            "torchrl": ("TorchRLGame",),
        },
    )

__all__ = [
    "UNIFORM",
    "AECGame",
    "Ended",
    "Opponent",
    "Opponents",
    "ParallelGame",
    "SeatEnv",
    "SeatTransition",
    "SeatVecEnv",
    "SeatVector",
    "SeatVectorEnv",
    "TorchRLGame",
    "Uniform",
    "register",
]

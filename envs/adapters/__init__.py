"""The games as other libraries expect them: one module for each library, no rule inside.

`register` adds the games to the registries of Gymnasium and PettingZoo, as `cellgames/torus-v0` and so on, and so does
`import cellgames` after the imports of these.
Names are imported when they are first used; `SeatVecEnv` needs the extra `train`, `TorchRLGame` the extra `torchrl`,
and the module `openspiel` the extra of this name.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .gymnasium_env import SeatEnv as SeatEnv
    from .gymnasium_vector import SeatVectorEnv as SeatVectorEnv
    from .opponents import UNIFORM as UNIFORM, Opponent as Opponent, Opponents as Opponents, Uniform as Uniform
    from .pettingzoo_aec import AECGame as AECGame
    from .pettingzoo_parallel import ParallelGame as ParallelGame
    from .registration import register as register
    from .sb3 import SeatVecEnv as SeatVecEnv
    from .seats import Ended as Ended, SeatTransition as SeatTransition, SeatVector as SeatVector
    from .torchrl import TorchRLGame as TorchRLGame
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)

"""The games in other libraries' registries.

`pettingzoo.make("aec", "cellgames/torus-v0", size=5)` has a player for every seat; `gymnasium.make` and
`gymnasium.make_vec` of the same names have one learner, against opponents that play inside.

The specs are data from `envs.registry`: nothing is imported before an environment is made. Entry points and
arguments are strings and numbers, so specs can be pickled.
"""

from __future__ import annotations

import gymnasium
import pettingzoo

from cellgames.envs.registry import REGISTRY, GameSpec, on_register

__all__ = ["NAMESPACE", "register"]

NAMESPACE = "cellgames"
_AEC = "cellgames.envs.adapters.pettingzoo_aec:make_aec"
_PARALLEL = "cellgames.envs.adapters.pettingzoo_parallel:make_parallel"
_SINGLE = "cellgames.envs.adapters.gymnasium_env:make_env"
_VECTOR = "cellgames.envs.adapters.gymnasium_vector:make_vector_env"


def register() -> None:
    """Add the games that PettingZoo's and Gymnasium's registries do not have yet.

    In PettingZoo's all games stand under "aec", and those in which all players act at once also under "parallel".
    """
    for entry in REGISTRY.values():
        _register(entry)


def _register(entry: GameSpec) -> None:
    id, arguments = f"{NAMESPACE}/{entry.id}", {"id": entry.id}
    if id not in pettingzoo.aec_registry:
        pettingzoo.register("aec", id, _AEC, kwargs=arguments)
    if entry.simultaneous and id not in pettingzoo.parallel_registry:
        pettingzoo.register("parallel", id, _PARALLEL, kwargs=arguments)
    if id not in gymnasium.registry:
        gymnasium.register(id, _SINGLE, vector_entry_point=_VECTOR, kwargs=arguments)


on_register(_register)  # games that are registered later

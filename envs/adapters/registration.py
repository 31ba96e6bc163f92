"""The games in the registries of Gymnasium and PettingZoo.

`pettingzoo.make("aec", "cellgames/torus-v0", size=5)` has a player for every seat; `gymnasium.make` and
`gymnasium.make_vec` of the same names have one learner, against opponents that play inside.

`import cellgames` adds them, but for the command line. The specs are data from `envs.registry`: no game is imported
before an environment is made. Entry points and arguments are strings and numbers, so specs can be pickled.
"""

from __future__ import annotations

from cellgames.envs.registry import GameSpec, follow, is_foreign

NAMESPACE = "cellgames"
_AEC = "cellgames.envs.adapters.pettingzoo_aec:make_aec"
_PARALLEL = "cellgames.envs.adapters.pettingzoo_parallel:make_parallel"
_SINGLE = "cellgames.envs.adapters.gymnasium_env:SeatEnv"
_VECTOR = "cellgames.envs.adapters.gymnasium_vector:SeatVectorEnv"


def register(*libraries: str) -> None:
    """Add the games to the registries of libraries, and those registered later; games that these have are kept.

    In PettingZoo's registry all games are under "aec", and those in which all players act at once are also under
    "parallel".

    Args:
        libraries: "gymnasium", "pettingzoo" or both; none means both.
    """
    for library in libraries or _ADD:
        follow(_ADD[library])


def _add_to_gymnasium(entry: GameSpec) -> None:
    import gymnasium

    id = f"{NAMESPACE}/{entry.id}"
    if id not in gymnasium.registry and not is_foreign(entry.id):
        gymnasium.register(id, _SINGLE, vector_entry_point=_VECTOR, kwargs={"game": entry.id})  # "id" is make's own


def _add_to_pettingzoo(entry: GameSpec) -> None:
    import pettingzoo

    if is_foreign(entry.id):
        return
    id, arguments = f"{NAMESPACE}/{entry.id}", {"id": entry.id}
    if id not in pettingzoo.aec_registry:
        pettingzoo.register("aec", id, _AEC, kwargs=arguments)
    if entry.plugin.simultaneous and id not in pettingzoo.parallel_registry:
        pettingzoo.register("parallel", id, _PARALLEL, kwargs=arguments)


_ADD = {"gymnasium": _add_to_gymnasium, "pettingzoo": _add_to_pettingzoo}

"""The games in the registries of Gymnasium and PettingZoo.

`pettingzoo.make("aec", "cellgames/torus-v0", size=5)` has a player for every seat; `gymnasium.make` and
`gymnasium.make_vec` of the same names have one learner, against opponents that play inside.

`import cellgames` is enough, before or after the import of either library (`cellgames.utils.after_import`). The specs
are data from `envs.registry`: nothing is imported before an environment is made. Entry points and arguments are strings
and numbers, so specs can be pickled.
"""

from __future__ import annotations

from collections.abc import Callable

from cellgames.envs.registry import REGISTRY, GameSpec, on_register

__all__ = ["NAMESPACE", "register", "register_in_gymnasium", "register_in_pettingzoo"]

NAMESPACE = "cellgames"
_AEC = "cellgames.envs.adapters.pettingzoo_aec:make_aec"
_PARALLEL = "cellgames.envs.adapters.pettingzoo_parallel:make_parallel"
_SINGLE = "cellgames.envs.adapters.gymnasium_env:make_env"
_VECTOR = "cellgames.envs.adapters.gymnasium_vector:make_vector_env"

_followers: list[Callable[[GameSpec], None]] = []


def register() -> None:
    """Add the games that Gymnasium's and PettingZoo's registries do not have yet, and those registered later.

    `import cellgames` does this for the libraries that a program imports. In PettingZoo's registry all games are under
    "aec", and those in which all players act at once are also under "parallel".
    """
    register_in_gymnasium()
    register_in_pettingzoo()


def register_in_gymnasium() -> None:
    """Add the games that Gymnasium's registry does not have yet, and those registered later."""
    _follow(_add_to_gymnasium)


def register_in_pettingzoo() -> None:
    """Add the games that PettingZoo's registries do not have yet, and those registered later."""
    _follow(_add_to_pettingzoo)


def _follow(add: Callable[[GameSpec], None]) -> None:
    for entry in REGISTRY.values():
        add(entry)
    if add not in _followers:
        _followers.append(add)
        on_register(add)


def _add_to_gymnasium(entry: GameSpec) -> None:
    import gymnasium

    id = f"{NAMESPACE}/{entry.id}"
    if id not in gymnasium.registry:
        gymnasium.register(id, _SINGLE, vector_entry_point=_VECTOR, kwargs={"game": entry.id})  # "id" is make's own


def _add_to_pettingzoo(entry: GameSpec) -> None:
    import pettingzoo

    id, arguments = f"{NAMESPACE}/{entry.id}", {"id": entry.id}
    if id not in pettingzoo.aec_registry:
        pettingzoo.register("aec", id, _AEC, kwargs=arguments)
    if entry.simultaneous and id not in pettingzoo.parallel_registry:
        pettingzoo.register("parallel", id, _PARALLEL, kwargs=arguments)

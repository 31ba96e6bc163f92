"""The public names of the package, which the API reference must have."""

from __future__ import annotations

import importlib

__all__ = ["PACKAGES", "names"]

PACKAGES = (
    "cellgames",
    "cellgames.envs",
    "cellgames.envs.adapters",
    "cellgames.envs.boards",
    "cellgames.envs.cloth_of_gold",
    "cellgames.envs.grid_adaptation",
    "cellgames.envs.toroidal_cup",
    "cellgames.envs.torus",
    "cellgames.agents",
    "cellgames.agents.search",
    "cellgames.training",
    "cellgames.arena",
    "cellgames.plugins",
)


def names(package: str) -> list[str]:
    """Return the public names of a package, without its dunder names."""
    exported: list[str] = importlib.import_module(package).__all__
    return [name for name in exported if not name.startswith("__")]

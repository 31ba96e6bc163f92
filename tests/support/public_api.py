"""The public names of the package, which the API reference must have."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

from cellgames.utils.lazy_names import exported

PACKAGES = (
    "cellgames",
    "cellgames.plugins",
    "cellgames.envs",
    "cellgames.envs.adapters",
    "cellgames.envs.boards",
    "cellgames.envs.cloth_of_gold",
    "cellgames.envs.cloth_of_gold_wild",
    "cellgames.envs.grid_adaptation",
    "cellgames.envs.grid_adaptation_talk",
    "cellgames.envs.native",
    "cellgames.envs.toroidal_cup",
    "cellgames.envs.connection",
    "cellgames.envs.torus",
    "cellgames.agents",
    "cellgames.agents.cloth_of_gold",
    "cellgames.agents.grid_adaptation",
    "cellgames.agents.search",
    "cellgames.agents.simultaneous",
    "cellgames.agents.solving",
    "cellgames.agents.toroidal_cup",
    "cellgames.agents.connection",
    "cellgames.agents.torus",
    "cellgames.training",
    "cellgames.training.maskable",
    "cellgames.arena",
    "cellgames.arena.formats",
    "cellgames.arena.analyse",
    "cellgames.lab",
    "cellgames.web",
)
"""Packages whose names are public."""

MODULES = (
    "cellgames.envs.adapters.openspiel",
    "cellgames.envs.core.drawing",
    "cellgames.arena.analyse.search_analysis",
    "cellgames.runs.workers",
)
"""Modules that are public by themselves: a library of its own, or names that are short because of the module's."""


def names(module: str) -> list[str]:
    """Return the public names of a package or a module, without its dunder names; it is not imported."""
    found = find_spec(module)
    assert found is not None
    assert found.origin is not None
    source = Path(found.origin).read_bytes()
    listed = [*exported(source)]
    body = ast.parse(source).body
    if module in MODULES and b"__all__" not in source:
        return [node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name[0] != "_"]
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            listed += ast.literal_eval(node.value)
        elif isinstance(node, ast.Assign) and isinstance(after, ast.Expr) and "__init__" in found.origin:
            listed.append(ast.unparse(node.targets[0]))  # a constant of a package, with its docstring
    return [name for name in listed if not name.startswith("__")]

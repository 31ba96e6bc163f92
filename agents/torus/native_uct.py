"""UCT on Torus by native code: the simulations of `UCTSearch` on the same trees, several times as fast."""

from __future__ import annotations

import ctypes
from typing import Any

from cellgames.agents.connection.native_trees import search_arguments, tree_arrays
from cellgames.agents.search import Tree
from cellgames.envs.native import Library
from cellgames.envs.torus.game import Torus

__all__ = ["simulate"]


def simulate(library: Library, game: Torus, tree: Tree, simulations: int, **arguments: Any) -> None:
    """Add simulations to every tree whose root is not resolved.

    Args:
        library: the native kernels.
        game: the rules.
        tree: trees of the game with room for the simulations.
        simulations: for each tree.
        arguments: the others of `search_arguments`.
    """
    search = search_arguments(tree, game.size, simulations, **{"lots": None, **arguments})
    library.cellgames_torus_uct(ctypes.byref(tree_arrays(tree)), ctypes.byref(search))

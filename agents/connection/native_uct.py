"""UCT on Hex and Y by native code: the simulations of `UCTSearch` on the same trees, several times as fast."""

from __future__ import annotations

import ctypes
from typing import Any

from cellgames.agents.search import Tree
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.connection.native_board import native_board
from cellgames.envs.native import Library

from .native_trees import search_arguments, tree_arrays

__all__ = ["simulate"]


def simulate(library: Library, game: ConnectionGame, tree: Tree, simulations: int, **arguments: Any) -> None:
    """Add simulations to every tree whose root is not resolved.

    Args:
        library: the native kernels.
        game: the rules.
        tree: trees of the game with room for the simulations.
        simulations: for each tree.
        arguments: the others of `search_arguments`.
    """
    search = search_arguments(tree, game.size, simulations, **{"lots": None, **arguments})
    board = native_board(game.shape, game.tiling, game.size, swap=game.swap)
    library.cellgames_connection_uct(ctypes.byref(tree_arrays(tree)), ctypes.byref(search), ctypes.byref(board))

"""UCT on Hex and Y by native code: the simulations of `UCTSearch` on the same trees, several times as fast."""

from __future__ import annotations

import ctypes
from typing import Any

from cellgames.agents.search import Tree
from cellgames.envs.connection.board_tables import native_board
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.native import Library

from .native_trees import simulate_by

__all__ = ["simulate"]


def simulate(library: Library, game: ConnectionGame, tree: Tree, simulations: int, **arguments: Any) -> None:
    """Add simulations to trees of Hex or Y; see `simulate_by`."""
    board = ctypes.byref(native_board(game.shape, game.tiling, game.size, swap=game.swap))
    simulate_by(library.cellgames_connection_uct, tree, game.size, simulations, board, **arguments)

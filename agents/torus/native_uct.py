"""UCT on Torus by native code: the simulations of `UCTSearch` on the same trees, several times as fast."""

from __future__ import annotations

from typing import Any

from cellgames.agents.connection.native_trees import simulate_by
from cellgames.agents.search import Tree
from cellgames.envs.native import Library
from cellgames.envs.torus.game import Torus

__all__ = ["simulate"]


def simulate(library: Library, game: Torus, tree: Tree, simulations: int, **arguments: Any) -> None:
    """Add simulations to trees of Torus; see `simulate_by`."""
    simulate_by(library.cellgames_torus_uct, tree, game.size, simulations, **arguments)

"""UCT and Gumbel search on Torus, Hex and Y by native code: the same simulations, several times as fast.

Native code walks the trees, plays the moves and resolves nodes. Of Gumbel search it hands out positions that are to be
evaluated, of all trees together. From each tree it takes all positions that do not depend on each other's values, so
where one of them proves the root's result, the others were evaluated in vain.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from cellgames.agents.search import Evaluation, Tree
from cellgames.agents.search.gumbel import Roots
from cellgames.envs.connection.board_tables import native_board
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.core.native_step import structure
from cellgames.envs.native import Library, pointer
from cellgames.envs.native.native_library import threads
from cellgames.envs.torus.game import Torus

_FIELDS = (
    *("seed", "turn", "current_player", "rewards", "scores", "terminated", "truncated"),
    *("codes", "free", "losing", "last"),
)
"""The fields of a node's state, in the order of `CellgamesStoneTrees` in sources/stone_tree.h."""

ARRAYS = (
    *("count", "parent", "parent_edge", "mover", "visits", "total", "raw", "worth"),
    *("resolved", "whole", "child", "edge_visits", "edge_total", "status"),
)
"""The arrays of a `Tree`, in the same order after the fields."""


def tree_arrays(tree: Tree) -> ctypes.Structure:
    """Return the addresses of the arrays of trees and of their states.

    A field that the game's states do not have is null.
    """
    fields = {name: getattr(tree.state, name, None) for name in _FIELDS}
    return structure(**fields, **{name: getattr(tree, name) for name in ARRAYS})


def simulate(
    library: Library,
    game: Torus | ConnectionGame,
    tree: Tree,
    simulations: int,
    *,
    playouts: int,
    orders: Tensor,
    weights: Tensor,
    keys: Tensor,
) -> None:
    """Add simulations of UCT with random playouts to every tree whose root is not resolved; trees have room for them.

    A node tries its untried edges by the row of its place in `orders`, float32 [rows, E], the highest number first.
    `weights`, float32, have by a node's visits the weight of the upper bound, squared. The random numbers of a tree's
    playouts are spread from `keys`, int64 [B], or are these, int32 [B, evaluations, playouts, N], in the order of the
    evaluations.
    """
    lots = keys if keys.ndim > 1 else None
    search = structure(
        **{"size": game.size, "trees": tree.trees, "capacity": tree.capacity, "simulations": simulations},
        playouts=playouts,
        threads=torch.get_num_threads(),
        orders=orders,
        rows=len(orders),
        weights=weights,
        keys=keys if lots is None else keys.new_zeros(tree.trees, dtype=torch.int64),
        lots=lots,
        evaluations=0 if lots is None else lots.shape[1],
    )
    arguments = ctypes.byref(tree_arrays(tree)), ctypes.byref(search)
    if isinstance(game, Torus):
        library.cellgames_torus_uct(*arguments)
    else:
        board = native_board(game.layout, swap=game.swap)
        library.cellgames_connection_uct(*arguments, ctypes.byref(board))


_TREES_A_THREAD = 16  # a round of a tree takes some microseconds, and so does starting a thread


def simulate_gumbel(
    library: Library,
    game: Torus | ConnectionGame,
    tree: Tree,
    evaluate: Callable[[Any], Evaluation],
    roots: Roots,
    *,
    scale: float,
    width: int,
) -> None:
    """Add simulations to every tree, with room for them, until its root is resolved or the plan is at its end.

    At most `width` simulations of a tree wait for values at the same time; `scale` is the weight of results beside the
    prior.
    """
    trees, simulations = roots.plan.shape
    done, pending, rows = torch.zeros((3, trees), dtype=torch.int64, device="cpu").unbind()
    waiting, leaves = torch.zeros((2, trees, width), dtype=torch.int64, device="cpu").unbind()
    search: Any = structure(
        **{"size": game.size, "trees": trees, "capacity": tree.capacity},
        **{"simulations": simulations, "width": width, "threads": threads(trees, _TREES_A_THREAD)},
        scale=torch.tensor([scale], dtype=torch.float32, device="cpu"),
        **roots._asdict(),
        logits=tree.logits,
        **{"done": done, "pending": pending, "waiting": waiting, "rows": rows, "leaves": leaves},
        **dict.fromkeys(("priors", "values", "sure", "moves", "worth")),
    )
    arguments = ctypes.byref(tree_arrays(tree)), ctypes.byref(search)
    go_on = partial(library.cellgames_torus_gumbel, *arguments)
    if not isinstance(game, Torus):
        board = native_board(game.layout, swap=game.swap)
        go_on = partial(library.cellgames_connection_gumbel, *arguments, ctypes.byref(board))
    while count := go_on():
        found = evaluate(tree.state[leaves.view(-1)[:count]])
        logits, value = found.logits.float().contiguous(), found.value.float().contiguous()
        search.priors, search.values = pointer(logits, torch.float32), pointer(value, torch.float32)
        search.sure = search.moves = search.worth = None
        if found.proved is not None:
            search.sure, search.moves = (pointer(part, torch.int64) for part in found.proved[:2])
            search.worth = pointer(found.proved.worth, torch.bool)

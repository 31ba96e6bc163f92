"""UCT on Torus, Hex and Y and Gumbel search on Torus by native code: the same simulations, several times as fast.

Native code walks the trees, plays the moves and resolves nodes. Of Gumbel search it hands out positions that are to be
evaluated, of all trees together. From each tree it takes all positions that do not depend on each other's values.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from cellgames.agents.search import Evaluation, Tree
from cellgames.envs.connection.board_tables import native_board
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.native import Library, pointer
from cellgames.envs.torus.game import Torus

_FIELDS = {
    **{"seed": torch.int64, "turn": torch.int32, "current_player": torch.int64, "rewards": torch.float32},
    **{"scores": torch.float32, "terminated": torch.bool, "truncated": torch.bool, "codes": torch.int32},
    **{"free": torch.int64, "losing": torch.int32, "last": torch.int32},
}
"""The fields of a node's state, in the order of `CellgamesStoneTrees` in sources/stone_tree.h."""

ARRAYS = {
    **{"count": torch.int64, "parent": torch.int32, "parent_edge": torch.int32, "mover": torch.int64},
    **{"visits": torch.float32, "total": torch.float32, "raw": torch.float32, "worth": torch.float32},
    **{"resolved": torch.bool, "whole": torch.bool, "child": torch.int32, "edge_visits": torch.float32},
    **{"edge_total": torch.float32, "status": torch.int8},
}
"""The arrays of a `Tree`, in the same order after the fields."""


class _Trees(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_void_p) for name in (*_FIELDS, *ARRAYS))


class _Search(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("size", "trees", "capacity", "simulations", "playouts", "threads")),
        ("orders", ctypes.c_void_p),
        ("rows", ctypes.c_int64),
        ("weights", ctypes.c_void_p),
        ("keys", ctypes.c_void_p),
        ("lots", ctypes.c_void_p),
        ("evaluations", ctypes.c_int64),
    )


def tree_arrays(tree: Tree) -> ctypes.Structure:
    """Return the addresses of the arrays of trees and of their states; the trees must outlive them.

    A field that the game's states do not have is null.
    """
    state: Any = tree.state
    known = {name: dtype for name, dtype in _FIELDS.items() if hasattr(state, name)}
    addresses = {name: pointer(getattr(state, name), dtype) for name, dtype in known.items()}
    addresses |= {name: pointer(getattr(tree, name), dtype) for name, dtype in ARRAYS.items()}
    return _Trees(**addresses)


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
    search = _Search(game.size, tree.trees, tree.capacity, simulations, playouts, torch.get_num_threads())
    search.orders, search.rows = pointer(orders, torch.float32), len(orders)
    search.weights = pointer(weights, torch.float32)
    spread = keys
    if keys.ndim > 1:
        search.lots, search.evaluations = pointer(keys, torch.int32), keys.shape[1]
        spread = keys.new_zeros(tree.trees, dtype=torch.int64)
    search.keys = pointer(spread, torch.int64)
    arguments = ctypes.byref(tree_arrays(tree)), ctypes.byref(search)
    if isinstance(game, Torus):
        library.cellgames_torus_uct(*arguments)
    else:
        board = native_board(game.shape, game.tiling, game.size, swap=game.swap)
        library.cellgames_connection_uct(*arguments, ctypes.byref(board))


_TREES_A_THREAD = 16  # a round of a tree takes some microseconds, and so does starting a thread


class _GumbelSearch(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("size", "trees", "capacity", "simulations", "width", "threads")),
        *((name, ctypes.c_void_p) for name in ("scale", "wish", "before", "plan", "logits")),
        *((name, ctypes.c_void_p) for name in ("done", "pending", "waiting", "rows", "leaves")),
        *((name, ctypes.c_void_p) for name in ("priors", "values")),
    )


def simulate_gumbel(
    library: Library,
    tree: Tree,
    evaluate: Callable[[Any], Evaluation],
    *,
    wish: Tensor,
    before: Tensor,
    plan: Tensor,
    scale: float,
    width: int,
) -> None:
    """Add simulations to every tree of Torus, with room for them, until its root is resolved or the plan is at its end.

    The logits of the roots' edges, with noise, are `wish`, float32 [B, E], -inf for what is not legal, and their visits
    from an earlier search `before`, float32 [B, E]. The plan, float32 [B, simulations], has the visits of the edge
    that each simulation takes at the root. At most `width` simulations of a tree wait for values at the same time;
    `scale` is the weight of results beside the prior.
    """
    trees, simulations = plan.shape
    scales = torch.tensor([scale], dtype=torch.float32, device="cpu")
    done, pending, rows = torch.zeros((3, trees), dtype=torch.int64, device="cpu").unbind()
    waiting, leaves = torch.zeros((2, trees, width), dtype=torch.int64, device="cpu").unbind()
    names = ("done", "pending", "waiting", "rows", "leaves")
    numbers = zip(names, (done, pending, waiting, rows, leaves), strict=True)
    given = {"scale": scales, "wish": wish, "before": before, "plan": plan, "logits": tree.logits}
    size, threads = round((tree.edges / 2) ** 0.5), min(torch.get_num_threads(), 1 + trees // _TREES_A_THREAD)
    search = _GumbelSearch(
        *(size, trees, tree.capacity, simulations, width, threads),
        **{name: pointer(value, torch.float32) for name, value in given.items()},
        **{name: pointer(value, torch.int64) for name, value in numbers},
    )
    arrays = tree_arrays(tree)
    while count := library.cellgames_torus_gumbel(ctypes.byref(arrays), ctypes.byref(search)):
        found = evaluate(tree.state[leaves.view(-1)[:count]])
        logits, value = found.logits.float().contiguous(), found.value.float().contiguous()
        search.priors, search.values = pointer(logits, torch.float32), pointer(value, torch.float32)

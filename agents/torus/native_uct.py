"""UCT on Torus by native code: the simulations of `UCTSearch` on the same trees, several times as fast."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from cellgames.agents.search import Tree
from cellgames.envs.native import Library, pointer

from .native_trees import tree_arrays

__all__ = ["simulate"]


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


def simulate(
    library: Library,
    tree: Tree,
    simulations: int,
    *,
    playouts: int,
    orders: Tensor,
    weights: Tensor,
    keys: Tensor,
    lots: Tensor | None = None,
) -> None:
    """Add simulations to every tree whose root is not resolved.

    Args:
        library: the native kernels.
        tree: trees of Torus with room for the simulations.
        simulations: for each tree.
        playouts: random games from each new node.
        orders: float32 [rows, N]; a node tries its untried edges by the row of its place, the highest number first.
        weights: float32, by a node's visits: the weight of the upper bound, squared.
        keys: int64 [B], from which the random numbers of a tree's playouts are spread.
        lots: int32 [B, evaluations, playouts, N], the random numbers of a tree's evaluations in their order, instead.
    """
    search = _Search(
        size=round((tree.edges / 2) ** 0.5),
        trees=tree.trees,
        capacity=tree.capacity,
        simulations=simulations,
        playouts=playouts,
        threads=torch.get_num_threads(),
        orders=pointer(orders, torch.float32),
        rows=len(orders),
        weights=pointer(weights, torch.float32),
        keys=pointer(keys, torch.int64),
        lots=None if lots is None else pointer(lots, torch.int32),
        evaluations=0 if lots is None else lots.shape[1],
    )
    library.cellgames_torus_uct(ctypes.byref(tree_arrays(tree)), ctypes.byref(search))

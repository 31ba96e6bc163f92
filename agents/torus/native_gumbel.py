"""Gumbel AlphaZero search on Torus by native code: the simulations of `GumbelSearch` on the same trees.

Native code walks the trees, plays the moves and resolves nodes. It hands out positions that are to be evaluated, of all
trees together. From each tree it takes all positions that do not depend on each other's values.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from cellgames.agents.connection.native_trees import tree_arrays
from cellgames.agents.search import Evaluation, Tree
from cellgames.envs.native import Library, pointer

_TREES_A_THREAD = 16  # a round of a tree takes some microseconds, and so does starting a thread


class _Search(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("size", "trees", "capacity", "simulations", "width", "threads")),
        *((name, ctypes.c_void_p) for name in ("scale", "wish", "before", "plan", "logits")),
        *((name, ctypes.c_void_p) for name in ("done", "pending", "waiting", "rows", "leaves")),
        *((name, ctypes.c_void_p) for name in ("priors", "values")),
    )


def simulate(
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
    """Add simulations to every tree until its root is resolved or the plan is at its end.

    Args:
        library: the native kernels.
        tree: trees of Torus with room for the simulations.
        evaluate: evaluates positions.
        wish: float32 [B, E], logits of the roots' edges, with noise; -inf for what is not legal.
        before: float32 [B, E], visits of the roots' edges from an earlier search.
        plan: float32 [B, simulations], visits of the edge that each simulation takes at the root.
        scale: how much results count beside the prior.
        width: simulations of a tree that may wait for values at the same time, at most.
    """
    trees, simulations = plan.shape
    scales = torch.tensor([scale], dtype=torch.float32, device="cpu")
    done, pending, rows = torch.zeros((3, trees), dtype=torch.int64, device="cpu").unbind()
    waiting, leaves = torch.zeros((2, trees, width), dtype=torch.int64, device="cpu").unbind()
    search = _Search(
        size=round((tree.edges / 2) ** 0.5),
        trees=trees,
        capacity=tree.capacity,
        simulations=simulations,
        width=width,
        threads=min(torch.get_num_threads(), 1 + trees // _TREES_A_THREAD),
        scale=pointer(scales, torch.float32),
        wish=pointer(wish, torch.float32),
        before=pointer(before, torch.float32),
        plan=pointer(plan, torch.float32),
        logits=pointer(tree.logits, torch.float32),
        done=pointer(done, torch.int64),
        pending=pointer(pending, torch.int64),
        waiting=pointer(waiting, torch.int64),
        rows=pointer(rows, torch.int64),
        leaves=pointer(leaves, torch.int64),
    )
    arrays = tree_arrays(tree)
    while count := library.cellgames_torus_gumbel(ctypes.byref(arrays), ctypes.byref(search)):
        found = evaluate(tree.state[leaves.view(-1)[:count]])
        logits, value = found.logits.float().contiguous(), found.value.float().contiguous()
        search.priors, search.values = pointer(logits, torch.float32), pointer(value, torch.float32)

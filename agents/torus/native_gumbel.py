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
    search = _Search(
        *(size, trees, tree.capacity, simulations, width, threads),
        **{name: pointer(value, torch.float32) for name, value in given.items()},
        **{name: pointer(value, torch.int64) for name, value in numbers},
    )
    arrays = tree_arrays(tree)
    while count := library.cellgames_torus_gumbel(ctypes.byref(arrays), ctypes.byref(search)):
        found = evaluate(tree.state[leaves.view(-1)[:count]])
        logits, value = found.logits.float().contiguous(), found.value.float().contiguous()
        search.priors, search.values = pointer(logits, torch.float32), pointer(value, torch.float32)

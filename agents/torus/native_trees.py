"""The arrays of search trees of Torus, as native code takes them."""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from cellgames.agents.search import Tree
from cellgames.envs.native import pointer

__all__ = ["ARRAYS", "tree_arrays"]

_FIELDS = {
    **{"seed": torch.int64, "turn": torch.int32, "current_player": torch.int64, "rewards": torch.float32},
    **{"scores": torch.float32, "terminated": torch.bool, "truncated": torch.bool, "codes": torch.int32},
    **{"free": torch.int64, "losing": torch.int32, "last": torch.int32},
}
"""The fields of a node's state, in the order of `CellgamesTorusTrees` in sources/torus_tree.h."""

ARRAYS = {
    **{"count": torch.int64, "parent": torch.int32, "parent_edge": torch.int32, "mover": torch.int64},
    **{"visits": torch.float32, "total": torch.float32, "raw": torch.float32, "worth": torch.float32},
    **{"resolved": torch.bool, "whole": torch.bool, "child": torch.int32, "edge_visits": torch.float32},
    **{"edge_total": torch.float32, "status": torch.int8},
}
"""The arrays of a `Tree`, in the same order after the fields."""


class _Trees(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_void_p) for name in (*_FIELDS, *ARRAYS))


def tree_arrays(tree: Tree) -> ctypes.Structure:
    """Return the addresses of the arrays of trees and of their states; the trees must outlive them."""
    state: Any = tree.state
    addresses = {name: pointer(getattr(state, name), dtype) for name, dtype in _FIELDS.items()}
    addresses |= {name: pointer(getattr(tree, name), dtype) for name, dtype in ARRAYS.items()}
    return _Trees(**addresses)

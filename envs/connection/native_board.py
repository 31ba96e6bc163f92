"""The boards of Hex and Y, as native code takes them."""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

from .boards import Shape, Tiling, board

__all__ = ["native_board"]


class _Board(ctypes.Structure):
    _fields_ = (
        ("cells", ctypes.c_int64),
        ("swap", ctypes.c_int64),
        ("goals", ctypes.c_int64 * 2),
        *((name, ctypes.c_void_p) for name in ("near", "sides", "mirrored")),
    )


@cache
def native_board(shape: Shape, tiling: Tiling, size: int, *, swap: bool = False) -> ctypes.Structure:
    """Return `CellgamesConnectionBoard` of sources/connection.h; it holds its arrays, and is kept for good."""
    cells = board(shape, tiling, size)
    arrays = {
        "near": np.array(cells.slots, np.int32),
        "sides": np.array(cells.sides, np.int32),
        "mirrored": np.array(cells.swapped, np.int32),
    }
    goals = (ctypes.c_int64 * 2)(*cells.goals)
    addresses = {name: array.ctypes.data for name, array in arrays.items()}
    made = _Board(cells=cells.cells, swap=int(swap), goals=goals, **addresses)
    made.arrays = arrays
    return made

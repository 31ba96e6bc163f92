"""The compiled library of native kernels, and the reason for its absence.

`setup.py` builds it from `sources/` when the package is installed. It is called through `ctypes` with the addresses of
tensors, so it needs neither torch's nor Python's binary interface, and calls release the interpreter's lock.
"""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any, TypeAlias

import torch
from torch import Tensor

INTERFACE = 15
"""The number of the interface; raised whenever a function changes its arguments (`sources/library.cpp` has it too)."""

SWITCH = "CELLGAMES_NATIVE"
"""The environment variable that turns the library off if it is `0`, or names the file of another one."""

_USED: ContextVar[bool] = ContextVar("_USED", default=True)

_RETURNING = (
    "cellgames_connection_proof",
    "cellgames_instruction_set",
    "cellgames_native_interface",
    "cellgames_torus_gumbel",
    "cellgames_torus_solver_entries",
    "cellgames_torus_solver_new",
    "cellgames_torus_solver_nodes",
    "cellgames_torus_solver_proof",
    "cellgames_trunk_scratch",
)
"""Functions that return a whole number; the others return nothing."""

Library: TypeAlias = ctypes.CDLL
"""The loaded library, whose functions take whole numbers and addresses."""


@dataclass(frozen=True)
class NativeStatus:
    """The state of the native kernels in this process.

    Attributes:
        path: file of the library, "" without a library.
        problem: reason why the library is not used, in a sentence; "" if it is used.
    """

    path: str
    problem: str

    def __str__(self) -> str:
        return f"native kernels: {self.problem or f'used, from {self.path}'}"


def library(device: torch.device) -> Library | None:
    """Return the library if it is built and kernels for `device` are in it, else None.

    A library that is there but cannot be used gives a warning, once.
    """
    return _loaded()[0] if device.type == "cpu" and _USED.get() else None


@contextmanager
def without_native() -> Iterator[None]:
    """Let torch code run within the block, in this thread: to compare results or speed."""
    token = _USED.set(False)
    try:
        yield
    finally:
        _USED.reset(token)


def status() -> NativeStatus:
    """Return the status of the library: in use, or the reason why not."""
    return _loaded()[1]


def pointer(tensor: Tensor, dtype: torch.dtype) -> int:
    """Return the address of a tensor's numbers for a native function.

    Raises:
        ValueError: the tensor is not contiguous, not on the CPU or of another dtype.
    """
    if tensor.dtype != dtype or tensor.device.type != "cpu" or not tensor.is_contiguous():
        raise ValueError(
            f"expected a contiguous {dtype} tensor on the CPU, "
            f"got {tensor.dtype} on {tensor.device} with strides {tensor.stride()}"
        )
    return tensor.data_ptr()


@cache
def _loaded() -> tuple[Library | None, NativeStatus]:
    path: str | None = os.environ.get(SWITCH, "")
    if path == "0":
        return None, NativeStatus("", f"off, since {SWITCH} is 0")
    if path in ("", "1"):
        found = find_spec("cellgames.envs.native._library")
        path = found.origin if found is not None else None
    if path is None:
        return None, NativeStatus("", "not built: no C++ compiler was found when the package was installed")
    try:
        loaded = ctypes.CDLL(path)
        _declare(loaded)
        problem = _mismatch(loaded)
    except (OSError, AttributeError) as error:
        problem = f"the native library cannot be loaded ({error}); install the package anew"
    if problem:
        warnings.warn(f"{path}: {problem}. The slower torch code runs instead.", stacklevel=4)
        return None, NativeStatus(path, problem)
    return loaded, NativeStatus(path, "")


def _mismatch(loaded: Library) -> str:
    number = loaded.cellgames_native_interface()
    if number == INTERFACE:
        return ""
    return f"the native library was built from other sources (interface {number}, expected {INTERFACE}); reinstall"


def _declare(loaded: Library) -> None:
    """Tell `ctypes` the arguments of each function: whole numbers of 64 bits and addresses; and its result."""
    number, address = ctypes.c_int64, ctypes.c_void_p
    functions: dict[str, list[Any]] = {
        "cellgames_native_interface": [],
        "cellgames_instruction_set": [number],
        "cellgames_torus_winners": [number, number, number, address, address, address, address],
        "cellgames_torus_uct": [address, address],
        "cellgames_torus_step": [address] * 2 + [number] * 3 + [address] * 6,
        "cellgames_torus_gumbel": [address, address],
        "cellgames_torus_put_stones": [number] * 3 + [address] * 6,
        "cellgames_connection_put_stones": [address] + [number] * 2 + [address] * 4,
        "cellgames_connection_step": [address] * 2 + [number] * 3 + [address] * 6,
        "cellgames_stone_planes": [number] * 7 + [address] * 4,
        "cellgames_planes_seen": [address] + [number] * 2 + [address] * 4,
        "cellgames_torus_winning": [number] * 3 + [address] * 4,
        "cellgames_connection_winning": [address] + [number] * 2 + [address] * 3,
        "cellgames_connection_winners": [address] + [number] * 2 + [address] * 4,
        "cellgames_connection_uct": [address] * 3,
        "cellgames_connection_solve": [address] * 2 + [number] * 5 + [address],
        "cellgames_connection_proof": [address] * 2 + [number] * 4 + [address, number, address],
        "cellgames_torus_solver_new": [number] * 3 + [address],
        "cellgames_torus_solver_each": [number] * 3 + [address] * 2 + [number, address],
        "cellgames_torus_solver_bound": [number] * 3,
        "cellgames_torus_solver_search": [number] * 3 + [address] * 2 + [number] + [address] * 2,
        "cellgames_torus_solver_moves": [number] * 3 + [address] * 2 + [number, address],
        "cellgames_torus_solver_nodes": [number],
        "cellgames_torus_solver_proof": [number, address] + [number] * 2 + [address, number, address],
        "cellgames_torus_solver_entries": [number] * 3 + [address],
        "cellgames_torus_solver_add": [number] * 2 + [address],
        "cellgames_torus_solver_clear": [number],
        "cellgames_torus_solver_end": [number],
        "cellgames_trunk": [address],
        "cellgames_trunk_scratch": [address],
        "cellgames_trunk_backward": [address, address],
        "cellgames_cloth_of_gold": [number] * 7 + [address] * 2,
        "cellgames_cloth_of_gold_legal": [number] * 6 + [address] * 10,
        "cellgames_cloth_of_gold_round": [number] * 8 + [address] * 6,
        "cellgames_cloth_of_gold_tally": [number] * 5 + [address] * 4,
        "cellgames_cloth_of_gold_step": [address] * 2 + [number] * 3 + [address] * 6,
        "cellgames_cloth_of_gold_territory": [number] * 6 + [address] * 2,
        "cellgames_cloth_of_gold_turn": [number] * 7 + [address] * 9,
        "cellgames_cloth_of_gold_ground": [number] * 4 + [address] * 2,
        "cellgames_cloth_of_gold_lives": [number] * 5 + [address] * 5,
        "cellgames_cloth_of_gold_wild": [number] * 6 + [address] * 7,
        "cellgames_cloth_of_gold_wild_turn": [address] * 2 + [number] * 3 + [address] * 6,
        "cellgames_cloth_of_gold_wild_legal": [address] * 2 + [number] * 2 + [address],
        "cellgames_cloth_of_gold_codes": [number] * 4 + [address] * 3,
        "cellgames_cloth_of_gold_zones": [number] * 4 + [address] * 3,
        "cellgames_life": [number] * 7 + [address] * 2,
        "cellgames_toroidal_cup": [number] * 9 + [ctypes.c_double] + [address] * 8,
        "cellgames_toroidal_cup_step": [address] * 2 + [number] * 3 + [address] * 6,
        "cellgames_toroidal_cup_seen": [number] * 10 + [address] * 5,
        "cellgames_choose": [number] * 6 + [address] * 6,
        "cellgames_random_legal": [number] * 4 + [address] * 3,
        "cellgames_spread_bits": [address] + [number] * 2 + [address],
        "cellgames_grid_adaptation_step": [address] + [number] * 4 + [address] * 2 + [number] * 2 + [address] * 4,
        "cellgames_grid_adaptation_talk_step": [address] + [number] * 4 + [address] * 2 + [number] * 2 + [address] * 7,
        "cellgames_grid_adaptation_legal": [address] + [number] * 3 + [address] * 3,
        "cellgames_grid_adaptation_trials": [address] * 4,
    }
    for name, arguments in functions.items():
        function = getattr(loaded, name)
        function.argtypes = arguments
        function.restype = number if name in _RETURNING else None

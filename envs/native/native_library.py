"""The compiled library of native kernels, and the reason for its absence.

`setup.py` builds it from `sources/` when the package is installed. It is called through `ctypes` with the addresses of
tensors, so it needs neither torch's nor Python's binary interface, and calls release the interpreter's lock.
"""

from __future__ import annotations

import ctypes
import os
import re
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

from cellgames.utils.errors import InputError

INTERFACE = 22
"""The number of the interface; raised whenever a function changes its arguments (`sources/library.cpp` has it too)."""

SWITCH = "CELLGAMES_NATIVE"
"""The environment variable that turns the library off if it is `0`, or names the file of another one."""

_USED: ContextVar[bool] = ContextVar("_USED", default=True)

Library: TypeAlias = ctypes.CDLL
"""The loaded library, whose functions take whole numbers, tensors and addresses (see `_FUNCTIONS`)."""


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
    """Return the address of a tensor's numbers; a `ValueError` unless it is contiguous, on the CPU and of the dtype."""
    if tensor.dtype != dtype or tensor.device.type != "cpu" or not tensor.is_contiguous():
        got = f"{tensor.dtype} on {tensor.device} with strides {tensor.stride()}"
        raise InputError("tensor", f"a contiguous {dtype} tensor on the CPU", got)
    return tensor.data_ptr()


def threads(work: int, each: int) -> int:
    """Return the number of threads for some work, of which each should have more than `each` to do."""
    return min(torch.get_num_threads(), 1 + work // each)


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
        number = loaded.cellgames_native_interface()
        fault = f"was built from other sources (interface {number}, expected {INTERFACE}); reinstall"
        problem = "" if number == INTERFACE else f"the native library {fault}"
    except (OSError, AttributeError) as error:
        problem = f"the native library cannot be loaded ({error}); install the package anew"
    if problem:
        warnings.warn(f"{path}: {problem}. The slower torch code runs instead.", stacklevel=4)
        return None, NativeStatus(path, problem)
    return loaded, NativeStatus(path, "")


class _Address(ctypes.c_void_p):
    """The address of a tensor's numbers, which keeps them."""

    tensor: Tensor


class _TensorArgument:
    """The type of an argument that is a tensor: one that is only read may have its numbers in any order."""

    def __init__(self, dtype: torch.dtype, written: bool) -> None:
        self._dtype, self._written = dtype, written

    def from_param(self, tensor: Tensor | None) -> ctypes.c_void_p | None:
        """Return the address; a tensor that does not fit makes the call raise an `ArgumentError` with the reason."""
        if tensor is None:
            return None
        if tensor.dtype == self._dtype and tensor.is_cpu and tensor.is_contiguous():
            return ctypes.c_void_p(tensor.data_ptr())
        tensor = tensor if self._written else tensor.contiguous()
        address = _Address(pointer(tensor, self._dtype))
        address.tensor = tensor  # until the end of the call
        return address


def _declare(loaded: Library) -> None:
    """Tell `ctypes` the arguments and the result of each function."""
    for name, signature in _FUNCTIONS.items():
        function, (arguments, _, result) = getattr(loaded, name), signature.partition("-> ")
        function.argtypes = [
            _PLAIN.get(kind) or _TensorArgument(_DTYPES[kind], bool(written))
            for times, written, kind in re.findall(r"(\d*)(&?)(\S)", arguments)
            for _ in range(int(times or 1))
        ]
        function.restype = _PLAIN.get(result)


_PLAIN: dict[str, Any] = {"n": ctypes.c_int64, "p": ctypes.c_void_p, "d": ctypes.c_double}
_DTYPES = {
    **{"q": torch.int64, "i": torch.int32, "h": torch.int16, "b": torch.int8},
    **{"B": torch.uint8, "?": torch.bool, "f": torch.float32},
}
_FUNCTIONS = {
    "cellgames_native_interface": "-> n",
    "cellgames_instruction_set": "n -> n",
    "cellgames_torus_winners": "3n i q i &i",
    "cellgames_torus_uct": "2p",
    "cellgames_torus_step": "2p 3n 6p",
    "cellgames_torus_gumbel": "2p -> n",
    "cellgames_torus_put_stones": "3n 2q 4p",
    "cellgames_connection_put_stones": "p 2n 2q 2p",
    "cellgames_connection_step": "2p 3n 6p",
    "cellgames_stone_planes": "7n 4p",
    "cellgames_planes_seen": "p 2n 5p",
    "cellgames_torus_winning": "3n i i q &?",
    "cellgames_connection_winning": "p 2n i q &?",
    "cellgames_connection_winners": "p 2n i q i &i",
    "cellgames_connection_uct": "3p",
    "cellgames_connection_gumbel": "3p -> n",
    "cellgames_connection_walks": "6n 2i B &B",
    "cellgames_connection_solve": "2p n p 2n p",
    "cellgames_connection_looks": "p 2n p q 2&q &?",
    "cellgames_connection_proof": "2p n p n p n p -> n",
    "cellgames_torus_solver_new": "3n p -> n",
    "cellgames_torus_solver_each": "3n 2p n p",
    "cellgames_torus_solver_bound": "3n",
    "cellgames_torus_solver_search": "3n 2p n 2p",
    "cellgames_torus_solver_moves": "3n 2p n p",
    "cellgames_torus_solver_nodes": "n -> n",
    "cellgames_torus_solver_proof": "n p 2n p n p -> n",
    "cellgames_torus_solver_entries": "3n p -> n",
    "cellgames_torus_solver_add": "2n p",
    "cellgames_torus_solver_clear": "n",
    "cellgames_torus_solver_end": "n",
    "cellgames_trunk": "p",
    "cellgames_trunk_scratch": "p -> n",
    "cellgames_trunk_backward": "2p",
    "cellgames_cloth_of_gold": "7n q &q",
    "cellgames_cloth_of_gold_units": "2p 3n q ?",
    "cellgames_cloth_of_gold_shapes": "11n 3q ? 6q &q",
    "cellgames_cloth_of_gold_legal": "6n 6q 3i p",
    "cellgames_cloth_of_gold_tally": "5n 4p",
    "cellgames_cloth_of_gold_step": "2p 3n 6p",
    "cellgames_cloth_of_gold_territory": "6n q &q",
    "cellgames_cloth_of_gold_wild_begin": "2p 2n",
    "cellgames_cloth_of_gold_wild_live": "2p 2n",
    "cellgames_cloth_of_gold_wild_step": "2p 3n 6p",
    "cellgames_cloth_of_gold_wild_units": "2p 3n q ?",
    "cellgames_cloth_of_gold_wild_seen": "2p 3n q &q &h",
    "cellgames_cloth_of_gold_zones": "4n q i &q",
    "cellgames_life": "7n q &q",
    "cellgames_toroidal_cup": "9n d q b 2&q &? 2&b &i",
    "cellgames_toroidal_cup_step": "2p 3n 6p",
    "cellgames_toroidal_cup_seen": "10n 3b q p",
    "cellgames_choose": "6n 2p q &q &f &q",
    "cellgames_random_legal": "4n p q &q",
    "cellgames_draw": "2n 2q &q",
    "cellgames_spread_bits": "q 2n &q",
    "cellgames_grid_adaptation_step": "p 4n 2p 2n 4p",
    "cellgames_grid_adaptation_talk_step": "p 4n 2p 2n 7p",
    "cellgames_grid_adaptation_legal": "p 3n 3p",
    "cellgames_grid_adaptation_trials": "4p",
}
"""The arguments of each function: n a whole number, d a float, p an address, others tensors by dtype, & if written.

What a function returns stands behind an arrow.
"""

"""A check, on any machine, that tensor code keeps to the device of its arguments.

A tensor that was made without `device=` works on the CPU and fails on CUDA. `DeviceCheck` follows such tensors through
the calls of torch, and finds where one meets another tensor, or is returned.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from typing_extensions import override

_NAMES = (
    *("arange", "as_tensor", "asarray", "empty", "eye", "full", "linspace", "logspace", "ones", "rand", "randint"),
    *("randn", "randperm", "scalar_tensor", "tensor", "tril_indices", "triu_indices", "zeros"),
)
_MAKERS = {getattr(torch, name): name for name in _NAMES}
_MOVERS = (Tensor.to, Tensor.cuda, Tensor.cpu, Tensor.type_as)
_WRITERS = (Tensor.copy_, Tensor.__setitem__)  # they take values from another device
_TORCH = Path(torch.__file__).parent


class DeviceCheck(TorchFunctionMode):
    """A context in which tensors that are made without a device are taken to be on another one than the arguments.

    Attributes:
        fault: what would fail on another device than the CPU, and where in the code; None if nothing would.
    """

    fault: str | None = None

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[int, tuple[Tensor, str]] = {}  # by `id`, kept alive, with where each was made

    def returned(self, result: Any) -> None:
        """Note what a function returns, a tensor or several."""
        for tensor in tree_leaves(result):
            if isinstance(tensor, Tensor) and tensor.ndim and id(tensor) in self._made:
                self._note(self._made[id(tensor)][1])

    @override
    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        named = dict(kwargs or {})
        tensors = [leaf for leaf in tree_leaves((args, named)) if isinstance(leaf, Tensor)]
        result = func(*args, **named)
        strangers = [tensor for tensor in tensors if id(tensor) in self._made]
        if func in _MAKERS:
            if named.get("device") is None and not tensors:
                self._adopt(result, f"torch.{_MAKERS[func]} without device= in {_caller()}")
        elif func in _MOVERS:
            places = any(isinstance(arg, str | torch.device | Tensor) for arg in args[1:])
            names_device = places or "device" in named or "other" in named
            if strangers and (func is not Tensor.to or names_device):
                self._made.pop(id(result), None)  # where the device is the same, the result is the tensor itself
            elif strangers:
                self._adopt(result, self._made[id(args[0])][1])
        elif strangers:
            index = func is Tensor.__getitem__ and id(args[0]) not in self._made
            if len(strangers) == len(tensors):
                self._adopt(result, self._made[id(strangers[0])][1])
            elif func not in _WRITERS and not index:
                housed = any(tensor.ndim for tensor in tensors if id(tensor) not in self._made)
                for tensor in strangers:
                    if tensor.ndim and housed:
                        self._note(self._made[id(tensor)][1])
        return result

    def _adopt(self, result: Any, where: str) -> None:
        for tensor in tree_leaves(result):
            if isinstance(tensor, Tensor):
                self._made[id(tensor)] = tensor, where

    def _note(self, where: str) -> None:
        self.fault = self.fault or where


def _caller() -> str:
    """Return the file and line of the code that called torch."""
    frame = sys._getframe(1)
    while frame.f_back is not None and (frame.f_code.co_filename == __file__ or _TORCH in _path(frame).parents):
        frame = frame.f_back
    return f"{_path(frame).name}, line {frame.f_lineno}"


def _path(frame: FrameType) -> Path:
    return Path(frame.f_code.co_filename)

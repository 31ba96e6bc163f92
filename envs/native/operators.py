"""Functions with two implementations: torch code, which is the reference, and native code.

The torch code runs on any device, wherever the native library is missing, and in graphs of `torch.compile`; the native
code runs on the CPU and gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import torch

from .native_library import Library, library

P = ParamSpec("P")
T = TypeVar("T")


class Operator(Generic[P, T]):
    """A function of tensors, states or lists of tensors, and of other values: a decorator of its torch code.

    Args:
        reference: the torch code.

    Attributes:
        reference: the torch code.
    """

    _native: Callable[..., Any] | None = None

    def __init__(self, reference: Callable[P, T]) -> None:
        self.reference = reference
        update_wrapper(self, reference)

    def native(self, function: Callable[Concatenate[Library, P], T]) -> Callable[Concatenate[Library, P], T]:
        """Register native code for the CPU: a function of the library and the operator's arguments.

        It may return `NotImplemented` for arguments that it does not know; then the torch code runs.
        """
        self._native = function
        return function

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> T:
        """Run the native code where that can be, else the torch code."""
        native = None if self._native is None or torch.compiler.is_compiling() else library(_device(arguments))
        if native is not None and self._native is not None:
            result: T = self._native(native, *arguments, **named)
            if result is not NotImplemented:
                return result
        return self.reference(*arguments, **named)

    def __reduce__(self) -> str:
        return str(vars(self)["__qualname__"])  # copies and pickles name the operator in its module

    def __repr__(self) -> str:
        return f"Operator({self.reference.__module__}.{self.reference.__qualname__})"


def _device(arguments: tuple[Any, ...]) -> torch.device:
    """Return the device of the first tensor, state or sequence of tensors."""
    firsts = (argument[0] if isinstance(argument, list | tuple) else argument for argument in arguments)
    devices = (getattr(first, "device", None) for first in firsts)
    return next(device for device in devices if isinstance(device, torch.device))

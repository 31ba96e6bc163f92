"""Functions with two implementations: torch code, which is the reference, and native code.

The torch code runs on any device, wherever the native library is missing, and in graphs of `torch.compile`, such as the
steps by `core.vector`; the native code runs on the CPU and gives the same bits.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import lru_cache, update_wrapper, wraps
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar

import torch

from .native_library import Library, library

P = ParamSpec("P")
T = TypeVar("T")
Compile = Literal["auto", "always", "never"]


class Operator(Generic[P, T]):
    """A function of tensors, states or lists of tensors, and of other values: a decorator of its torch code.

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


# ---------------------------------------------------------------- compiled torch code


@lru_cache(maxsize=8)
def compiler_found(device: str) -> bool:
    """Return True if compiling can work on a type of device; on CUDA the compiler comes with torch."""
    if device != "cpu":
        return True
    return any(map(shutil.which, filter(None, (os.environ.get("CXX"), "g++", "clang++", "cl"))))


def is_compile_error(error: Exception) -> bool:
    """Return True if the compiler failed, or the disk that it writes to, and not the code that was compiled."""
    return isinstance(error, OSError) or type(error).__module__.startswith(("torch._dynamo", "torch._inductor"))


def table(make: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function of a size and a device that makes tensors; compiled code does not trace its loops."""
    cached = lru_cache(maxsize=512)(make)

    @wraps(make)
    def look_up(*args: P.args, **kwargs: P.kwargs) -> T:
        return cached(*args, **kwargs)  # type: ignore[arg-type]  # hashable: a size and a device

    # All that torch.compiler.assume_constant_result does, but for importing the compiler, which takes a second or two.
    look_up._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return look_up

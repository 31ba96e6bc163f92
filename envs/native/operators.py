"""Torch operators `torch.ops.cellgames.NAME` with two implementations: torch code and native code.

The torch code is the reference. It runs on any device and wherever the native library is missing; the native code runs
on the CPU and gives the same bits. `torch.compile` and fake tensors take an operator as one node of a graph.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Concatenate, Generic, ParamSpec, TypeVar

import torch

from .native_library import Library, library

NAMESPACE = "cellgames"

P = ParamSpec("P")
T = TypeVar("T")
_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")


class Operator(Generic[P, T]):
    """A function of tensors that torch knows as an operator.

    Args:
        schema: name, arguments and results in the language of `torch.library`; `Tensor(a!) x` for what is overwritten.
        reference: the torch code.
        fake: returns empty results of the right shapes, dtypes and devices.

    Attributes:
        name: the name with its namespace.
        reference: the torch code, which any device runs.
    """

    def __init__(self, schema: str, reference: Callable[P, T], fake: Callable[P, T]) -> None:
        name = schema.partition("(")[0]
        self.name = f"{NAMESPACE}::{name}"
        self.reference = reference
        update_wrapper(self, reference)
        _LIBRARY.define(schema, tags=(torch.Tag.pt2_compliant_tag,))
        _LIBRARY.impl(name, reference, "CompositeExplicitAutograd")
        torch.library.register_fake(self.name, fake, lib=_LIBRARY)
        self._overload: Callable[P, T] = getattr(getattr(torch.ops, NAMESPACE), name).default

    def native(self, function: Callable[Concatenate[Library, P], T]) -> Callable[Concatenate[Library, P], T]:
        """Register native code for the CPU: a function of the library and the operator's arguments.

        It may return `NotImplemented` for arguments that it does not know; then the torch code runs.
        """

        def on_the_cpu(*arguments: P.args, **named: P.kwargs) -> T:
            if (loaded := library(_CPU)) is not None:
                result = function(loaded, *arguments, **named)
                if result is not NotImplemented:
                    return result
            return self.reference(*arguments, **named)

        _LIBRARY.impl(self.name.partition("::")[2], on_the_cpu, "CPU")
        return function

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> T:
        """Call the operator."""
        return self._overload(*arguments, **named)

    def __reduce__(self) -> str:
        return str(vars(self)["__qualname__"])  # copies and pickles name the operator in its module

    def __repr__(self) -> str:
        return f"Operator({self.name})"


_CPU = torch.device("cpu")


def operator(schema: str, *, fake: Callable[P, T]) -> Callable[[Callable[P, T]], Operator[P, T]]:
    """Return a decorator that makes torch code an `Operator`, to which its `native` then adds the native code."""
    return lambda reference: Operator(schema, reference, fake)

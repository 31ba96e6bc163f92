"""Lookup tables of the rules: made once for their arguments, constants to the compiler."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def table(make: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function of a size and a device that makes tensors; compiled code does not trace its loops."""
    cached = lru_cache(maxsize=512)(make)

    @wraps(make)
    def look_up(*args: P.args, **kwargs: P.kwargs) -> R:
        return cached(*args, **kwargs)  # type: ignore[arg-type]  # hashable: a size and a device

    # All that torch.compiler.assume_constant_result does, but for importing the compiler, which takes a second or two.
    look_up._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return look_up

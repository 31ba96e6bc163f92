"""When torch code is compiled (`core.vector` compiles whole steps), and tables that are constants to the compiler."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Literal, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
Compile = Literal["auto", "always", "never"]


@lru_cache(maxsize=8)
def compiler_found(device: str) -> bool:
    """Return True if compiling can work on a type of device; on CUDA the compiler comes with torch."""
    if device != "cpu":
        return True
    return any(map(shutil.which, filter(None, (os.environ.get("CXX"), "g++", "clang++", "cl"))))


def is_compile_error(error: Exception) -> bool:
    """Return True if the compiler failed, or the disk that it writes to, and not the code that was compiled."""
    return isinstance(error, OSError) or type(error).__module__.startswith(("torch._dynamo", "torch._inductor"))


def table(make: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function of a size and a device that makes tensors; compiled code does not trace its loops."""
    cached = lru_cache(maxsize=512)(make)

    @wraps(make)
    def look_up(*args: P.args, **kwargs: P.kwargs) -> R:
        return cached(*args, **kwargs)  # type: ignore[arg-type]  # hashable: a size and a device

    # All that torch.compiler.assume_constant_result does, but for importing the compiler, which takes a second or two.
    look_up._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return look_up

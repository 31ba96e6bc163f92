"""When torch code is compiled: `core.vector` compiles whole steps by `torch.compile`."""

from __future__ import annotations

import os
import shutil
from functools import lru_cache
from typing import Literal, get_args

from cellgames.utils.errors import check_one_of

Compile = Literal["auto", "always", "never"]


def check_compile(compile: str) -> None:
    """Raise a `ValueError` unless `compile` is "auto", "always" or "never"."""
    check_one_of("compile", compile, get_args(Compile))


@lru_cache(maxsize=8)
def compiler_found(device: str) -> bool:
    """Return True if compiling can work on a type of device; on CUDA the compiler comes with torch."""
    if device != "cpu":
        return True
    return any(map(shutil.which, filter(None, (os.environ.get("CXX"), "g++", "clang++", "cl"))))


def is_compile_error(error: Exception) -> bool:
    """Return True if the compiler failed, or the disk that it writes to, and not the code that was compiled."""
    return isinstance(error, OSError) or type(error).__module__.startswith(("torch._dynamo", "torch._inductor"))

"""The native library for tests; they are skipped where it cannot be built, and fail where it is only missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from cellgames.envs.native import Library, library, status
from cellgames.envs.native.operators import compiler_found


def native_library() -> Library:
    """Return the library; a machine without a compiler skips the test."""
    if (found := library(torch.device("cpu"))) is not None:
        return found
    if compiler_found("cpu"):
        pytest.fail(f"{status()}; this machine has a compiler: install the package anew")
    pytest.skip(str(status()))


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let torch and native code have so many threads for a while."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)

"""Kernels in C++ for the CPU: the same results as the torch code beside them.

`status` says whether they are used; where there is no built library the torch code runs.
"""

from __future__ import annotations

from .native_library import Library, NativeStatus, library, pointer, status

__all__ = ["Library", "NativeStatus", "library", "pointer", "status"]

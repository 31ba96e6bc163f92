"""Kernels in C++ for the CPU: the same results as the torch code beside them.

`status` says whether they are used; where there is no built library the torch code runs.
"""

from __future__ import annotations

from .native_library import Library, NativeStatus, library, pointer, status, without_native
from .operators import Operator, operator

__all__ = ["Library", "NativeStatus", "Operator", "library", "operator", "pointer", "status", "without_native"]

"""Kernels in C++ for the CPU: the same results as the torch code beside them, several times as fast.

`library` loads them; where there is no built library the torch code runs.
"""

from .native_library import Library, NativeStatus, library, pointer, status

__all__ = ["Library", "NativeStatus", "library", "pointer", "status"]

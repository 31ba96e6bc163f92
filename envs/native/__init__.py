"""Kernels in C++ for the CPU: the same results as the torch code beside them.

`status` says whether they are used; where there is no built library the torch code runs.
"""

from .native_library import (
    Library as Library,
    NativeStatus as NativeStatus,
    library as library,
    pointer as pointer,
    status as status,
    without_native as without_native,
)
from .operators import Operator as Operator

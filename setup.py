"""The native kernels, which are built where there is a C++ compiler; the rest stands in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import Extension, setup

SOURCES = Path("envs/native/sources")
# Sums and products are rounded one by one, as torch does, so that results are equal in every bit.
UNIX = ["-std=c++17", "-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden"]
if sys.platform == "linux":
    UNIX.append("-Wno-psabi")  # vectors are passed between inlined functions only

setup(
    ext_modules=[
        Extension(
            "cellgames.envs.native._library",
            sources=sorted(str(path) for path in SOURCES.glob("*.cpp")),
            depends=sorted(str(path) for path in SOURCES.glob("*.h")),
            extra_compile_args=["/std:c++17", "/O2"] if sys.platform == "win32" else UNIX,
            extra_link_args=[] if sys.platform in ("win32", "darwin") else ["-pthread"],
            py_limited_api=True,
            optional=True,  # without a compiler the torch code runs
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)

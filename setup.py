"""The native kernels, which are built where there is a C++ compiler; the rest stands in pyproject.toml."""

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCES = Path("envs/native/sources")
# Sums and products are rounded one by one, as torch does, so that results are equal in every bit. Python's own options
# may have -fwrapv, with which GCC makes no vectors of loops over int: it takes three times the instructions.
UNIX = ["-std=c++17", "-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-wrapv"]
UNIX.append("-fvisibility=hidden")
if sys.platform == "linux":
    UNIX.append("-Wno-psabi")  # vectors are passed between inlined functions only


class BuildTogether(build_ext):
    """Compile the sources at the same time, a compiler for each core."""

    def build_extension(self, ext: Extension) -> None:
        """Build the library; outside Windows the compiler is asked for one source at a time."""
        compile_all = self.compiler.compile

        def compile_together(sources: list[str], *, extra_postargs: list[str], **options: Any) -> list[str]:
            def compile_one(source: str) -> list[str]:
                # Solvers have no loops that gain by vectors: -O2 makes them as fast, in half the time.
                more = ["-O2"] if source.endswith("solver.cpp") else []
                return compile_all([source], extra_postargs=extra_postargs + more, **options)

            with ThreadPoolExecutor() as pool:
                return [*chain(*pool.map(compile_one, reversed(sources)))]  # reversed: long ones are not the last

        if sys.platform != "win32":
            self.compiler.compile = compile_together
        super().build_extension(ext)


setup(
    cmdclass={"build_ext": BuildTogether},
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

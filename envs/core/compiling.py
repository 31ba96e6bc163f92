"""Tensor code compiled for fixed shapes and called at the price of its kernels.

A call through `torch.compile` costs 25 to 40 microseconds, which is more than a generation of Life on a hundred
boards takes. What it compiles to can be called in 3: the shapes are fixed and the tensors are ours, so there is
nothing to guard, to wrap or to differentiate. `kernel` traces and compiles with the same compiler and gives that.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, Literal

import torch
from torch import Tensor

__all__ = ["Compile", "Kernel", "check_compile", "compiler_found", "is_compile_error", "kernel"]

Compile = Literal["auto", "always", "never"]


class Kernel:
    """Tensor code for arguments of fixed shapes, to be called with a list of them; the list is emptied.

    compiled: whether it runs compiled.
    """

    __slots__ = ("_function", "compiled")

    def __init__(self, function: Callable[[list[Tensor]], Any], compiled: bool) -> None:
        self._function = function
        self.compiled = compiled

    def __call__(self, arguments: list[Tensor]) -> None:
        """Run it; results are written into some of the arguments."""
        self._function(arguments)


BREAK_EVEN = 4000  # eager calls of a few dozen operations take about as long as compiling them
_COMPILED: dict[Hashable, Kernel] = {}
_EAGER_CALLS: Counter[Hashable] = Counter()

# Without the first three, chains of small operations whose results are used twice are cut into many passes over memory;
# indices come from tables and shapes from the caller who chose the kernel by them, and asserting either costs as
# much as a small kernel.
_OPTIONS: dict[str, Any] = {
    "realize_opcount_threshold": int(os.environ.get("OPC", "200")),
    "realize_reads_threshold": int(os.environ.get("RDS", "100")),
    "assert_indirect_indexing": False,
    "size_asserts": False,
    "alignment_asserts": False,
}


def check_compile(compile: str) -> None:
    """Raise a `ValueError` unless `compile` is one of the three words."""
    if compile not in ("auto", "always", "never"):
        raise ValueError(f"compile must be 'auto', 'always' or 'never', got {compile!r}")


@lru_cache(maxsize=8)
def compiler_found(device: str) -> bool:
    """Whether compiling can work on a type of device; on CUDA the compiler comes with torch."""
    if device != "cpu":
        return True
    return any(map(shutil.which, filter(None, (os.environ.get("CXX"), "g++", "clang++", "cl"))))


def is_compile_error(error: Exception) -> bool:
    """Whether the compiler failed, and not the code that was compiled."""
    return type(error).__module__.startswith(("torch._dynamo", "torch._inductor"))


def kernel(
    function: Callable[..., None], examples: list[Tensor], *, key: Hashable, compile: Compile = "auto", calls: int = 1
) -> Kernel:
    """`function` as a callable of one list of tensors, of the shapes, strides and device of `examples`.

    Args:
        function: tensor code without branches on values; it writes its results into some of its arguments, by one
            `copy_` of a whole argument each, at its end, and returns nothing. What it changes in place before must
            be its own, and changed by methods (`x.bitwise_or_(y)`, not `x |= y`).
        examples: arguments to trace with; not changed.
        key: what else the function depends on; functions of the same key are the same. They are compiled once in a
            process for the same shapes, device and number of threads.
        compile: "always"; "never", then the function itself is called; or "auto", compiled, where a compiler is
            found, as soon as the calls asked for would take about as long eagerly as compiling takes. If the
            compiler fails, a warning tells, and "auto" goes on eagerly.
        calls: how many calls will follow.
    """
    check_compile(compile)
    device = examples[0].device
    shapes = tuple((tuple(x.shape), x.stride(), x.dtype) for x in examples)
    place = (function.__qualname__, key, shapes, device, torch.get_num_threads())
    if compile != "never" and place in _COMPILED:
        return _COMPILED[place]
    if compile == "auto":
        _EAGER_CALLS[place] += calls
        if _EAGER_CALLS[place] < BREAK_EVEN or not compiler_found(device.type):
            compile = "never"
    if compile != "never":
        try:
            _COMPILED[place] = Kernel(_compile(function, [torch.zeros_like(x) for x in examples]), True)
            return _COMPILED[place]
        except Exception as error:
            if compile == "always" or not is_compile_error(error):
                raise
            warnings.warn(f"compiling {function.__qualname__} failed, it runs eagerly: {error}", stacklevel=3)
            _EAGER_CALLS[place] = -(1 << 60)  # not again

    def eager(arguments: list[Tensor]) -> None:
        function(*arguments)
        arguments.clear()  # as the compiled form does

    return Kernel(eager, False)


def _compile(function: Callable[..., None], examples: list[Tensor]) -> Callable[[list[Tensor]], Any]:
    try:
        from torch._guards import TracingContext, tracing
        from torch._inductor import config
        from torch._inductor.compile_fx import compile_fx_inner
        from torch._inductor.decomposition import select_decomp_table
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.proxy_tensor import make_fx
        from torch.fx.experimental.symbolic_shapes import ShapeEnv
    except ImportError:  # a version of torch whose compiler has other insides
        return _through_the_front_door(function, examples)

    def traced(*arguments: Tensor) -> tuple[()]:
        function(*arguments)
        return ()

    with torch.no_grad(), config.patch(_OPTIONS):
        function(*examples)  # makes the tables it looks up, which must not be traced
        pure = torch.func.functionalize(traced, remove="mutations_and_views")
        graph = make_fx(pure, decomposition_table=select_decomp_table())(*examples)
        # The compiler's cache on disk serves only who says where shapes come from, though ours are fixed.
        with tracing(TracingContext(FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True))):
            compiled = compile_fx_inner(graph, examples)
    return getattr(compiled, "current_callable", None) or compiled


def _through_the_front_door(function: Callable[..., None], examples: list[Tensor]) -> Callable[[list[Tensor]], Any]:
    compiled = torch.compile(function, fullgraph=True, dynamic=False, options=_OPTIONS)

    def call(arguments: list[Tensor]) -> None:
        with torch.no_grad():
            compiled(*arguments)

    call(examples)
    return call

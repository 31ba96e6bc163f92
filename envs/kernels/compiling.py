"""Tensor code compiled for fixed shapes, as soon as that pays."""

from __future__ import annotations

import os
import shutil
import threading
import types
import warnings
from collections import Counter
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Literal

import torch
from torch import Tensor

from cellgames.utils.foreign_text import shown

Compile = Literal["auto", "always", "never"]


class Kernel:
    """Tensor code for arguments of fixed shapes, to be called with a list of them; the list is emptied.

    compiled: True if it runs compiled.
    """

    __slots__ = ("_function", "compiled")

    def __init__(self, function: Callable[[list[Tensor]], Any], compiled: bool) -> None:
        self._function = function
        self.compiled = compiled

    def __call__(self, arguments: list[Tensor]) -> None:
        """Run the code; results are written into some of the arguments."""
        self._function(arguments)


BREAK_EVEN = 4000  # eager calls of a few dozen operations take about as long as compiling them
_LOAD = 1 << 14  # so many elements of the largest argument cost an eager call about as much again
ENDLESS = 1 << 40  # calls of a loop without a known end
_PLANNED: ContextVar[tuple[Compile, int]] = ContextVar("_PLANNED", default=("auto", 1))
_LOCK = threading.Lock()
_COMPILED: dict[Hashable, Kernel | None] = {}  # None where the compiler failed
_EAGER_CALLS: Counter[Hashable] = Counter()

# Without the former, chains of small operations whose results are used twice are cut into many passes over memory.
# Indices come from tables and shapes from the caller who chose the kernel by them, and asserting either costs as much
# as a small kernel.
_FUSED: dict[str, Any] = {
    "realize_opcount_threshold": 1000,
    "realize_reads_threshold": 100,
    "realize_acc_reads_threshold": 1000,
}
_ALWAYS: dict[str, Any] = {
    "assert_indirect_indexing": False,
    "size_asserts": False,
    "alignment_asserts": False,
    "guard_filter_fn": lambda guards: [False] * len(guards),  # the shapes are fixed
}


def check_compile(compile: str) -> None:
    """Raise a `ValueError` unless `compile` is "auto", "always" or "never"."""
    if compile not in ("auto", "always", "never"):
        raise ValueError(f"compile must be 'auto', 'always' or 'never', got {shown(compile)}")


@lru_cache(maxsize=8)
def compiler_found(device: str) -> bool:
    """Return True if compiling can work on a type of device; on CUDA the compiler comes with torch."""
    if device != "cpu":
        return True
    return any(map(shutil.which, filter(None, (os.environ.get("CXX"), "g++", "clang++", "cl"))))


def is_compile_error(error: Exception) -> bool:
    """Return True if the compiler failed, or the disk that it writes to, and not the code that was compiled."""
    return isinstance(error, OSError) or type(error).__module__.startswith(("torch._dynamo", "torch._inductor"))


class planned:  # noqa: N801  # it is used as a function is
    """A context manager that sets the defaults of `kernel`, for callers who know how often rules are called."""

    def __init__(self, compile: Compile, calls: int) -> None:
        check_compile(compile)
        self._plan = compile, calls

    def __enter__(self) -> None:
        self._token = _PLANNED.set(self._plan)

    def __exit__(self, *error: object) -> None:
        _PLANNED.reset(self._token)


def kernel(
    function: Callable[..., None],
    examples: list[Tensor],
    *,
    compile: Compile | None = None,
    calls: int | None = None,
    fused: bool = True,
    key: Hashable = None,
) -> Kernel:
    """Return `function` as a callable of one list of tensors, of the shapes, strides and device of `examples`.

    Args:
        function: tensor code without branches on values; it writes its results into some of its arguments, by one
            `copy_` of a whole argument each, at its end, and returns nothing. Tensors that it changes in place before
            must be its own, and changed by methods (`x.bitwise_or_(y)`, not `x |= y`). The same code with equal values
            around it (its closure, which must be hashable) is compiled once in a process for the same shapes, device
            and number of threads.
        examples: arguments to trace with; not changed.
        compile: "always"; "never", then the function itself is called; or "auto", compiled, where a compiler is
            found, as soon as the calls asked for would take about as long eagerly as compiling takes. If the
            compiler fails, a warning tells, and "auto" goes on eagerly. Within `planned`, "auto" and None are what it
            says.
        calls: number of calls that will follow; None: as `planned`, else one.
        fused: run through memory once, whatever is worked out again for that; where results are used again and again,
            as in dilation, that grows exponentially, and it is for the compiler to cut the code into passes.
        key: stands for the function with the values around it, and for shapes, strides and device of the examples,
            where the caller knows that they are the same whenever it is; looking at them all takes longer than to
            run a small kernel.

    Returns:
        The kernel; nothing checks what it is called with, so tensors of other shapes or strides are undefined
        behaviour.
    """
    plan = _PLANNED.get()
    compile, calls = plan[0] if compile in (None, "auto") else compile, plan[1] if calls is None else calls
    check_compile(compile)
    if compile != "never":
        place = _place(function, examples) if key is None else (key, torch.get_num_threads())
        with _LOCK:  # the compiler is for one thread at a time
            untried = place not in _COMPILED or (compile == "always" and not _COMPILED[place])
            if untried and _pays(place, examples[0].device, compile, calls, max(x.numel() for x in examples)):
                _COMPILED[place] = _tried(function, list(map(_blank, examples)), compile, fused)
            if compiled := _COMPILED.get(place):
                return compiled

    def eager(arguments: list[Tensor]) -> None:
        function(*arguments)
        arguments.clear()  # as the compiled form does

    return Kernel(eager, False)


def _blank(example: Tensor) -> Tensor:
    """Return zeros that lie in memory like the example, also where it is a part of something larger."""
    return torch.empty_strided(example.shape, example.stride(), dtype=example.dtype, device=example.device).zero_()


def _place(function: Callable[..., None], examples: list[Tensor]) -> Hashable:
    """Return all that a compiled function depends on."""
    around = tuple(cell.cell_contents for cell in function.__closure__ or ())
    shapes = tuple((x.shape, x.stride(), x.dtype, x.device) for x in examples)
    return (function.__module__, function.__code__, around, shapes, torch.get_num_threads())


def _pays(place: Hashable, device: torch.device, compile: Compile, calls: int, elements: int) -> bool:
    if compile == "always":
        return True
    _EAGER_CALLS[place] += calls * (1 + elements // _LOAD)
    return _EAGER_CALLS[place] >= BREAK_EVEN and compiler_found(device.type)


def _tried(function: Callable[..., None], examples: list[Tensor], compile: Compile, fused: bool) -> Kernel | None:
    """Return the function compiled; None where that fails and need not work."""
    with torch.no_grad():
        function(*examples)  # its own errors are no compiler's; and the tables it looks up must not be traced
    try:
        return Kernel(_compile(function, examples, {**_ALWAYS, **(_FUSED if fused else {})}), True)
    except Exception as error:  # of many kinds: no compiler, no room on the disk, a cache that cannot be written
        if compile == "always":
            raise
        warnings.warn(f"compiling {function.__qualname__} failed, it runs eagerly: {error!r}", stacklevel=4)
        return None


def _compile(
    function: Callable[..., None], examples: list[Tensor], options: dict[str, Any]
) -> Callable[[list[Tensor]], Any]:
    """Compile for the shapes of the examples, which are written to."""
    # A code object of its own: the compiler's limit of recompilations counts by code object.
    code, name, around = function.__code__.replace(), function.__qualname__, function.__closure__
    own = types.FunctionType(code, function.__globals__, name, function.__defaults__, around)
    compiled = torch.compile(own, fullgraph=True, dynamic=False, options=options)

    @torch.no_grad()
    def run(arguments: list[Tensor]) -> None:
        compiled(*arguments)
        arguments.clear()

    run(list(examples))
    return run

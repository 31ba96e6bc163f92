"""The state of the process that code of others may change, and how it is put back.

It is the working directory, the standard streams and their descriptors, signal handlers and timers, environment
variables, the mask of file permissions, the locale, the path of imports, warnings, limits of the interpreter, torch's
defaults and modes, and numpy's error handling. What a thread has of its own is put back in that thread. Memory, files,
imported modules, limits of resources and threads that go on are not among it.
"""

from __future__ import annotations

import gc
import importlib
import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
import torch

__all__ = ["ProcessState", "Streams", "ThreadState", "handler_of_interrupts"]

# The functions of `signal` without its enums, which take most of the time.
_SIGNAL: Any = importlib.import_module("_signal")
_NUMPY: Any = np.random  # whose stubs lack the two functions that are needed
_POSIX = os.name == "posix"
_NAMES = "INT TERM HUP QUIT ALRM VTALRM PROF CHLD PIPE USR1 USR2 ABRT SEGV"
_SIGNALS = [int(getattr(signal, f"SIG{name}")) for name in _NAMES.split() if hasattr(signal, f"SIG{name}")]
_TIMERS = (0, 1, 2) if hasattr(_SIGNAL, "setitimer") else ()
_STREAMS = ("stdin", "stdout", "stderr")


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return ""


def _change_folder(folder: str) -> None:
    if folder:
        os.chdir(folder)


def _collect(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()


_ENVIRONMENT: Any = os.environ
_LOCALE: Any = importlib.import_module("_locale")


def _environment() -> dict[Any, Any]:
    # The dictionary behind `os.environ`: to read a variable through that one takes fifty times as long.
    found: dict[Any, Any] = _ENVIRONMENT._data.copy()
    return found if os.environ is _ENVIRONMENT else {}


def _set_environment(was: dict[Any, Any]) -> None:
    os.environ = _ENVIRONMENT  # noqa: B003  # put back, not cleared
    now = _ENVIRONMENT._data
    for key in now.keys() - was.keys():
        os.unsetenv(key)
        del now[key]
    for key, value in was.items():
        if now.get(key) != value:
            os.putenv(key, value)
            now[key] = value


def _permissions() -> int:
    mask = os.umask(0o077)  # it can only be read by setting it
    os.umask(mask)
    return mask


def _set_path(path: list[str]) -> None:
    sys.path = path


# What is compared by value: how to read it and how to set it. Where each thread has its own, `ThreadState` has it.
_SHARED: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    (_folder, _change_folder),
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    (_environment, _set_environment),
    (_permissions, os.umask),
    (lambda: _LOCALE.setlocale(_LOCALE.LC_ALL, None), lambda name: _LOCALE.setlocale(_LOCALE.LC_ALL, name)),
    (lambda: sys.path[:], _set_path),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (sys.get_int_max_str_digits, sys.set_int_max_str_digits),
    (sys.getswitchinterval, sys.setswitchinterval),
    (gc.isenabled, _collect),
)
_OF_THREAD: tuple[tuple[Callable[[], Any], Callable[[Any], Any]], ...] = (
    (torch.is_grad_enabled, torch.set_grad_enabled),
    (torch.get_num_threads, torch.set_num_threads),
    (lambda: torch.is_autocast_enabled("cpu"), lambda on: torch.set_autocast_enabled("cpu", on)),
    (np.geterr, lambda errors: np.seterr(**errors)),
)


def handler_of_interrupts(handler: Any = None) -> Any:
    """Return the handler of Ctrl-C; set another one if there is one given. In the main thread only."""
    return _SIGNAL.getsignal(signal.SIGINT) if handler is None else _SIGNAL.signal(signal.SIGINT, handler)


class ProcessState:
    """A copy of the state that all threads share, taken when this is made."""

    def __init__(self) -> None:
        self._values = [read() for read, _ in _SHARED]
        self._streams = [getattr(sys, name) for name in _STREAMS]
        self._descriptors = [_descriptor(number) for number in range(3)]
        self._filters, self._listed = warnings.filters, warnings.filters[:]
        self._showwarning = warnings.showwarning
        self._main = threading.current_thread() is threading.main_thread()
        self._handlers: list[Any] = []
        if self._main:
            self._handlers = [_SIGNAL.getsignal(number) for number in _SIGNALS]
            self._blocked = _SIGNAL.pthread_sigmask(0, ()) if _POSIX else None
            self._timers = [_SIGNAL.getitimer(timer) for timer in _TIMERS]

    def restore(self) -> None:
        """Put back what has changed."""
        for was, (read, write) in zip(self._values, _SHARED, strict=True):
            if read() != was:
                with suppress(OSError):  # a folder that is gone
                    write(was)
        self._restore_streams()
        if warnings.filters is not self._filters or warnings.filters != self._listed:
            warnings.filters = self._filters
            warnings.filters[:] = self._listed  # type: ignore[index]  # a list
            with warnings.catch_warnings():  # tells the interpreter that they have changed
                pass
        warnings.showwarning = self._showwarning
        if self._main and threading.current_thread() is threading.main_thread():
            self._restore_signals()

    def _restore_streams(self) -> None:
        for number, (name, was) in enumerate(zip(_STREAMS, self._streams, strict=True)):
            if (kept := self._descriptors[number]) is not None and _identity(number) != kept[0]:
                os.dup2(kept[1], number)
            if was is None:
                setattr(sys, name, None)
            elif not getattr(was, "closed", False):
                if getattr(sys, name, None) is not was:
                    setattr(sys, name, was)
            elif kept is not None:  # a closed stream stays closed, but its descriptor is there again
                again = open(  # noqa: SIM115  # it stays open
                    number,
                    "r" if number == 0 else "w",
                    buffering=1,
                    encoding=getattr(was, "encoding", None),
                    errors=getattr(was, "errors", None),
                    closefd=False,
                )
                self._streams[number] = again
                setattr(sys, name, again)
                if getattr(sys, f"__{name}__") is was:
                    setattr(sys, f"__{name}__", again)

    def _restore_signals(self) -> None:
        for timer, (was, interval) in zip(_TIMERS, self._timers, strict=True):
            now, repeated = _SIGNAL.getitimer(timer)
            if (now and not was) or now > was or repeated != interval or (was and not now):
                _SIGNAL.setitimer(timer, was, interval)
        for number, was in zip(_SIGNALS, self._handlers, strict=True):
            if was is not None and _SIGNAL.getsignal(number) is not was:
                _SIGNAL.signal(number, was)
        if self._blocked is not None and _SIGNAL.pthread_sigmask(0, ()) != self._blocked:
            _SIGNAL.pthread_sigmask(2, self._blocked)


class ThreadState:
    """A copy of the state that each thread has of its own, taken from the thread that makes this."""

    def __init__(self) -> None:
        self._values = [read() for read, _ in _OF_THREAD]
        self._device = _device_context()
        self._depths = [depth() for depth, _ in _modes()]
        self._trace, self._profile = sys.gettrace(), sys.getprofile()
        self._inference = torch.is_inference_mode_enabled()

    def restore(self) -> None:
        """Put back what has changed; call it once."""
        if torch.is_inference_mode_enabled() != self._inference:
            left_open = torch.inference_mode(self._inference)  # over the one that nobody leaves any more
            left_open.__enter__()
            _LEFT_OPEN.append(left_open)
        if _device_context() is not self._device:
            torch.set_default_device(None if self._device is None else self._device.device)
        for before, (depth, pop) in zip(self._depths, _modes(), strict=True):
            for _ in range(depth() - before):
                pop()
        for was, (read, write) in zip(self._values, _OF_THREAD, strict=True):
            if read() != was:
                write(was)
        if sys.gettrace() is not self._trace:
            sys.settrace(self._trace)
        if sys.getprofile() is not self._profile:
            sys.setprofile(self._profile)


class Streams:
    """Global random generators of one's own: Python's, numpy's and torch's for the CPU.

    Code that draws from the global generators plays the same in every process, and nobody else's draws change.

    Args:
        seed: of all three.
        keep: True to leave Python's generator in place between calls, until another one comes or `release` is called;
            exchanging it takes as long as all the rest of a call.
    """

    _placed: ClassVar[Streams | None] = None  # whose state Python's generator has
    _process: ClassVar[Any] = None  # the state that it had before

    def __init__(self, seed: int, *, keep: bool = False) -> None:
        self._keep = keep
        self._python = random.Random(seed).getstate()
        self._numpy: Any = np.random.MT19937(seed % 2**64)
        self._torch = torch.Generator().manual_seed(seed % 2**63).get_state()

    def enter(self) -> None:
        """Put these generators in the place of the process's."""
        self._exchange()
        if Streams._placed is not self:
            Streams.release()
            Streams._process = random.getstate()
            random.setstate(self._python)
            Streams._placed = self

    def leave(self) -> None:
        """Put the process's generators back."""
        self._exchange()
        if not self._keep:
            Streams.release()

    @staticmethod
    def release() -> None:
        """Put back Python's generator if somebody kept its place."""
        if (placed := Streams._placed) is not None:
            placed._python = random.getstate()
            random.setstate(Streams._process)
            Streams._placed = None

    def _exchange(self) -> None:
        numpy, cpu = _NUMPY.get_bit_generator(), torch.default_generator.get_state()
        _NUMPY.set_bit_generator(self._numpy)
        torch.default_generator.set_state(self._torch)
        self._numpy, self._torch = numpy, cpu


_LEFT_OPEN: list[Any] = []  # they would end with the last reference to them
_kept: dict[int, tuple[tuple[int, int], int]] = {}  # standard descriptors: what they are, and a copy of them


def _identity(number: int) -> tuple[int, int] | None:
    try:
        found = os.fstat(number)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _descriptor(number: int) -> tuple[tuple[int, int], int] | None:
    """Return what a standard descriptor is, with a copy by which it can be put back; None if it is closed."""
    identity, kept = _identity(number), _kept.get(number)
    if identity is None:
        return None
    if kept is None or kept[0] != identity:
        if kept is not None:
            with suppress(OSError):
                os.close(kept[1])
        _kept[number] = kept = identity, os.dup(number)
    return kept


def _device_context() -> Any:
    """Return the mode by which torch keeps this thread's default device; None for the CPU."""
    return getattr(getattr(torch, "_GLOBAL_DEVICE_CONTEXT", None), "device_context", None)


def _modes() -> tuple[tuple[Callable[[], int], Callable[[], Any]], ...]:
    """Return, for each stack of torch's modes, what counts them and what leaves the last one."""
    return (
        (torch._C._len_torch_function_stack, torch._C._pop_torch_function_stack),
        (torch._C._len_torch_dispatch_stack, torch._C._pop_torch_dispatch_stack),
    )

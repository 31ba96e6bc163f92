"""The machine of a run: its device, its threads, its global random state, and its description."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from cellgames.utils.errors import InputError, shown
from cellgames.utils.hardware import cpu_model

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4  # of glibc's mallopt
_KEEPING = {_MMAP_MAX: 0, _TRIM_THRESHOLD: 2**31 - 1}
# Once a value is set, glibc no longer adjusts the thresholds itself. These are the values that it would end with.
_USUAL = {_MMAP_MAX: 65536, _MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 64 << 20}


def choose_device(name: str) -> torch.device:
    """Return the device of a name.

    Args:
        name: `cpu`, `cuda`, `cuda:N`, or `auto` for CUDA if there is a device, else the CPU.

    Raises:
        ValueError: no such device here.
    """
    cuda = torch.cuda.is_available()
    if name == "auto":
        return torch.device("cuda" if cuda else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda") or (device.type == "cpu" and device.index is not None):
        raise InputError("device", "auto, cpu, cuda or cuda:N", shown(name))
    if device.type == "cuda" and (not cuda or (device.index or 0) >= torch.cuda.device_count()):
        raise InputError("device", f"one of {torch.cuda.device_count()} CUDA devices that torch finds", shown(name))
    return device


@contextmanager
def isolated(seed: int, threads: int, device: torch.device) -> Iterator[None]:
    """Seed torch's global generators, set its threads and make cuDNN deterministic; restore all of it afterwards.

    In the meantime memory that was freed stays with the process (`memory_kept`). Generators of CUDA are restored if the
    run or the process before it uses CUDA. With 0 threads the number stays as it is.
    """
    cudnn, threads_before = torch.backends.cudnn, torch.get_num_threads()
    cudnn_before = cudnn.deterministic, cudnn.benchmark
    cuda = device.type == "cuda" or torch.cuda.is_initialized()
    with memory_kept(), torch.random.fork_rng(devices=range(torch.cuda.device_count()) if cuda else []):
        torch.manual_seed(seed)
        if threads:
            torch.set_num_threads(threads)
        cudnn.deterministic, cudnn.benchmark = True, False
        try:
            yield
        finally:
            torch.set_num_threads(threads_before)
            cudnn.deterministic, cudnn.benchmark = cudnn_before


@contextmanager
def memory_kept() -> Iterator[None]:
    """Keep freed memory for the next tensors, with the C library of Linux (glibc).

    By default glibc gets the memory of each large tensor from the system and returns it at once, and the system fills
    every page with zeros again. That takes a quarter of the time of learning from large minibatches.

    This has no effect in a thread in which an allocation has failed before: glibc then moves the thread to an arena
    whose memory it cannot extend, and still maps each large tensor.
    """
    mallopt = _mallopt()
    for name, value in _KEEPING.items():
        mallopt(name, value)
    try:
        yield
    finally:
        for name, value in _USUAL.items():
            mallopt(name, value)


def _mallopt() -> Callable[[int, int], int]:
    """Return the function of glibc that sets how memory is managed, elsewhere one that does nothing."""
    try:
        if os.confstr("CS_GNU_LIBC_VERSION"):  # type: ignore[attr-defined,unused-ignore]  # Windows lacks it
            return ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, ValueError):
        pass
    return lambda name, value: 0


def describe_machine(device: torch.device) -> dict[str, Any]:
    """Return the description of the machine: CPU, cores, threads, torch, and the GPU if the device is one."""
    found = {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
    }
    if device.type == "cuda":
        found["gpu"] = torch.cuda.get_device_name(device)
    return found

"""The C++ programs of `sources/`, built for this processor when they are first needed."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cellgames.utils.hardware import cpu_model

SOURCES = Path(__file__).with_name("sources")
BUILT = Path(__file__).resolve().parents[2] / "build" / "limit"
OPTIONS = ("-std=c++17", "-O3", "-march=native", "-w", "-shared", "-fPIC", "-pthread")


class NoCompilerError(Exception):
    """There is no C++ compiler, or it failed; the message says which."""


def compiler() -> str:
    """Return the C++ compiler's command; raise `NoCompilerError` if there is none."""
    for name in filter(None, (os.environ.get("CXX"), "g++", "clang++")):
        if found := shutil.which(name):
            return found
    raise NoCompilerError("expected a C++ compiler (g++ or clang++, or one that CXX names), found none; install g++")


@cache
def compiler_version() -> str:
    """Return the first line of what the compiler says of itself."""
    done = subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.splitlines() or ["unknown"])[0]


@cache
def programs() -> ctypes.CDLL:
    """Return all programs as one library, built where it is not; a `NoCompilerError` says why it cannot be."""
    sources = sorted(SOURCES.glob("*.cpp"))
    texts = [path.read_bytes() for path in sorted(SOURCES.iterdir())]
    key = hashlib.sha256(b"\0".join([*texts, " ".join((*OPTIONS, compiler_version(), cpu_model())).encode()]))
    path = BUILT / f"limit-{key.hexdigest()[:16]}.so"
    if not path.exists():
        _build(sources, path)
    return ctypes.CDLL(str(path))


def _build(sources: Sequence[Path], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_suffix(f".{os.getpid()}")
    command = [compiler(), *OPTIONS, *map(str, sources), "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[0]
        raise NoCompilerError(f"{compiler()} cannot build the programs of {SOURCES.name}: {reason}")
    made.replace(path)


def call(name: str, *arguments: int | Tensor | ctypes.Structure) -> int:
    """Call a program's function with whole numbers, the addresses of tensors and those of structures."""
    given: list[Any] = []
    for argument in arguments:
        if isinstance(argument, Tensor):
            given.append(ctypes.c_void_p(argument.data_ptr()))
        else:
            given.append(ctypes.byref(argument) if isinstance(argument, ctypes.Structure) else ctypes.c_int64(argument))
    return int(getattr(programs(), name)(*given))


def room(shape: Sequence[int], dtype: torch.dtype = torch.int64) -> Tensor:
    """Return zeros for a program to write into, aligned to 64 bytes and followed by 64 bytes that it may read."""
    count = torch.Size(shape).numel()
    return torch.zeros(count + 64, dtype=dtype)[:count].view(*shape)


def difference(what: str, ours: Tensor, theirs: Tensor) -> None:
    """Raise a `RuntimeError` if a program's results differ from the package's."""
    if ours.shape != theirs.shape or not torch.equal(ours.to(theirs.dtype), theirs):
        raise RuntimeError(f"{what}: the C++ program and the package give different results")

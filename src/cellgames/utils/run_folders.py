"""Folders that belong to one run: creating, locking and checking them, and writing files as a whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from .options import Options, option

__all__ = [
    "START_OVER",
    "PathLike",
    "RunError",
    "RunOptions",
    "differences",
    "opened",
    "refuse_foreign",
    "replacing",
    "write_atomic",
]

PathLike: TypeAlias = str | os.PathLike[str]

START_OVER = "choose another folder (--out), or start over with resume=False (--no-resume), which deletes this run"

_MOST = 6  # differences that are named


@dataclass(frozen=True, kw_only=True)
class RunOptions(Options):
    """Options of every run that has a folder of its own."""

    resume: bool = option(True, "continue the run that the folder holds; otherwise delete that run first")


class RunError(ValueError):
    """A folder that cannot be used for this run; the message says why and what to do."""


def differences(expected: Mapping[str, Any], got: Mapping[str, Any]) -> str:
    """Return a text on the fields of `expected` that `got` has otherwise, "" for none."""
    differ = [
        f"{name}: expected {_shown(value)}, got {_shown(got.get(name))}"
        for name, value in expected.items()
        if got.get(name) != value
    ]
    return "; ".join([*differ[:_MOST], *([f"{len(differ) - _MOST} more differ"] if len(differ) > _MOST else [])])


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


@contextmanager
def opened(folder: Path, names: Iterable[str]) -> Iterator[None]:
    """Create the folder if necessary, lock it for this process, and delete leftovers of killed processes.

    Args:
        folder: of the run.
        names: of the files that the run writes (`write_atomic`).

    Raises:
        RunError: it is a file, or another process is at work in it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise RunError(f"expected a folder for the run, but {folder} is a file or lies in one") from None
    lock = _lock(folder)
    try:
        for name in names:
            for part in folder.glob(f".{name}.*.part"):
                part.unlink(missing_ok=True)
        yield
    finally:
        if lock is not None:
            os.close(lock)


def _lock(folder: Path) -> int | None:
    """Return a lock that ends with the process; None if the system has none of this kind."""
    if sys.platform == "win32":
        return None
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise RunError(f"another process is at work in {folder}; wait for it, or choose another folder") from None
    except OSError:  # a file system without locks
        pass
    return handle


def refuse_foreign(folder: Path, settings: str) -> None:
    """Raise a `RunError` if the folder holds files, but not the one with the settings of a run."""
    others = sorted(child.name for child in folder.iterdir() if not child.name.startswith("."))
    if others and settings not in others:
        more = ", ..." if len(others) > 3 else ""
        raise RunError(
            f"{folder} is not empty and holds no {settings}, but {', '.join(others[:3])}{more}; choose another folder"
        )


def write_atomic(path: PathLike, content: str | bytes) -> None:
    """Write a file so that it appears whole or not at all, also if the machine stops; see `replacing`."""
    with replacing(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def replacing(path: PathLike) -> Iterator[Path]:
    """Yield the path of a hidden file, `.NAME.PID.part`, which takes the place of `path` if the block succeeds.

    Raises:
        OSError: the file cannot be written; the error names `path`, not the hidden file.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        if error.filename is not None and Path(error.filename) == part:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
    finally:
        with suppress(OSError):  # such as a folder that is none
            part.unlink()
    if os.name == "posix":  # elsewhere a folder cannot be opened
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

"""Folders that belong to one run: creating, locking and checking them, and writing files as a whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from .foreign_text import MOST_SHOWN, clipped
from .options import Options, option

__all__ = [
    "ANSWERS",
    "LOGS",
    "NOT_COMPARED",
    "START_OVER",
    "TENSORBOARD",
    "TIMING",
    "PathLike",
    "RunError",
    "RunOptions",
    "check_writable",
    "compared_files",
    "differences",
    "different_files",
    "exclusive",
    "naming",
    "opened",
    "reading",
    "refuse_foreign",
    "replacing",
    "write_atomic",
]

PathLike: TypeAlias = str | os.PathLike[str]

START_OVER = "choose another folder (--out), or start over with resume=False (--no-resume), which deletes this run"

TIMING, TENSORBOARD, LOGS, ANSWERS = "timing.csv", "tensorboard", "logs", "llm.jsonl"

NOT_COMPARED = (TIMING, TENSORBOARD, LOGS, ANSWERS)
"""Names of the files and folders that hold times, dates or names of machines. All others of equal runs are equal.

`timing.csv` is ours; the events of TensorBoard and what programs print (`logs`) hold such things by their nature, and
answers of language models (`llm.jsonl`) tell how long they took.
"""

_MOST = 6  # differences that are named


@dataclass(frozen=True, kw_only=True)
class RunOptions(Options):
    """Options of every run that has a folder of its own."""

    resume: bool = option(True, "continue the run that the folder holds; otherwise delete that run first")


class RunError(ValueError):
    """A folder that cannot be used for this run; the message says why and what to do."""


def differences(expected: Mapping[str, Any], got: Mapping[str, Any]) -> str:
    """Return a text on the fields of `expected` that `got` has otherwise, "" for none."""
    differ = []
    for name, value in expected.items():
        found = got.get(name)
        if found == value:
            continue
        if isinstance(value, Mapping) and isinstance(found, Mapping) and value.keys() == found.keys():
            parts = [part for part in value if value[part] != found[part]]  # the others need no place in the message
            value, found = ({part: every[part] for part in parts} for every in (value, found))
        differ.append(f"{_shown(name)}: expected {_shown(value)}, got {_shown(found)}")
    return "; ".join([*differ[:_MOST], *([f"{len(differ) - _MOST} more differ"] if len(differ) > _MOST else [])])


def _shown(value: object) -> str:
    return clipped(", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value), MOST_SHOWN)


def compared_files(folder: PathLike) -> dict[str, Path]:
    """Return the files of a run by their relative paths, without those of `NOT_COMPARED`."""
    found = {path.relative_to(folder): path for path in sorted(Path(folder).rglob("*")) if path.is_file()}
    return {name.as_posix(): path for name, path in found.items() if not {*name.parts} & {*NOT_COMPARED}}


def different_files(one: PathLike, other: PathLike) -> list[str]:
    """Return the relative paths of files in which two runs differ; see `compared_files`."""
    first, second = ({name: path.read_bytes() for name, path in compared_files(f).items()} for f in (one, other))
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def check_writable(folder: Path) -> None:
    """Raise a `RunError` unless files can be written into the folder, which need not exist yet."""
    existing = next((place for place in (folder, *folder.absolute().parents) if place.exists()), folder)
    if existing.is_dir() and not os.access(existing, os.W_OK):
        raise RunError(f"{folder}: nothing can be written into {existing}; choose another folder (--out)")


@contextmanager
def opened(folder: Path, names: Iterable[str]) -> Iterator[None]:
    """Create the folder if necessary, lock it for this process, and delete leftovers of killed processes.

    Args:
        folder: of the run.
        names: of the files that the run writes (`write_atomic`); those in folders of it may be patterns.

    Raises:
        RunError: it is a file or cannot be written, or another process is at work in it.
    """
    check_writable(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise RunError(f"expected a folder for the run, but {folder} is a file or lies in one") from None
    try:
        lock = exclusive(folder)
    except BlockingIOError:
        raise RunError(f"another process is at work in {folder}; wait for it, or choose another folder") from None
    try:
        for name in names:
            inside, _, file = name.rpartition("/")
            for part in folder.glob(f"{inside or '.'}/.{file}.*.part"):
                part.unlink(missing_ok=True)
        yield
    finally:
        if lock is not None:
            os.close(lock)


def exclusive(path: Path) -> int | None:
    """Return a descriptor of a folder or file that keeps other processes away until it is closed.

    It is None on systems without locks of this kind.

    Raises:
        BlockingIOError: another process has the lock.
    """
    if sys.platform == "win32":
        return None
    import fcntl

    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
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


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise a `RunError` that names the file for any error of the block, which reads a file of the run.

    The block only reads: it raises no `RunError` of its own.
    """
    try:
        yield
    except Exception as error:  # archives and JSON raise many kinds
        raise RunError(f"{path} cannot be read ({clipped(repr(error))}); {START_OVER}") from None


@contextmanager
def naming(path: Path, part: Path | None = None) -> Iterator[None]:
    """Name a file in the errors of the block that name none, such as that of a full disk, or that name its `part`."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename in (None, *([str(part)] if part else [])):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


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
        with naming(path, part):
            yield part
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            os.replace(part, path)
    finally:
        with suppress(OSError):  # such as a folder that is none
            part.unlink()
    if os.name == "posix":  # elsewhere a folder cannot be opened
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

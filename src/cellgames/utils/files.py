"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

PathLike: TypeAlias = str | os.PathLike[str]


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

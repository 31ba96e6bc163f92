"""The file of games of a run that can be continued: its lines that are as they were written, and new ones.

Lines that were torn by a kill, or that have changed since (`checksums`), are left out: the run plays their games again,
which end the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from cellgames.utils.files import write_atomic
from cellgames.utils.foreign_text import shown

from .checksums import RecordError, has_changed, has_checksum, sign

__all__ = ["read_sound", "rewrite"]

T = TypeVar("T")


def read_sound(
    path: Path, parse: Callable[[bytes], T], warn: Callable[[str], None]
) -> tuple[list[tuple[bytes, T]], bool]:
    """Return the lines that are as they were written, with checksums, and True if the file holds nothing else.

    Args:
        path: of the games; need not exist.
        parse: reads a line; raises a `ValueError`.
        warn: gets a line about what is left out.

    Raises:
        RecordError: a line was written like this, and cannot be read.
    """
    content = path.read_bytes() if path.exists() else b""
    lines = content.split(b"\n")
    last = lines.pop()
    known = any(map(has_checksum, lines))  # else an earlier version wrote them
    found: list[tuple[bytes, T]] = []
    changed: list[int] = []
    for number, line in enumerate([*lines, last] if last else lines, 1):
        if has_changed(line) or (known and not has_checksum(line)):
            changed.append(number)
            continue
        try:
            found.append((sign(line), parse(line)))
        except ValueError as error:
            if known:
                raise RecordError(f"{path}, line {number}: {error}") from None
            changed.append(number)
    if last and changed == [len(lines) + 1]:
        warn(f"{path}, line {changed[0]}: dropped a torn line, {shown(last)}")
    elif changed:
        warn(
            f"{path}: dropped {len(changed)} lines that have changed since they were written, the first is line "
            f"{changed[0]}; their games are played again"
        )
    return found, content == b"".join(line + b"\n" for line, _ in found)


def rewrite(path: Path, lines: Sequence[bytes]) -> None:
    """Replace the games by these lines, which have checksums."""
    write_atomic(path, b"".join(line + b"\n" for line in lines))

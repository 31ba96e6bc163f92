"""The file of games of a run that can be continued: its lines that are as they were written, and new ones.

Lines that were torn by a kill, or whose bytes have changed since (`line_digests`), are left out: the run plays their
games again, which end the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from cellgames.utils.foreign_text import shown
from cellgames.utils.run_folders import write_atomic

from . import record_lines
from .line_digests import digests_path, has_changed, known_digests, to_digests
from .record_lines import Line, RecordError

__all__ = ["append", "read_sound", "rewrite"]

T = TypeVar("T")


def read_sound(
    path: Path, parse: Callable[[bytes], T], warn: Callable[[str], None]
) -> tuple[list[tuple[bytes, T]], bool]:
    """Return the lines that are as they were written, and True if the files hold nothing else.

    Args:
        path: of the games; need not exist.
        parse: reads a line; raises a `ValueError`.
        warn: gets a line about what is left out.

    Raises:
        RecordError: a line was written like this, and cannot be read; or all lines are of other games.
    """
    content = path.read_bytes() if path.exists() else b""
    lines, known = content.split(b"\n"), known_digests(path)
    last = lines.pop()
    found: list[tuple[bytes, T]] = []
    changed: list[int] = []
    for number, line in enumerate([*lines, last] if last else lines, 1):
        if has_changed(line, known):
            changed.append(number)
            continue
        try:
            found.append((line, parse(line)))
        except ValueError as error:
            if known is not None:
                raise RecordError(f"{path}, line {number}: {error}") from None
            changed.append(number)
    if not found and len(changed) > 1 and known and not any(_fails(parse, line) for line in lines):
        raise RecordError(
            f"{path}: none of its lines has its digest in {digests_path(path).name}: expected the games of this run; "
            "are they another's?"
        )
    if last and changed == [len(lines) + 1]:
        warn(f"{path}, line {changed[0]}: dropped a torn line, {shown(last)}")
    elif changed:
        warn(
            f"{path}: dropped {len(changed)} lines that have changed since they were written, the first is line "
            f"{changed[0]}; their games are played again"
        )
    sound = [line for line, _ in found]
    digests = digests_path(path).read_bytes() if known is not None else b""
    return found, content == b"".join(line + b"\n" for line in sound) and digests == to_digests(sound)


def _fails(parse: Callable[[bytes], T], line: bytes) -> bool:
    try:
        parse(line)
    except ValueError:
        return True
    return False


def append(path: Path, entries: Iterable[Line]) -> None:
    """Add games to a file, their digests first; see `record_lines.append`."""
    entries = list(entries)
    with digests_path(path).open("ab") as file:
        file.write(to_digests(entry.to_json().encode() for entry in entries))
        file.flush()
        os.fsync(file.fileno())
    record_lines.append(path, entries)


def rewrite(path: Path, lines: Sequence[bytes]) -> None:
    """Replace the games and their digests by these lines."""
    write_atomic(path, b"".join(line + b"\n" for line in lines))
    write_atomic(digests_path(path), to_digests(lines))

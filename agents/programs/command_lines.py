"""Command lines of programs that play. Importing this imports no torch."""

from __future__ import annotations

import hashlib
import shlex
import shutil
from pathlib import Path

from cellgames.utils.foreign_text import shown

__all__ = ["command_of", "identity_of_command"]


def command_of(text: str) -> list[str]:
    """Return the words of a command line.

    Raises:
        ValueError: no word, or a quotation that does not end.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"expected a command line, got {shown(text)}: {error}") from None
    if not words:
        raise ValueError("expected the command line of a program, such as exec:./mybot; got nothing")
    return words


def identity_of_command(text: str) -> str:
    """Return 16 hexadecimal digits that depend on the words after the program and on all files that are named.

    Returns:
        "" if the program is not found.
    """
    try:
        program, *arguments = command_of(text)
    except ValueError:
        return ""
    if (path := shutil.which(program)) is None:
        return ""
    found = hashlib.blake2b("\0".join(arguments).encode(), digest_size=8)
    for file in filter(Path.is_file, map(Path, (path, *arguments))):
        try:
            found.update(file.read_bytes())
        except OSError:
            return ""
    return found.hexdigest()

"""Digests of the lines of a run's games, by which a line is noticed that a disk or a transfer has changed.

    games.digests   beside games.jsonl: the digest of each of its lines, 16 hexadecimal digits of BLAKE2b

A line counts if its digest is there, wherever it is. Each digest is written before its line, so a run that is killed
leaves no line without one. Files that users write, and runs of the first versions, have no digests. Importing this
imports no torch.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cellgames.agents.identity import digest
from cellgames.utils.run_folders import PathLike

__all__ = ["DIGESTS", "digests_path", "has_changed", "known_digests", "to_digests"]

DIGESTS = "games.digests"


def digests_path(path: PathLike) -> Path:
    """Return the path of the digests of a file of games."""
    return Path(path).with_suffix(".digests")


def known_digests(path: PathLike) -> set[bytes] | None:
    """Return the digests of a file of games, None if it has none."""
    try:
        return set(digests_path(path).read_bytes().split())
    except FileNotFoundError:
        return None


def has_changed(line: bytes, known: set[bytes] | None) -> bool:
    """Return True if there are digests, and none of this line, which has no newline."""
    return known is not None and digest(line).encode() not in known


def to_digests(lines: Iterable[bytes]) -> bytes:
    """Return the content of a file with the digests of these lines, which have no newlines."""
    return "".join(f"{digest(line)}\n" for line in lines).encode()

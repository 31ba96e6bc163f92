"""Files of solver tables that are mapped into memory: whatever a search has found is there when its process is killed.

A file is a line of JSON, filled up to `_HEADER` bytes, and the table as the solver has it in memory. The system writes
its changes to the disk on its own. A process may be killed at any time, since the solver leaves each entry complete or
empty; if the machine itself stops, entries can be lost or torn, so start with a new file then.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellgames.runs.run_folder import exclusive
from cellgames.utils.files import replacing

_HEADER = 4096
_FORMAT = "cellgames torus table 1"


def table_file(path: Path, kind: dict[str, int], entries: int, entry_bytes: int) -> NDArray[np.uint8]:
    """Return the table of a file as bytes; make a missing file with room for `entries` entries.

    A file that is there keeps its size.

    Args:
        path: path of the file.
        kind: the board and whatever else the entries depend on.
        entries: a power of two.
        entry_bytes: bytes of each entry.

    Raises:
        ValueError: the file is no table of this kind, or another process uses it.
        OSError: there is no room on the disk.
    """
    if not path.exists():
        with replacing(path) as part, part.open("wb") as file:
            head = json.dumps({"format": _FORMAT, **kind, "entries": entries, "entry_bytes": entry_bytes})
            file.write(head.ljust(_HEADER - 1).encode() + b"\n")
            file.flush()
            if hasattr(os, "posix_fallocate"):  # a full disk would end the process later
                os.posix_fallocate(file.fileno(), 0, _HEADER + entries * entry_bytes)
            else:
                file.truncate(_HEADER + entries * entry_bytes)
    with path.open("rb") as file:
        found = _head(file.read(_HEADER))
    if found.get("format") != _FORMAT:
        raise ValueError(f"{path} is no table of a Torus search; name another file")
    if wrong := {name: value for name, value in kind.items() if found.get(name) != value}:
        had = ", ".join(f"{name} {found.get(name)}" for name in wrong)
        want = ", ".join(f"{name} {value}" for name, value in wrong.items())
        raise ValueError(f"{path} is the table of another search ({had}, not {want}); name another file")
    size = int(found.get("entries", 0)) * entry_bytes
    if found.get("entry_bytes") != entry_bytes or not size or path.stat().st_size != _HEADER + size:
        raise ValueError(f"{path} is damaged: its length is not that of its table; remove it or name another file")
    _lock(path)
    return np.memmap(path, dtype=np.uint8, mode="r+", offset=_HEADER, shape=(size,))


def _head(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


_LOCKS: dict[Path, int | None] = {}


def _lock(path: Path) -> None:
    """Keep other processes away until this one ends, where the system has such locks."""
    if path.resolve() in _LOCKS:
        return
    try:
        _LOCKS[path.resolve()] = exclusive(path)
    except BlockingIOError:
        raise ValueError(f"another process uses {path}; wait for it, or name another file") from None

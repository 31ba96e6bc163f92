"""Parts of proof-number searches in native code: their progress, tables in files, and proofs.

A file of a table is mapped into memory, so whatever a search has found is there when its process is killed. It is a
line of JSON, filled up to `_HEADER` bytes, and the table as the solver has it in memory. The system writes its changes
to the disk on its own. A process may be killed at any time, since the solver leaves each entry complete or empty; if
the machine itself stops, entries can be lost or torn, so start with a new file then.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cellgames.envs.native import library, pointer, status
from cellgames.runs.run_folder import exclusive
from cellgames.utils.files import replacing


@dataclass(frozen=True)
class Progress:
    """The state of a search.

    Attributes:
        value: 1 if the player to move wins, -1 if it loses, 0 while that is open.
        move: a move that wins, the most promising one while that is open, or -1 in lost positions.
        nodes: positions searched since the search began.
        proof: least number of open positions that must be won to prove a win.
        disproof: least number of them that must be lost to disprove it.
    """

    value: int
    move: int
    nodes: int
    proof: int
    disproof: int


def native_problem() -> str:
    """Return the reason why there is no native code on the CPU, "" if there is."""
    return "" if library(torch.device("cpu")) is not None else status().problem or "it is turned off here"


_LOCK = Lock()  # solvers keep a table


def solved(state: Any, asked: Tensor, solver: Callable[[], Any], nodes: int) -> tuple[Tensor, Tensor]:
    """Return the winners of positions that go on, and winning moves, int64 [L] both: see `GamePlugin.search`.

    Those of `asked`, bool [L], are searched by `nodes` each; the others, and all without native code, are left open.
    """
    value, move = torch.zeros(len(state), dtype=torch.int64, device="cpu"), torch.full((len(state),), -1, device="cpu")
    rows = asked.nonzero().squeeze(1)
    if len(rows) and not native_problem():
        with _LOCK:
            value[rows.cpu()], move[rows.cpu()] = solver().solve_each(state[rows], nodes)
    return value.to(state.device), move.to(state.device)


_HEADER = 4096
_TABLE_FORMAT = "cellgames torus table 1"


def table_file(path: Path, kind: Mapping[str, object], entries: int, entry_bytes: int) -> NDArray[np.uint8]:
    """Return the table of a file as bytes; make a missing file with room for `entries` entries, a power of two.

    A file that is there keeps its size. The kind has the board and whatever else the entries depend on.

    Raises:
        ValueError: the file is no table of this kind, or another process uses it.
        OSError: there is no room on the disk.
    """
    if not path.exists():
        with replacing(path) as part, part.open("wb") as file:
            head = json.dumps({"format": _TABLE_FORMAT, **kind, "entries": entries, "entry_bytes": entry_bytes})
            file.write(head.ljust(_HEADER - 1).encode() + b"\n")
            file.flush()
            if hasattr(os, "posix_fallocate"):  # a full disk would end the process later
                os.posix_fallocate(file.fileno(), 0, _HEADER + entries * entry_bytes)
            else:
                file.truncate(_HEADER + entries * entry_bytes)
    found: Any = None
    with path.open("rb") as file, suppress(ValueError):
        found = json.loads(file.read(_HEADER))
    if not isinstance(found, dict) or found.get("format") != _TABLE_FORMAT:
        raise ValueError(f"{path} is no table of such a search; name another file")
    if wrong := {name: value for name, value in kind.items() if found.get(name) != value}:
        had = ", ".join(f"{name} {found.get(name)}" for name in wrong)
        want = ", ".join(f"{name} {value}" for name, value in wrong.items())
        raise ValueError(f"{path} is the table of another search ({had}, not {want}); name another file")
    size = int(found.get("entries", 0)) * entry_bytes
    if found.get("entry_bytes") != entry_bytes or not size or path.stat().st_size != _HEADER + size:
        raise ValueError(f"{path} is damaged: its length is not that of its table; remove it or name another file")
    _lock(path)
    return np.memmap(path, dtype=np.uint8, mode="r+", offset=_HEADER, shape=(size,))


_LOCKS: dict[Path, int | None] = {}


def _lock(path: Path) -> None:
    """Keep other processes away until this one ends, where the system has such locks."""
    if path.resolve() in _LOCKS:
        return
    try:
        _LOCKS[path.resolve()] = exclusive(path)
    except BlockingIOError:
        raise ValueError(f"another process uses {path}; wait for it, or name another file") from None


def proof_moves(write: Callable[[int, int, int], int]) -> bytes:
    """Return the winner's moves in a proof, for `proof_checker`; Ctrl-C stops the search.

    In a thread, `write` gets the addresses of a flag that stops it and of room for moves, and the most that fit in
    between; it returns the number of moves.
    """
    room, stop = 1 << 22, torch.zeros(1, dtype=torch.int32, device="cpu")
    while True:
        moves = torch.empty(room, dtype=torch.uint8, device="cpu")
        with ThreadPoolExecutor(1) as threads:
            running = threads.submit(write, pointer(stop, torch.int32), room, pointer(moves, torch.uint8))
            try:
                count = running.result()
            except BaseException:
                stop[0] = 1
                raise
        if count <= room:
            return bytes(moves[:count].numpy())
        room = count

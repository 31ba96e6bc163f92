"""Proof-number searches in native code: the winner of a position with best play, and the moves that win.

`proof_search` makes the search of a game. Each game with a solver states its subclass of `ProofSearch` in its plugin
("prover" of `GamePlugin.search`). Results stay in the table of the search, so one that is stopped goes on where it was.

A file of a table is mapped into memory, so it keeps all results when the process is killed. It is a line of JSON,
filled up to `_HEADER` bytes, and the table as the solver has it in memory. The system writes its changes to the disk on
its own. A process may be killed at any time, since the solver leaves each entry complete or empty; if the machine
itself stops, entries can be lost or torn, so start with a new file then.

Letters: `L` positions, `A` actions.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cellgames.agents.search.tree_search import look_at
from cellgames.envs.core import Game
from cellgames.envs.native import library, pointer, status
from cellgames.envs.registry import plugin_of
from cellgames.envs.stones.stone_game import StoneGame
from cellgames.runs.run_folder import exclusive
from cellgames.utils.errors import InputError
from cellgames.utils.files import replacing

UNLIMITED = 1 << 62
"""More nodes than any search takes."""

SLICE = 20_000
"""Nodes between two looks whether the user has pressed Ctrl-C."""
_PERFECT_NODES = 400_000  # searched at most for a move of `perfect`, some seconds

G = TypeVar("G", bound=StoneGame[Any])


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


class ProofSearch(ABC, Generic[G]):
    """A solver of positions of a game, with a table of what it has found.

    Attributes:
        game: the game.
        nodes: positions searched in all.
        perfect_cells: cells of the largest boards on which `perfect` plays.
        table_step: nodes by which the tables of searches for agents grow.
        node_bytes: bytes of such tables for each node.
    """

    perfect_cells: ClassVar[int]
    table_step: ClassVar[int] = 1
    node_bytes: ClassVar[int] = 128

    def __init__(self, game: G, memory: int = 1 << 26, *, table: Path | None = None) -> None:
        """Make a solver with an empty table, or with the table of a file.

        Args:
            game: on a board that the solver serves.
            memory: bytes of the table; it is rounded down to a power of two of entries.
            table: file in which the table lies; a missing file is made, and an existing one keeps its size.

        Raises:
            ValueError: a larger board, too little memory, or a file of another search.
            RuntimeError: there is no native code.
        """
        kind, entry, least = self._kind(game)
        if memory < least * entry:
            raise InputError("memory", f"at least {least * entry} bytes for the table", memory)
        self._native: Any = library(torch.device("cpu"))
        if self._native is None:
            raise RuntimeError(f"solving {game.id} needs the native library, but {native_problem()}")
        self.game, self.nodes, self._entries = game, 0, 1 << (memory // entry).bit_length() - 1
        if table is None:
            self._table = np.zeros(self._entries * entry, np.uint8)
        else:
            self._table = _table_file(table, kind, self._entries, entry)
            self._entries = len(self._table) // entry

    @staticmethod
    @abstractmethod
    def _kind(game: G) -> tuple[Mapping[str, object], int, int]:
        """Return the settings of the entries of a table, their bytes, and their least number; refuse other boards."""

    @abstractmethod
    def _run(self, state: Any, nodes: int, alone: bool = False) -> Tensor:
        """Search positions: value, move (-1 in lost positions), nodes, proof and disproof number, int64 [L, 5].

        With `alone`, the table is emptied before each position.
        """

    @abstractmethod
    def _write_proof(self, state: Any, stop: int, room: int, moves: int) -> int:
        """Write the winner's moves; return their number.

        `stop` and `moves` are the addresses of an int32 that stops the search, and of room for `room` moves, uint8.
        """

    @abstractmethod
    def move_values(self, state: Any, nodes: int = UNLIMITED) -> Tensor:
        """Return for each action 1 if it wins with best play, -1 if it loses, int8 [L, A].

        It is 0 where the move is not legal, or where the result is still open after `nodes`.
        """

    def solve(self, state: Any, nodes: int = UNLIMITED) -> Tensor:
        """Return the winners of positions: 1 the player to move, -1 the other, 0 undecided after `nodes`, int8 [L].

        With a limit of nodes, answers depend on what the table has from earlier calls; `clear` empties it.
        """
        values = self._run(state, min(nodes, SLICE))[:, 0]
        for place in (values == 0).nonzero().squeeze(1).tolist():
            one, searched = slice(place, place + 1), SLICE
            while searched < nodes and values[place] == 0:
                values[one] = self._run(state[one], min(SLICE, nodes - searched))[:, 0]
                searched += SLICE
        return values.to(torch.int8)

    def solve_each(self, state: Any, nodes: int) -> tuple[Tensor, Tensor]:
        """Return values as `solve` does, and winning moves or -1: int64 [L] both.

        Each position is searched with an empty table, so its result depends on nothing else. The table loses its
        earlier entries.
        """
        value, move, *_ = self._run(state, nodes, alone=True).unbind(1)
        return value, torch.where(value == 1, move, -1)

    def search(self, state: Any, slice_nodes: int = SLICE) -> Iterator[Progress]:
        """Search one position that goes on; yield the progress after each slice of nodes, at last with the result."""
        nodes = 0
        while True:
            value, move, more, proof, disproof = self._run(state, slice_nodes)[0].tolist()
            nodes += more
            yield Progress(value, move, nodes, proof, disproof)
            if value:
                return

    def best_moves(self, state: Any) -> Tensor:
        """Return the moves among which `perfect` chooses in one position, bool [A]; empty if it is lost.

        They are known to win, or the most promising one where some seconds decide nothing. The table loses its earlier
        entries, so that a move does not depend on other games.
        """
        self.restart()
        choice = torch.zeros(self.game.info.num_actions, dtype=torch.bool, device="cpu")
        found = next(self.search(state, _PERFECT_NODES))
        choice[found.move] = found.move >= 0
        return choice

    def winning_strategy(self, state: Any, seconds: float | None = None) -> bytes:
        """Return the winner's moves in a proof of who wins one position that goes on, for `proof_checker`.

        What is not solved yet is searched first. Ctrl-C stops it, as does a `TimeoutError` after some seconds.
        """
        room, stop = 1 << 22, torch.zeros(1, dtype=torch.int32, device="cpu")
        while True:
            moves = torch.empty(room, dtype=torch.uint8, device="cpu")
            places = pointer(stop, torch.int32), room, pointer(moves, torch.uint8)
            with ThreadPoolExecutor(1) as threads:
                running = threads.submit(self._write_proof, state, *places)
                try:
                    count = running.result(seconds)
                except BaseException:
                    stop[0] = 1
                    raise
            if count <= room:
                return bytes(moves[:count].numpy())
            room = count

    def clear(self) -> None:
        """Empty the table."""
        self._table[:] = 0

    def restart(self) -> None:
        """Empty the table, but for results that come with the package."""
        self.clear()

    @staticmethod
    @abstractmethod
    def asked(game: G, state: Any) -> Tensor:
        """Return True for positions that are worth some hundred nodes, bool [L]."""


def proof_search(game: Game, memory: int = 1 << 26, *, table: Path | None = None) -> ProofSearch[Any]:
    """Return the proof-number search of a game, as `ProofSearch` describes it; a `ValueError` for other games."""
    if (kind := plugin_of(game).hook("prover")) is None:
        raise InputError("game", "Torus, Hex or Y, to solve it", game.id)
    made: ProofSearch[Any] = kind(game, memory, table=table)
    return made


_small_search = cache(proof_search)
_LOCK = Lock()  # solvers keep a table


def solve(game: StoneGame[Any], state: Any, nodes: int, *, large: bool = False) -> tuple[Tensor, Tensor]:
    """Return the winners of positions that go on, and winning moves, int64 [L] both: see `GamePlugin.search`.

    Positions that so few nodes hardly decide, and all without native code, are left open.
    """
    if large and (proved := look_at(game, state)) is not None:
        return proved.result, proved.move
    value, move = torch.zeros(len(state), dtype=torch.int64, device="cpu"), torch.full((len(state),), -1, device="cpu")
    kind: type[ProofSearch[Any]] = plugin_of(game).hook("prover")
    rows = kind.asked(game, state).nonzero().squeeze(1)
    if len(rows) and not native_problem():
        with _LOCK:
            search = _small_search(game, -(-max(nodes, 8) // kind.table_step) * kind.table_step * kind.node_bytes)
            value[rows.cpu()], move[rows.cpu()] = search.solve_each(state[rows], nodes)
    return value.to(state.device), move.to(state.device)


_HEADER = 4096
_TABLE_FORMAT = "cellgames torus table 1"
_LOCKS: dict[Path, int | None] = {}  # of files in use, until this process ends, where the system has such locks


def _table_file(path: Path, kind: Mapping[str, object], entries: int, entry_bytes: int) -> NDArray[np.uint8]:
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
        raise InputError(path, "the table of such a search", "something else", "name another file")
    if wrong := {name: value for name, value in kind.items() if found.get(name) != value}:
        had = ", ".join(f"{name} {found.get(name)}" for name in wrong)
        want = ", ".join(f"{name} {value}" for name, value in wrong.items())
        raise InputError(path, f"the table of a search with {want}", had, "name another file")
    size = int(found.get("entries", 0)) * entry_bytes
    if found.get("entry_bytes") != entry_bytes or not size or path.stat().st_size != _HEADER + size:
        raise InputError(path, "a file as long as its table", "another length", "it is damaged: remove it")
    if path.resolve() not in _LOCKS:
        try:
            _LOCKS[path.resolve()] = exclusive(path)
        except BlockingIOError:
            raise InputError(path, cause="another process uses it; wait, or name another file") from None
    return np.memmap(path, dtype=np.uint8, mode="r+", offset=_HEADER, shape=(size,))

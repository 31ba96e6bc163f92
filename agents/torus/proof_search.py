"""Proof-number search for Torus of size 2 to 6, in native code: the winner of a position, and the moves that win.

Any position of size 3 takes microseconds, of size 4 milliseconds. At size 5 most positions with ten stones take as
long, and the first moves take minutes. `envs/native/sources/torus_solver.h` explains the search. Its results stay in
its table, so a search that is stopped goes on where it was.

Letters: `L` positions, `N` cells, `R` entries, `C` numbers of an entry.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from torch import Tensor

from cellgames.agents.connection.solving import Progress, native_problem, proof_moves, solved, table_file
from cellgames.envs.native import library, pointer
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.geometry import num_cells
from cellgames.envs.torus.state import TorusState
from cellgames.utils.errors import InputError
from cellgames.utils.files import replacing

SEARCHED_SIZES = (2, 3, 4, 5, 6)

_LONGEST = {2: 8, 3: 18, 4: 16, 5: 14, 6: 12}
"""Cells of the largest winning sets that the search sees, by size; of longer ones it learns when the board is full.

Up to size 4 these are all, in games whose players take turns.
"""

_MIB = 1 << 20
_SLICE = 20_000  # nodes between two looks whether the user has pressed Ctrl-C
_FORMAT = "cellgames torus solved 1"
_SHARED = 8  # symmetric positions with up to so many stones are proved once
_BATCH = 64  # positions between two such looks
_UNLIMITED = 1 << 62


class ProofSearch:
    """A solver of one board, with a table of what it has found.

    Attributes:
        size: the board's.
    """

    def __init__(self, size: int, memory: int = 64 * _MIB, *, table: Path | None = None) -> None:
        """Make a solver with an empty table, or with the table of a file.

        Args:
            size: the board's, 2 to 6.
            memory: bytes of the table; it is rounded down to a power of two.
            table: file in which the table lies; a missing file is made, and an existing one keeps its size.

        Raises:
            ValueError: another size, too little memory, or a file of another search.
            RuntimeError: there is no native code, or no memory.
        """
        if size not in SEARCHED_SIZES:
            raise InputError("size", "2 to 6", size, "proof-number search serves no others")
        self.size = size
        self._numbers = 4 if size <= 5 else 7  # of an entry, 64 bits each
        least = 1024 * 8 * self._numbers
        if memory < least:
            raise InputError("memory", f"at least {least} bytes for the table", memory)
        native = library(torch.device("cpu"))
        if native is None:
            raise RuntimeError(f"solving Torus of size {size} needs the native library, but {native_problem()}")
        self._native = native
        entries = 1 << (memory // (8 * self._numbers)).bit_length() - 1
        longest, place = _LONGEST[size], None
        if table is not None:
            self._table = table_file(table, {"size": size, "longest": longest}, entries, 8 * self._numbers)
            entries, place = self._table.nbytes // (8 * self._numbers), self._table.ctypes.data
        self._handle: int = native.cellgames_torus_solver_new(size, longest, entries, place)
        if not self._handle:
            raise RuntimeError(f"there is no memory for a table of {memory / _MIB:.0f} MiB; ask for less")
        weakref.finalize(self, native.cellgames_torus_solver_end, self._handle)

    @property
    def nodes(self) -> int:
        """Return the number of positions searched in all."""
        count: int = self._native.cellgames_torus_solver_nodes(self._handle)
        return count

    def solve(self, state: TorusState, nodes: int = _UNLIMITED) -> Tensor:
        """Return the winners of positions: 1 the player to move, -1 the other, 0 undecided after `nodes`, int8 [L].

        The numbers of stones need not come from turns taken alternately. In a finished game the loser is to move, so
        it counts -1. With a limit of nodes, answers depend on what the table has from earlier calls; `clear` empties
        it.
        """
        return self._values(self._boards(state), state.current_player, nodes)

    def solve_each(self, state: TorusState, nodes: int) -> tuple[Tensor, Tensor]:
        """Return values as `solve` does, and winning moves or -1: int64 [L] both.

        Each position is searched with an empty table, so its result depends on nothing else. The table loses its
        earlier entries.
        """
        boards, players = self._boards(state), state.current_player.to("cpu").contiguous()
        found = torch.empty((len(boards), 5), dtype=torch.int64, device="cpu")
        self._call("each", boards, players, nodes, pointer(found, torch.int64))
        return found[:, 0], torch.where(found[:, 0] == 1, found[:, 1], -1)

    def move_values(self, state: TorusState, nodes: int = _UNLIMITED) -> Tensor:
        """Return for each cell 1 if a stone there wins with best play, -1 if it loses, int8 [L, N].

        It is 0 where the move is not legal, or where the result is still open after `nodes`.
        """
        boards, players = self._boards(state), state.current_player.to("cpu").contiguous()
        values = torch.zeros_like(boards)
        for place in Torus(self.size).legal_actions(state).any(1).nonzero().squeeze(1).tolist():
            values[place] = self._move_values(boards[place], players[place : place + 1], nodes)
        return values

    def _move_values(self, board: Tensor, player: Tensor, nodes: int) -> Tensor:
        """Return the move values of one unfinished position, int8 [N]."""
        values, searched = torch.zeros_like(board), 0
        while searched < nodes and ((values == 0) & (board == 0)).any():
            slice_nodes = min(_SLICE, nodes - searched)
            self._call("moves", board[None], player, slice_nodes, pointer(values, torch.int8))
            searched += _SLICE
        return values

    def distances(self, state: TorusState, nodes: int = _UNLIMITED) -> tuple[Tensor, Tensor]:
        """Return the numbers of turns with best play, int64 [L], and masks of the best moves, bool [L, N].

        The winner wins as soon as possible and the loser loses as late as possible. The distance counts turns of both
        players, positive if the player to move wins, negative if it loses: 1 is a win with the next stone, -2 a loss
        by the answer to it. Where the limit of nodes (for who wins, each number of stones, and all moves) leaves that
        open it is 0, with no moves. It is exact up to size 4. On larger boards a win by a longer path than the search
        sees may be sooner.
        """
        boards, players = self._boards(state), state.current_player.to("cpu").contiguous()
        values = self.solve(state, nodes)
        turns = torch.zeros(len(boards), dtype=torch.int64, device="cpu")
        best = torch.zeros(boards.shape, dtype=torch.bool, device="cpu")
        for place in (values != 0).nonzero().squeeze(1).tolist():
            one = slice(place, place + 1)
            board, player, won = boards[one], players[one], bool(values[place] == 1)
            winner = int(player) if won else 1 - int(player)
            try:
                for stones in range(1, boards.shape[1]):
                    self._native.cellgames_torus_solver_bound(self._handle, winner, stones)
                    in_time = int(self._values(board, player, nodes))
                    if in_time == 0:
                        break
                    if (in_time == 1) == won:
                        turns[place] = 2 * stones - 1 if won else -2 * stones
                        best[place] = self._best_moves(board, player, won, stones, winner, nodes)
                        break
            finally:
                self._native.cellgames_torus_solver_bound(self._handle, -1, 0)
        turns[~best.any(1)] = 0
        return turns, best

    def _best_moves(self, board: Tensor, player: Tensor, won: bool, stones: int, winner: int, nodes: int) -> Tensor:
        """Return the moves that keep the distance, bool [N]; none if the limit of nodes leaves one open."""
        if not won:  # all moves lose within so many stones; some hold out against fewer
            stones -= 1
            if stones == 0:
                return board[0] == 0
            self._native.cellgames_torus_solver_bound(self._handle, winner, stones)
        free = board[0] == 0
        values = self._move_values(board[0], player, max(1, nodes // int(free.sum())))
        return values == 1 if (values != 0)[free].all() else torch.zeros_like(free)

    def search(self, state: TorusState, slice_nodes: int = _SLICE) -> Iterator[Progress]:
        """Search one position; yield the progress after each slice of nodes, at last with the result."""
        boards, player, nodes = self._boards(state), state.current_player, 0
        while True:
            value, move, more, proof, disproof = self._run(boards, player, slice_nodes)[0].tolist()
            nodes += more
            yield Progress(value, move, nodes, proof, disproof)
            if value:
                return

    def winning_strategy(self, state: TorusState) -> bytes:
        """Return the winner's moves in a proof of who wins one position that goes on, for `proof_checker`.

        What is not solved yet is searched first. Ctrl-C stops it.
        """
        board, player = self._boards(state), int(state.current_player)
        start, stones, mover = self._native.cellgames_torus_solver_proof, pointer(board, torch.int8), player
        return proof_moves(lambda stop, room, out: start(self._handle, stones, mover, _SHARED, stop, room, out))

    def entries(self, least: int = 1) -> Tensor:
        """Return the solved positions of the table that took `least` nodes or more, int64 [R, C], for `add`."""
        count = self._native.cellgames_torus_solver_entries(self._handle, least, 0, None)
        rows = torch.empty((count, self._numbers), dtype=torch.int64, device="cpu")
        self._native.cellgames_torus_solver_entries(self._handle, least, count, pointer(rows, torch.int64))
        return rows

    def add(self, entries: Tensor) -> None:
        """Add solved positions, int64 [R, C], that `entries` of a solver of the same size has returned."""
        self._native.cellgames_torus_solver_add(self._handle, len(entries), pointer(entries.contiguous(), torch.int64))

    def save(self, path: Path, least: int = 2) -> int:
        """Write the solved positions that took `least` nodes or more; return their number.

        A file that is there is replaced as a whole or not at all.
        """
        entries = self.entries(least)
        with replacing(path) as part, part.open("wb") as file:
            np.savez_compressed(file, format=_FORMAT, size=self.size, entries=entries.numpy())
        return len(entries)

    def load(self, path: Path) -> int:
        """Add the solved positions of a file that `save` has written; return how many they are.

        Raises:
            ValueError: the file is no such file, or of another size.
        """
        try:
            with np.load(path) as file:
                if file["format"] != _FORMAT:
                    raise ValueError(f"its format is {str(file['format'])[:100]!r}, not {_FORMAT!r}")
                size, entries = int(file["size"]), torch.from_numpy(file["entries"])
        except (ValueError, KeyError, EOFError, BadZipFile) as error:
            raise ValueError(f"{path} holds no solved positions of Torus ({error}); name another file") from error
        if size != self.size:
            raise ValueError(f"{path} holds solved positions of size {size}, not {self.size}; name another file")
        if entries.dtype != torch.int64 or entries.ndim != 2 or entries.shape[1] != self._numbers:
            raise ValueError(f"{path} holds no solved positions of Torus (they have another shape); name another file")
        self.add(entries)
        return len(entries)

    def clear(self) -> None:
        """Forget everything."""
        self._native.cellgames_torus_solver_clear(self._handle)

    def _boards(self, state: TorusState) -> Tensor:
        """Return boards, int8 [L, N], on the CPU."""
        cells = num_cells(self.size)
        if state.codes.shape[1] != cells:
            parameter = "state"
            raise InputError(parameter, f"{cells} cells", state.codes.shape[1], "ProofSearch(game.size) is the game's")
        return Torus(self.size).board(state).to("cpu", torch.int8).contiguous()

    def _values(self, boards: Tensor, players: Tensor, nodes: int) -> Tensor:
        """Return values of positions, int8 [L], searched one after the other."""
        values = self._run(boards, players, min(nodes, _SLICE))[:, 0]
        for place in (values == 0).nonzero().squeeze(1).tolist():
            one, searched = slice(place, place + 1), _SLICE
            while searched < nodes and values[place] == 0:
                values[one] = self._run(boards[one], players[one], min(_SLICE, nodes - searched))[:, 0]
                searched += _SLICE
        return values.to(torch.int8)

    def _run(self, boards: Tensor, players: Tensor, nodes: int) -> Tensor:
        """Return the answers of the native solver, int64 [L, 5]."""
        found = torch.empty((len(boards), 5), dtype=torch.int64, device="cpu")
        players = players.to("cpu").contiguous()
        for start in range(0, len(boards), _BATCH):
            part = slice(start, start + _BATCH)
            self._call("search", boards[part], players[part], nodes, pointer(found[part], torch.int64), None)
        return found

    def _call(self, name: str, boards: Tensor, players: Tensor, *arguments: Any) -> None:
        """Call the native solver about boards, int8 [L, N], and the players to move, int64 [L]."""
        positions = *boards.shape, pointer(boards, torch.int8), pointer(players, torch.int64)
        getattr(self._native, f"cellgames_torus_solver_{name}")(self._handle, *positions, *arguments)


LEAST_STONES = {3: 0, 4: 0, 5: 12}
"""The sizes that are solved, and the least number of stones. With fewer, some hundred nodes decide next to nothing."""

_SMALL_TABLE = 1 << 18  # bytes for up to 4,096 nodes; emptying it takes some microseconds
_SMALL_NODES = 1 << 12


def solve(game: Torus, state: TorusState, nodes: int) -> tuple[Tensor, Tensor]:
    """Return the winners of positions and winning moves: see `GamePlugin.search`; those of `LEAST_STONES` are asked."""
    stones = (state.codes != 0).sum(1)
    asked = stones >= LEAST_STONES[game.size] if game.size in LEAST_STONES else stones < 0
    return solved(state, asked, lambda: _small(game.size, -(-nodes // _SMALL_NODES)), nodes)


@cache
def _small(size: int, tables: int) -> ProofSearch:
    return ProofSearch(size, memory=tables * _SMALL_TABLE)

"""Proof-number search for Torus of size 2 to 6, in native code.

Any position of size 3 takes microseconds, of size 4 milliseconds. At size 5 most positions with ten stones take as
long, and the first moves take minutes. `envs/native/sources/torus_solver.h` explains the search.

Letters: `L` positions, `N` cells, `R` entries, `C` numbers of an entry.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.solving.prover import SLICE, UNLIMITED, ProofSearch
from cellgames.envs.native import pointer
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.state import TorusState
from cellgames.utils.errors import InputError

_LONGEST = {2: 8, 3: 18, 4: 16, 5: 14, 6: 12}
"""Cells of the largest winning sets that the search sees, by size; of longer ones it learns when the board is full.

Up to size 4 these are all, in games whose players take turns.
"""

LEAST_STONES = {3: 0, 4: 0, 5: 12}
"""The sizes that are solved, and the least number of stones. With fewer, some hundred nodes decide next to nothing."""

_OPENINGS = Path(__file__).with_name("openings_5.npz")  # solved positions of size 5 that take long: `entries`
_SHARED = 8  # symmetric positions with up to so many stones are proved once
_BATCH = 64  # positions between two looks whether the user has pressed Ctrl-C
_DISTANCE_NODES = 20_000  # searched for each number of stones in a move of `perfect` at size 5


class TorusSearch(ProofSearch[Torus]):
    """A solver of a board of Torus.

    The numbers of stones of its positions need not come from turns taken alternately. In a finished game the loser is
    to move, so it counts as lost.

    `perfect` plays boards of size 2 to 5. Up to size 4 it plays by distance: it wins as soon as possible and loses as
    late as possible. At size 5 it has the opening in a file: it wins from its first stone on an octagon, and as White
    if Black begins on a square. It plays by distance, too, as far as some more nodes tell it. In positions with few
    stones that best play does not lead to, the search may not end; then it plays the most promising move.
    """

    perfect_cells = 50
    table_step = 4096
    node_bytes = 64

    def __init__(self, game: Torus, memory: int = 1 << 26, *, table: Path | None = None) -> None:
        super().__init__(game, memory, table=table)
        size, place = game.size, self._table.ctypes.data
        self._handle: int = self._native.cellgames_torus_solver_new(size, _LONGEST[size], self._entries, place)
        if not self._handle:
            raise RuntimeError("there is no memory for a solver")
        weakref.finalize(self, self._native.cellgames_torus_solver_end, self._handle)

    @override
    @staticmethod
    def _kind(game: Torus) -> tuple[Mapping[str, object], int, int]:
        if game.size not in _LONGEST:
            raise InputError("size", "2 to 6", game.size, "proof-number search serves no others")
        return {"size": game.size, "longest": _LONGEST[game.size]}, 8 * _numbers(game), 1024

    @override
    @staticmethod
    def asked(game: Torus, state: TorusState) -> Tensor:
        stones = (state.codes != 0).sum(1)
        return stones >= LEAST_STONES[game.size] if game.size in LEAST_STONES else stones < 0

    @override
    def restart(self) -> None:
        self.clear()
        if self.game.size == 5:
            self.add(_openings())

    @override
    def best_moves(self, state: TorusState) -> Tensor:
        if self.game.size <= 4:
            return self.distances(state)[1][0]
        choice = super().best_moves(state)
        best = self.distances(state, _DISTANCE_NODES)[1][0]
        return best if best.any() else choice

    @override
    def move_values(self, state: TorusState, nodes: int = UNLIMITED) -> Tensor:
        boards, players = self._packed(state)
        values = torch.zeros_like(boards)
        for place in self.game.legal_actions(state).any(1).nonzero().squeeze(1).tolist():
            values[place] = self._move_values(boards[place], players[place : place + 1], nodes)
        return values

    def _move_values(self, board: Tensor, player: Tensor, nodes: int) -> Tensor:
        """Return the move values of one unfinished position, int8 [N]."""
        values, searched = torch.zeros_like(board), 0
        while searched < nodes and ((values == 0) & (board == 0)).any():
            slice_nodes = min(SLICE, nodes - searched)
            self._call("moves", board[None], player, slice_nodes, pointer(values, torch.int8))
            searched += SLICE
        return values

    def distances(self, state: TorusState, nodes: int = UNLIMITED) -> tuple[Tensor, Tensor]:
        """Return the numbers of turns with best play, int64 [L], and masks of the best moves, bool [L, N].

        The winner wins as soon as possible and the loser loses as late as possible. The distance counts turns of both
        players, positive if the player to move wins, negative if it loses: 1 is a win with the next stone, -2 a loss
        by the answer to it. Where the limit of nodes (for who wins, each number of stones, and all moves) leaves that
        open it is 0, with no moves. It is exact up to size 4. On larger boards a win by a longer path than the search
        sees may be sooner.
        """
        boards, players = self._packed(state)
        values = self.solve(state, nodes)
        turns = torch.zeros(len(boards), dtype=torch.int64, device="cpu")
        best = torch.zeros(boards.shape, dtype=torch.bool, device="cpu")
        for place in (values != 0).nonzero().squeeze(1).tolist():
            one, won = slice(place, place + 1), bool(values[place] == 1)
            winner = int(players[place]) if won else 1 - int(players[place])
            try:
                for stones in range(1, boards.shape[1]):
                    self._native.cellgames_torus_solver_bound(self._handle, winner, stones)
                    if not (in_time := int(self.solve(state[one], nodes))):
                        break
                    if (in_time == 1) == won:
                        turns[place] = 2 * stones - 1 if won else -2 * stones
                        best[place] = self._best_moves(boards[place], players[one], won, stones, winner, nodes)
                        break
            finally:
                self._native.cellgames_torus_solver_bound(self._handle, -1, 0)
        turns[~best.any(1)] = 0
        return turns, best

    def _best_moves(self, board: Tensor, player: Tensor, won: bool, stones: int, winner: int, nodes: int) -> Tensor:
        """Return the moves that keep the distance, bool [N]; empty if the limit of nodes leaves one open."""
        free = board == 0
        if not won:  # all moves lose within so many stones; some hold out against fewer
            if stones == 1:
                return free
            self._native.cellgames_torus_solver_bound(self._handle, winner, stones - 1)
        values = self._move_values(board, player, max(1, nodes // int(free.sum())))
        return values == 1 if (values != 0)[free].all() else torch.zeros_like(free)

    def entries(self, least: int = 1) -> Tensor:
        """Return the solved positions of the table that took `least` nodes or more, int64 [R, C], for `add`."""
        count = self._native.cellgames_torus_solver_entries(self._handle, least, 0, None)
        rows = torch.empty((count, _numbers(self.game)), dtype=torch.int64, device="cpu")
        self._native.cellgames_torus_solver_entries(self._handle, least, count, pointer(rows, torch.int64))
        return rows

    def add(self, entries: Tensor) -> None:
        """Add solved positions, int64 [R, C], that `entries` of a solver of the same size has returned."""
        self._native.cellgames_torus_solver_add(self._handle, len(entries), pointer(entries.contiguous(), torch.int64))

    @override
    def _run(self, state: TorusState, nodes: int, alone: bool = False) -> Tensor:
        boards, players = self._packed(state)
        found = torch.empty((len(boards), 5), dtype=torch.int64, device="cpu")
        for start in range(0, len(boards), _BATCH):
            part = slice(start, start + _BATCH)
            more = () if alone else (None,)  # no carriers
            out = pointer(found[part], torch.int64)
            self._call("each" if alone else "search", boards[part], players[part], nodes, out, *more)
        return found

    @override
    def _write_proof(self, state: TorusState, stop: int, room: int, moves: int) -> int:
        (board, player), write = self._packed(state), self._native.cellgames_torus_solver_proof
        return int(write(self._handle, pointer(board, torch.int8), int(player), _SHARED, stop, room, moves))

    def _packed(self, state: TorusState) -> tuple[Tensor, Tensor]:
        """Return boards, int8 [L, N], and the players to move, int64 [L], on the CPU."""
        cells = self.game.num_cells
        if state.codes.shape[1] != cells:
            raise InputError("state", f"{cells} cells", state.codes.shape[1], "TorusSearch(game) is the game's")
        board = self.game.board(state).to("cpu", torch.int8).contiguous()
        return board, state.current_player.to("cpu").contiguous()

    def _call(self, name: str, boards: Tensor, players: Tensor, *arguments: Any) -> None:
        """Call the native solver about boards, int8 [L, N], and the players to move, int64 [L]."""
        positions = *boards.shape, pointer(boards, torch.int8), pointer(players, torch.int64)
        getattr(self._native, f"cellgames_torus_solver_{name}")(self._handle, *positions, *arguments)
        self.nodes = self._native.cellgames_torus_solver_nodes(self._handle)


def _numbers(game: Torus) -> int:
    """Return the number of 64-bit words of an entry, `C`."""
    return 4 if game.size <= 5 else 7


@cache
def _openings() -> Tensor:
    """Return the solved positions of the file, int64 [R, C]."""
    with np.load(_OPENINGS) as file:
        return torch.from_numpy(file["entries"])

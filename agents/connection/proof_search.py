"""Proof-number search for Hex and Y on boards of up to 128 cells, in native code.

Hex is solved to size 6 in seconds, Y to size 8, and late positions of larger boards.
`envs/native/sources/connection_solver.cpp` explains the search.

Letters: `L` positions, `N` cells, `A` actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from typing_extensions import override

from cellgames.agents.search import Proved
from cellgames.agents.solving.prover import UNLIMITED, ProofSearch
from cellgames.envs.connection.boards import Board
from cellgames.envs.connection.game import ConnectionGame, ConnectionState
from cellgames.envs.native import library
from cellgames.envs.native.native_library import threads
from cellgames.utils.errors import InputError

_MOST_CELLS, _SMALL = 128, 64  # of the largest boards, and of those that count as small
_MOST_FREE = 40  # cells of positions of small boards that searches ask about; with more, some hundred nodes decide few
_LOOKED = 0.8  # free share of larger boards, of which a look tells nearly all that some hundred nodes tell
_FEW = 16  # free cells of positions in which `perfect` judges all moves
_NOBODY = 255  # at the end of the cells around one


class ConnectionSearch(ProofSearch[ConnectionGame]):
    """A solver of a game of Hex or Y.

    Where a swap may follow, every first move loses: the other player takes it over if it would win.

    `perfect` plays Hex to size 6 and Y to size 8. With 16 free cells or fewer it chooses at random among all moves that
    win, else it plays the one that it has found.
    """

    perfect_cells = 36

    def __init__(self, game: ConnectionGame, memory: int = 1 << 26, *, table: Path | None = None) -> None:
        super().__init__(game, memory, table=table)
        self._rules = _rules(game.layout)
        self._arguments = self._rules.ctypes.data, self._table.ctypes.data, self._entries

    @override
    @staticmethod
    def _kind(game: ConnectionGame) -> tuple[Mapping[str, object], int, int]:
        if (cells := game.num_cells) > _MOST_CELLS:
            raise InputError("board", f"at most {_MOST_CELLS} cells, to solve it", cells, where=game.id)
        entry = 16 + 32 * -(-cells // 64)
        return {"shape": game.shape, "tiling": game.tiling, "size": game.size}, entry, 4  # the swap matters not

    @override
    @staticmethod
    def asked(game: ConnectionGame, state: ConnectionState) -> Tensor:
        return (game.board(state) == 0).sum(1) <= (_MOST_FREE if game.num_cells <= _SMALL else -1)

    @override
    def best_moves(self, state: ConnectionState) -> Tensor:
        if int(self.game.legal_actions(state).sum()) > _FEW:
            return super().best_moves(state)
        self.restart()
        return self.move_values(state)[0] == 1

    @override
    def move_values(self, state: ConnectionState, nodes: int = UNLIMITED) -> Tensor:
        legal = self.game.legal_actions(state)
        fresh = (state.turn == 0)[:, None] & legal if self.game.swap else torch.zeros_like(legal)
        rows, actions = (legal & ~fresh).nonzero().unbind(1)
        after = self.game.step(state[rows], actions)
        boards = self.game.board(after).to("cpu", torch.int8)[:, torch.tensor(self.game.layout.symmetries)]
        least = [min(map(bytes, images)) for images in boards.numpy()]
        keys = list(zip(after.current_player.tolist(), least, strict=True))
        first = {key: place for place, key in reversed([*enumerate(keys)])}  # symmetric ones are searched once
        known = dict(zip(first, self.solve(after[list(first.values())], nodes).tolist(), strict=True))
        values = -fresh.to("cpu", torch.int8)
        values[rows.cpu(), actions.cpu()] = -torch.tensor([known[key] for key in keys], dtype=torch.int8, device="cpu")
        return values

    @override
    def winning_strategy(self, state: ConnectionState, seconds: float | None = None) -> bytes:
        """Return the winner's moves; a `ValueError` where a swap may follow, of which proofs know nothing."""
        if self.game.swap and int(state.turn) < 2:
            raise InputError("swap", "False, or a position after the second turn", True, where=self.game.id)
        return super().winning_strategy(state, seconds)

    @override
    def _run(self, state: ConnectionState, nodes: int, alone: bool = False) -> Tensor:
        found = np.zeros((len(state), 5), np.int64)
        turns = state.turn.tolist() if self.game.swap else [2] * len(state)
        for answer, stones, seat, turn in zip(found, *_packed(self.game, state), turns, strict=True):
            if alone:
                self.clear()
            if turn == 0:  # the other player takes over a stone that would win
                answer[:] = -1, -1, 0, 1 << 30, 0
                continue
            position = stones.ctypes.data, int(seat)
            self._native.cellgames_connection_solve(*self._arguments, *position, nodes, answer.ctypes.data)
            if turn == 1 and answer[0] == -1:
                answer[:2] = 1, self.game.num_cells  # the swap
            elif answer[0] == -1:
                answer[1] = -1
            self.nodes += int(answer[2])
        return torch.from_numpy(found)

    @override
    def _write_proof(self, state: ConnectionState, stop: int, room: int, moves: int) -> int:
        (stones, seats), write = _packed(self.game, state), self._native.cellgames_connection_proof
        return int(write(*self._arguments, stones.ctypes.data, int(seats[0]), stop, room, moves))


def look(game: ConnectionGame, state: ConnectionState) -> Proved | None:
    """Return the facts that connections prove about `X` positions on large boards, a third of a millisecond each.

    Positions with few stones are left open. The result is None without native code, on boards too large for the solver,
    and on those so small that searches ask it for some hundred nodes.
    """
    native = library(torch.device("cpu"))
    if native is None or not _SMALL < game.num_cells <= _MOST_CELLS:
        return None
    result, move = torch.zeros_like(state.current_player), torch.full_like(state.current_player, -1)
    worth = torch.ones((len(state), game.info.num_actions), dtype=torch.bool, device=state.device)
    rows = ((game.board(state) == 0).sum(1) <= _LOOKED * game.num_cells).nonzero().squeeze(1)
    if len(rows):
        (stones, seats), rules = _packed(game, state[rows]), _rules(game.layout)
        results, moves = torch.zeros((2, len(rows)), dtype=torch.int64, device="cpu").unbind()
        cells = torch.zeros((len(rows), game.num_cells), dtype=torch.bool, device="cpu")
        positions = len(rows), threads(len(rows), 1), stones.ctypes.data, torch.from_numpy(seats)
        native.cellgames_connection_looks(rules.ctypes.data, *positions, results, moves, cells)
        result[rows], move[rows] = results.to(state.device), moves.to(state.device)
        worth[rows, : game.num_cells] = cells.to(state.device)
    return Proved(result, move, worth)


def _packed(game: ConnectionGame, state: ConnectionState) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the sets of the mover's and of the other's stones, as bits of whole words, [L, 2, W], and the movers."""
    seats = state.current_player.cpu().numpy()
    boards = game.board(state).cpu().numpy()[:, None] == np.stack((seats + 1, 2 - seats), 1)[:, :, None]
    cells = np.pad(boards, ((0, 0), (0, 0), (0, -boards.shape[2] % 64)))
    return np.packbits(cells, 2, "little"), seats


@cache
def _rules(board: Board) -> NDArray[np.uint64]:
    """Return a board as `Board` of the C++ source reads it."""

    def words(cells: Iterable[int]) -> list[int]:
        bits = sum(1 << cell for cell in set(cells))
        return [bits >> first & (1 << 64) - 1 for first in range(0, board.cells, 64)]

    def beyond(side: int) -> int:
        return _MOST_CELLS + (2 if all(goal & side for goal in board.goals) else int(not board.goals[0] & side))

    cells = {side: words(cell for cell, on in enumerate(board.sides) if on & side) for side in (1, 2, 4, 8)}
    sides = [[cells[side] for side in cells if goal & side] for goal in board.goals]
    around = [
        [near if near is not None else beyond(board.across(cell, place)) for place, near in enumerate(ring)]
        for cell, ring in enumerate(board.rings)
    ]
    numbers = [board.cells, *(len(goal) for goal in sides)]
    numbers += [word for goal in sides for side in (*goal, words(()), words(()))[:3] for word in side]
    numbers += [word for near in board.neighbours for word in words(near)]
    numbers += [near for ring in around for near in (*ring, *[_NOBODY] * 8)[:8]]
    return np.array(numbers, np.uint64)

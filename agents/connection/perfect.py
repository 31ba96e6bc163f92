"""`perfect` in Hex and Y: proof-number search on small boards, of up to 64 cells, in native code.

Hex is solved to size 6 in seconds, Y to size 8. `envs/native/sources/connection_solver.cpp` explains the search. Its
results stay in its table, so a search that is stopped goes on where it was.

Letters: `L` positions, `A` actions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import GameAgent
from cellgames.agents.playouts.random_agent import random_actions
from cellgames.envs.connection.boards import Board
from cellgames.envs.connection.game import ConnectionGame, ConnectionState
from cellgames.envs.core import Game
from cellgames.envs.native import library
from cellgames.utils.errors import InputError

from .greedy import ConnectionGreedy
from .solving import Progress, native_problem, proof_moves, solved, table_file

MOST_CELLS = 64
"""The cells of the largest boards."""

_ENTRY = 48  # bytes
_SLICE = 20_000  # nodes between two looks whether the user has pressed Ctrl-C
_BOTH, _NOBODY = MOST_CELLS + 2, 255  # beyond a side of both players, and at the end of the cells around one
_MIB = 1 << 20


class ConnectionSearch:
    """A solver of a game of Hex or Y, with a table of what it has found.

    Attributes:
        game: the game. Where a swap may follow, every first move loses: the other player takes it over if it would win.
        nodes: positions looked at since the search began.
    """

    def __init__(self, game: ConnectionGame, memory: int = 64 * _MIB, *, table: Path | None = None) -> None:
        """Make a solver with an empty table, or with the table of a file.

        Args:
            game: on a board of `MOST_CELLS` at most.
            memory: bytes of the table; it is rounded down to a power of two of entries.
            table: file in which the table lies; a missing file is made, and an existing one keeps its size.

        Raises:
            ValueError: a larger board, too little memory, or a file of another search.
            RuntimeError: there is no native code.
        """
        if (cells := game.layout.cells) > MOST_CELLS:
            raise InputError("board", f"at most {MOST_CELLS} cells, to solve it", cells, where=game.id)
        if memory < 4 * _ENTRY:
            raise InputError("memory", f"at least {4 * _ENTRY} bytes for the table", memory)
        native = library(torch.device("cpu"))
        if native is None:
            raise RuntimeError(f"solving {game.id} needs the native library, but {native_problem()}")
        self.game, self.nodes = game, 0
        self._native, self._rules = native, _rules(game.layout)
        entries = 1 << (memory // _ENTRY).bit_length() - 1
        if table is None:
            self._table = np.zeros(entries * _ENTRY, np.uint8)
        else:  # of a board, since the swap is no part of positions
            board = {"shape": game.shape, "tiling": game.tiling, "size": game.size}
            self._table = table_file(table, board, entries, _ENTRY)
        self._arguments = self._rules.ctypes.data, self._table.ctypes.data, len(self._table) // _ENTRY

    def clear(self) -> None:
        """Empty the table."""
        self._table[:] = 0

    def solve(self, state: ConnectionState, nodes: int = 1 << 62) -> Tensor:
        """Return the winners of positions: 1 the player to move, -1 the other, 0 undecided after `nodes`, int8 [L]."""
        found = [self._found(position, turn, nodes).value for position, turn in self._positions(state)]
        return torch.tensor(found, dtype=torch.int8, device="cpu")

    def search(self, state: ConnectionState, slice_nodes: int = _SLICE) -> Iterator[Progress]:
        """Search one position that goes on; yield the progress after each slice of nodes, at last with the result."""
        ((position, turn),) = self._positions(state)
        while not (found := self._found(position, turn, slice_nodes)).value:
            yield found
        yield found

    def solve_each(self, state: ConnectionState, nodes: int) -> tuple[Tensor, Tensor]:
        """Return values as `solve` does, and winning moves or -1: int64 [L] both, each after a search of its own."""
        found = torch.empty((2, len(state)), dtype=torch.int64, device="cpu")
        for row, (position, turn) in enumerate(self._positions(state)):
            self.clear()
            answer = self._found(position, turn, nodes)
            found[0, row], found[1, row] = answer.value, answer.move if answer.value == 1 else -1
        return found[0], found[1]

    def _found(self, position: tuple[int, int, int], turn: int, nodes: int) -> Progress:
        """Search a position, before which `turn` turns were played; the first two matter where a swap may follow."""
        if self.game.swap and turn == 0:  # the other player takes over a stone that would win
            return Progress(-1, -1, self.nodes, 1 << 30, 0)
        value, move, _, proof, disproof = self._solve(*position, nodes)
        if self.game.swap and turn == 1 and value == -1:
            value, move = 1, self.game.num_cells  # the swap
        return Progress(value, move if value >= 0 else -1, self.nodes, proof, disproof)

    def move_values(self, state: ConnectionState, nodes: int = 1 << 62) -> Tensor:
        """Return for each action 1 if it wins with best play, -1 if it loses, int8 [L, A].

        It is 0 where the move is not legal, or where the result is still open after `nodes`.
        """
        legal = self.game.legal_actions(state)
        values, known = torch.zeros(legal.shape, dtype=torch.int8, device="cpu"), dict[Any, int]()
        for row, ((position, turn), last) in enumerate(zip(self._positions(state), state.last.tolist(), strict=True)):
            if self.game.swap and turn == 0:
                values[row][legal[row]] = -1
                continue
            for action in legal[row].nonzero().flatten().tolist():
                key = self._canonical(*self._after(position, action, last))  # symmetric ones are searched once
                if key not in known:
                    known[key] = -self._solve(*key, nodes)[0]
                values[row, action] = known[key]
        return values

    def _canonical(self, own: int, other: int, seat: int) -> tuple[int, int, int]:
        """Return the least of the positions that are the same but for a symmetry."""
        images = self.game.layout.symmetries
        return min((_moved(own, image), _moved(other, image), seat) for image in images)

    def _after(self, position: tuple[int, int, int], action: int, last: int) -> tuple[int, int, int]:
        """Return the position after a move, seen by the other player; `last` is the cell of the last stone."""
        own, other, seat = position
        if action == self.game.num_cells:  # the stone alone becomes the mover's, on the cell where the swap puts it
            own, other = 1 << self.game.layout.swapped[last], 0
        else:
            own |= 1 << action
        return other, own, 1 - seat

    def winning_strategy(self, state: ConnectionState) -> bytes:
        """Return the winner's moves in a proof of who wins one position that goes on, for `proof_checker`.

        What is not solved yet is searched first. Ctrl-C stops it.

        Raises:
            ValueError: a swap may follow, of which proofs know nothing.
        """
        if self.game.swap and int(state.turn) < 2:
            raise InputError("swap", "False, or a position after the second turn", True, where=self.game.id)
        ((position, _),) = self._positions(state)
        start, stones = self._native.cellgames_connection_proof, map(_signed, position[:2])
        arguments = *self._arguments, *stones, position[2]
        return proof_moves(lambda stop, room, moves: start(*arguments, stop, room, moves))

    def _positions(self, state: ConnectionState) -> Iterator[tuple[tuple[int, int, int], int]]:
        """Yield the sets of the mover's and of the other's stones and the mover's seat, and the turns played."""
        facts = (self.game.board(state), state.current_player, state.turn)
        for board, seat, turn in zip(*(fact.tolist() for fact in facts), strict=True):
            sides = [_set(cell for cell, owner in enumerate(board) if owner == colour) for colour in (1, 2)]
            yield (sides[seat], sides[1 - seat], seat), turn

    def _solve(self, own: int, other: int, seat: int, nodes: int) -> list[int]:
        """Return value, move, nodes, proof and disproof number."""
        found = np.zeros(5, np.int64)
        stones = _signed(own), _signed(other)
        self._native.cellgames_connection_solve(*self._arguments, *stones, seat, nodes, found.ctypes.data)
        self.nodes += int(found[2])
        return [int(number) for number in found]


def _set(cells: Iterator[int]) -> int:
    return sum(1 << cell for cell in cells)


def _moved(cells: int, image: Sequence[int]) -> int:
    """Return the set in which each cell has what its source in `image` has."""
    return sum(1 << cell for cell, source in enumerate(image) if cells >> source & 1)


def _signed(cells: int) -> int:
    """Return a set of 64 cells as an int64."""
    return cells - (cells >> 63 << 64)


def _rules(board: Board) -> NDArray[np.uint64]:
    """Return a board as `Board` of the C++ source reads it."""
    sides = [[_set(c for c, s in enumerate(board.sides) if s & side) for side in _bits(goal)] for goal in board.goals]
    around = [
        [near if near is not None else _beyond(board, board.across(cell, place)) for place, near in enumerate(ring)]
        for cell, ring in enumerate(board.rings)
    ]
    numbers = [board.cells, *(len(goal) for goal in sides)]
    numbers += [side for goal in sides for side in (*goal, 0, 0)[:3]]
    numbers += [_set(iter(set(near))) for near in board.neighbours]
    numbers += [near for ring in around for near in (*ring, *[_NOBODY] * 8)[:8]]
    return np.array(numbers, np.uint64)


def _beyond(board: Board, side: int) -> int:
    """Return the number for what lies beyond a side: `MOST_CELLS` plus the seat it belongs to, or both players'."""
    owners = [seat for seat, goal in enumerate(board.goals) if goal & side]
    return _BOTH if len(owners) == 2 else MOST_CELLS + owners[0]


def _bits(mask: int) -> list[int]:
    return [side for side in (1, 2, 4, 8) if mask & side]


MOST_FREE = 40
"""The free cells of positions that searches ask about. With more, some hundred nodes decide few."""

_NODE = 128  # bytes of the table for each node; emptying it takes some microseconds


def solve(game: ConnectionGame, state: ConnectionState, nodes: int) -> tuple[Tensor, Tensor]:
    """Return the winners of positions and winning moves: see `GamePlugin.search`; boards of `MOST_CELLS` are asked."""
    asked = (game.board(state) == 0).sum(1) <= (MOST_FREE if game.num_cells <= MOST_CELLS else -1)
    return solved(state, asked, lambda: _small(game, nodes), nodes)


@cache
def _small(game: ConnectionGame, nodes: int) -> ConnectionSearch:
    return ConnectionSearch(game, _NODE * nodes)


PERFECT_CELLS = 36
"""The cells of the largest boards: Hex of size 6, Y of size 8."""

_NODES = 400_000  # looked at in a position at most, some seconds
_FEW = 16  # free cells of positions in which all moves are judged
_MEMORY = 1 << 24


class ConnectionPerfect(GameAgent[ConnectionGame]):
    """An agent that wins every position of a small board that can be won.

    It searches up to 400,000 nodes a move, at most some seconds. With 16 free cells or fewer it chooses at random among
    all moves that win, else it plays the one that it has found. In lost positions it moves as `greedy` does. Where a
    swap may follow its first stone, every first stone loses; it plays that of `greedy`, too.
    """

    name = "perfect"
    plays = ConnectionGame
    _search: ConnectionSearch | None = None

    @override
    def check_game(self, game: Game) -> None:
        if not isinstance(game, ConnectionGame):
            raise InputError(f"agent {self.name!r}", "hex-v0 or y-v0", game.id)
        if (cells := game.layout.cells) > PERFECT_CELLS:
            raise InputError(f"agent {self.name!r}", f"a board that is solved, of at most {PERFECT_CELLS} cells", cells)
        if problem := native_problem():
            raise ValueError(f"agent {self.name!r} needs the native library, but {problem}")

    def act_on_state(self, state: ConnectionState, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose the best moves, int64 [L]."""
        game, legal, search = self.game, self.game.legal_actions(state), self._searching()
        choice = torch.stack([self._winning(search, state[row : row + 1]) for row in range(len(state))])
        choice = choice.to(legal.device)
        lost = ~choice.any(1)
        actions = random_actions(torch.where(lost[:, None], legal, choice), legal.shape[1:], generator)
        if lost.any():
            greedy = ConnectionGreedy()
            greedy.start(game, state.current_player, env_ids)
            seen = game.observe(state, state.current_player)
            actions = torch.where(lost, greedy.act(seen, legal, env_ids, generator), actions)
        return actions

    def values(self, state: ConnectionState, nodes: int) -> Tensor:
        """Return 1 where the player to move wins unfinished positions, -1 where it loses, 0 if it is open, int8 [L].

        Args:
            state: positions of the game that was started.
            nodes: searched at most for each position.
        """
        search = self._searching()
        search.clear()
        return search.solve(state, nodes)

    def _searching(self) -> ConnectionSearch:
        if self._search is None or self._search.game != self.game:
            self._search = ConnectionSearch(self.game, _MEMORY)
        return self._search

    def _winning(self, search: ConnectionSearch, state: ConnectionState) -> Tensor:
        """Return moves that win one position, bool [A]; none if it is lost, or not solved."""
        search.clear()  # so that a move does not depend on other games
        legal = self.game.legal_actions(state)[0].to("cpu")
        if int(legal.sum()) <= _FEW:
            return search.move_values(state)[0] == 1
        choice, found = torch.zeros_like(legal), next(search.search(state, _NODES))
        if found.value == 1:
            choice[found.move] = True
        return choice

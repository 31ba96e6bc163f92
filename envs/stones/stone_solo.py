"""One game of connected stones outside a batch, whose memory NumPy and the native code of a step share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import torch
from typing_extensions import override

from cellgames.envs.core.sampling import pack
from cellgames.envs.core.solo import SharedSolo, one
from cellgames.envs.native import library

from .stone_planes import OFF
from .stone_state import StoneS

if TYPE_CHECKING:
    from .stone_game import StoneGame

_CPU = torch.device("cpu")


class StoneSolo(SharedSolo, Generic[StoneS]):
    """One game of connected stones; `place` puts any stone anywhere.

    Attributes:
        last: the cell of the last stone, -1 before the first.
    """

    _game: StoneGame[StoneS]

    def __init__(self, game: StoneGame[StoneS], state: StoneS) -> None:
        super().__init__(game, state)
        self._kind = type(state)
        self._board = game.board(state)[0].numpy(force=True).copy()
        places = game._places(_CPU)
        self._places = None if places is None else places.numpy()
        self.last = int(state.last)
        self._share(state, game.put_fields)

    @override
    def _bind(self) -> None:
        cell, player, won = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.bool_)
        call: Callable[[], object] = self._put_by_torch
        if (native := library(_CPU)) is not None:
            function, first = self._game.native_put(native)
            fields = (cell, player, *self._memory.values(), won)
            call = partial(function, first, 1, 1, *(field.ctypes.data for field in fields))
        self._bound = cell, player, won, call

    def _put_by_torch(self) -> None:
        cell, player, won, _ = self._bound
        after = self._game.put_stones(*self._torch(), torch.from_numpy(cell), torch.from_numpy(player))
        for field, new in zip((*self._memory.values(), won), after, strict=True):
            field[:] = new.numpy()

    @override
    def step(self, actions: Any) -> None:
        self.rewards = [0.0, 0.0]
        if not self.terminated:
            cell = int(actions)
            if cell == len(self._board):  # a swap
                cell = self._game.swapped(self.last)
                for field in (*self._memory.values(), self._board):
                    field[:] = 0
            self.place(cell, self.current_player)
            self.current_player = 1 - self.current_player
            self.turn += 1

    def place(self, cell: int, player: int) -> None:
        """Put a stone of `player` on a free cell, and end the game if it wins."""
        at, mover, won, call = self._bound
        at[0], mover[0] = cell, player
        call()
        self._board[cell] = player + 1
        self.last = cell
        if won[0]:
            self.terminated = True
            self.scores[player] = 1.0
            self.rewards = [-1.0, -1.0]
            self.rewards[player] = 1.0

    @override
    def legal_actions(self) -> np.ndarray:
        mask = np.zeros(self._game.info.num_actions, np.bool_)
        if not self.terminated:
            mask[: len(self._board)] = self._board == 0
            mask[len(self._board) :] = self.turn == 1  # a swap
        return mask

    @override
    def observe(self, player: int) -> np.ndarray:
        stones, n = self._board, self._game.size
        if self._places is not None:
            stones = np.append(stones, np.int8(OFF))[self._places]
        owners = (player + 1, 2 - player, 0)[: 3 if self._game.shows_free else 2]
        parts = (*(stones == owner for owner in owners), np.full(n * n, player == 0))
        return np.concatenate(parts).view(np.int8).reshape(-1, n, n)

    @override
    def board(self) -> np.ndarray:
        return self._board.copy()

    @override
    def state(self) -> StoneS:
        free, swap = self._board == 0, self._game.info.num_actions - len(self._board)
        fields = {name: torch.from_numpy(field.copy()) for name, field in self._memory.items()}
        legal = one(np.append(free, np.full(swap, self.turn == 1)).tolist())
        return self._kind(**self._fields(), **{**fields, "free": pack(legal)}, last=one(self.last, torch.int32))

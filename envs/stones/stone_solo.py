"""One game of connected stones outside a batch, whose memory NumPy and the native code of a step share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import torch
from typing_extensions import override

from cellgames.envs.core.sampling import pack
from cellgames.envs.core.solo import Solo, one
from cellgames.envs.native import library

from .stone_state import StoneS

if TYPE_CHECKING:
    from .stone_game import StoneGame

__all__ = ["StoneSolo"]

_CPU = torch.device("cpu")


class StoneSolo(Solo, Generic[StoneS]):
    """One game of connected stones; `place` puts any stone anywhere.

    Attributes:
        last: the cell of the last stone, -1 before the first.
    """

    _game: StoneGame[StoneS]

    def __init__(self, game: StoneGame[StoneS], state: StoneS) -> None:
        super().__init__(game, state)
        self._kind = type(state)
        self._put = {name: getattr(state, name).numpy(force=True).copy() for name in game.put_fields}
        self._board = game.board(state)[0].numpy(force=True).copy()
        self.last = int(state.last)
        self._bind()

    def _bind(self) -> None:
        """Prepare the call that puts a stone into this game's memory."""
        self._move = np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.bool_)  # cell, player, has it won
        self._call: Callable[[], object] = self._put_by_torch
        if (native := library(_CPU)) is not None:
            function, first = self._game.native_put(native)
            *given, won = self._move
            fields = (*given, *self._put.values(), won)
            self._call = partial(function, first, 1, 1, *(field.ctypes.data for field in fields))

    def _put_by_torch(self) -> None:
        *given, won = self._move
        fields = map(torch.from_numpy, (*self._put.values(), *given))
        for field, new in zip((*self._put.values(), won), self._game.put_stones(*fields), strict=True):
            field[:] = new.numpy()

    def __getstate__(self) -> dict[str, Any]:
        """Return all fields but those that `_bind` makes, which hold addresses of this process."""
        return {name: value for name, value in vars(self).items() if name not in ("_move", "_call")}

    def __setstate__(self, fields: dict[str, Any]) -> None:
        vars(self).update(fields)
        self._put = {name: field.copy() for name, field in self._put.items()}
        self._bind()

    @override
    def step(self, actions: Any) -> None:
        self.rewards = [0.0, 0.0]
        if not self.terminated:
            cell = int(actions)
            if cell == len(self._board):  # a swap
                cell = self._game.swapped(self.last)
                for field in (*self._put.values(), self._board):
                    field[:] = 0
            self.place(cell, self.current_player)
            self.current_player = 1 - self.current_player
            self.turn += 1

    def place(self, cell: int, player: int) -> None:
        """Put a stone of `player` on a free cell, and end the game if it wins."""
        at, mover, won = self._move
        at[0], mover[0] = cell, player
        self._call()
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
        return self._game.planes_of(self._board, player)

    @override
    def board(self) -> np.ndarray:
        return self._board.copy()

    @override
    def state(self) -> StoneS:
        free, swap = self._board == 0, self._game.info.num_actions - len(self._board)
        fields = {name: torch.from_numpy(field.copy()) for name, field in self._put.items()}
        legal = one(np.append(free, np.full(swap, self.turn == 1)).tolist())
        return self._kind(**self._fields(), **{**fields, "free": pack(legal)}, last=one(self.last, torch.int32))

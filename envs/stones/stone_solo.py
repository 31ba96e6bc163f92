"""One game of connected stones on plain Python integers, without the cost of tensors."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from typing_extensions import override

from cellgames.envs.core.solo import Solo, one

from .joining import GROUP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from .stone_game import StoneGame
    from .stone_state import StoneState

__all__ = ["StoneSolo"]


class StoneSolo(Solo):
    """One game of connected stones on integers; `place` puts any stone anywhere.

    Attributes:
        last: the cell of the last stone, -1 before the first.
    """

    def __init__(self, game: StoneGame[Any], state: StoneState) -> None:
        super().__init__(game, state)
        self._codes: list[int] = state.codes[0].tolist()
        self._board = game.board(state)[0].numpy(force=True).copy()
        self.last = int(state.last)

    @abstractmethod
    def _connect(self, cell: int, colour: int) -> bool:
        """Put a stone of a colour, 1 Black or 2 White, among its neighbours; return True if it wins."""

    @override
    def step(self, actions: Any) -> None:
        self.rewards = [0.0, 0.0]
        if not self.terminated:
            self.place(int(actions), self.current_player)
            self.current_player = 1 - self.current_player
            self.turn += 1

    def place(self, cell: int, player: int) -> None:
        """Put a stone of `player` on a free cell, and end the game if it wins."""
        won = self._connect(cell, player + 1)
        self._board[cell] = player + 1
        self.last = cell
        if won:
            self.terminated = True
            self.scores[player] = 1.0
            self.rewards = [-1.0, -1.0]
            self.rewards[player] = 1.0

    def _join(self, cell: int, code: int, groups: Sequence[int], shifts: Sequence[int]) -> None:
        """Lay down the code of a new stone, and add to those of the groups that it joins."""
        codes = self._codes
        for group, shift in zip(groups, shifts, strict=True):
            if shift:
                codes = [x + shift if x & GROUP == group else x for x in codes]
        codes[cell] = code
        self._codes = codes

    @override
    def legal_actions(self) -> np.ndarray:
        mask: np.ndarray = self._board == 0
        return np.zeros_like(mask) if self.terminated else mask

    @override
    def board(self) -> np.ndarray:
        return self._board.copy()

    def _stone_fields(self) -> dict[str, Tensor]:
        """Return the fields that the states of all games of stones have, but for the packed mask."""
        codes = one(self._codes, torch.int32)
        return {**self._fields(), "codes": codes, "last": one(self.last, torch.int32)}

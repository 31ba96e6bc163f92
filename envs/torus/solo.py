"""One game of Torus on plain Python integers: the rules of `rules`, without the cost of tensors."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from typing_extensions import override

from cellgames.envs.core.sampling import pack
from cellgames.envs.core.solo import Solo, one

from . import rules
from .observation import PLANES, planes
from .state import TorusState

if TYPE_CHECKING:
    from .game import Torus

__all__ = ["TorusSolo"]


@cache
def _slots(size: int) -> list[list[tuple[int, int]]]:
    return rules.slots(size)


class TorusSolo(Solo):
    """One game of Torus on integers; `place` puts any stone anywhere."""

    _game: Torus

    def __init__(self, game: Torus, state: TorusState) -> None:
        super().__init__(game, state)
        self._slots = _slots(game.size)
        self._codes: list[int] = state.codes[0].tolist()
        self._losing = int(state.losing)
        self._board = game.board(state)[0].numpy(force=True).copy()
        self.last = int(state.last)

    @override
    def step(self, actions: Any) -> None:
        self.rewards = [0.0, 0.0]
        if not self.terminated:
            self.place(int(actions), self.current_player)
            self.current_player = 1 - self.current_player
            self.turn += 1

    def place(self, cell: int, player: int) -> None:
        """Put a stone of `player` on a free cell, and end the game if it wins."""
        codes, colour = self._codes, player + 1
        around = [codes[near] + shift for near, shift in self._slots[cell]]
        frames = [rules.frame(around[slot], around[slot + 1], colour, rules.choose) for slot in (0, 2, 4, 6)]
        code, groups, shifts = rules.join(frames, rules.lone(cell, colour), rules.choose)
        cycles = rules.closed(frames, rules.choose)
        codes[cell] = code
        for group, shift in zip(groups, shifts, strict=True):
            if shift:
                self._codes = codes = [x + shift if x & rules.GROUP == group else x for x in codes]
        self._board[cell] = colour
        self.last = cell
        if any(cycles):
            self._losing = kept = rules.keep(cycles, self._losing, rules.choose)
            if any(rules.wins(cycle, kept, colour, rules.choose) for cycle in cycles):
                self.terminated = True
                self.scores[player] = 1.0
                self.rewards = [-1.0, -1.0]
                self.rewards[player] = 1.0

    @override
    def legal_actions(self) -> np.ndarray:
        mask: np.ndarray = self._board == 0
        return np.zeros_like(mask) if self.terminated else mask

    @override
    def observe(self, player: int) -> np.ndarray:
        n = self._game.size
        seen = np.empty((PLANES, n, n), np.int8)
        seen[0:2], seen[2:4], seen[4] = planes(self._board.reshape(2, n, n), player)
        return seen

    @override
    def board(self) -> np.ndarray:
        return self._board.copy()

    @override
    def state(self) -> TorusState:
        codes = one(self._codes, torch.int32)
        return TorusState(
            **self._fields(),
            codes=codes,
            free=pack(codes == 0),
            losing=one(self._losing, torch.int32),
            last=one(self.last, torch.int32),
        )

"""One game of Hex or Y on plain Python integers: the rules of `rules`, without the cost of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from typing_extensions import override

from cellgames.envs.core.sampling import pack
from cellgames.envs.core.solo import Solo, one
from cellgames.envs.stones.joining import GROUP, choose

from . import rules
from .observation import OFF, num_planes, planes
from .state import ConnectionState

if TYPE_CHECKING:
    from .game import ConnectionGame

__all__ = ["ConnectionSolo"]


class ConnectionSolo(Solo):
    """One game of Hex or Y on integers; `place` puts any stone anywhere."""

    _game: ConnectionGame

    def __init__(self, game: ConnectionGame, state: ConnectionState) -> None:
        super().__init__(game, state)
        self._layout = game.layout
        self._codes: list[int] = state.codes[0].tolist()
        self._board = game.board(state)[0].numpy(force=True).copy()
        self.last = int(state.last)

    @override
    def step(self, actions: Any) -> None:
        self.rewards = [0.0, 0.0]
        if self.terminated:
            return
        cell = int(actions)
        if cell == self._layout.cells:  # a swap
            cell = self._layout.swapped[self.last]
            self._codes = [0] * self._layout.cells
            self._board[:] = 0
        self.place(cell, self.current_player)
        self.current_player = 1 - self.current_player
        self.turn += 1

    def place(self, cell: int, player: int) -> None:
        """Put a stone of `player` on a free cell, and end the game if it wins."""
        codes, colour, layout = self._codes, player + 1, self._layout
        around = [codes[near] for near in layout.slots[cell]]
        frames = [rules.frame(around[slot], around[slot + 1], colour, choose) for slot in (0, 2, 4, 6)]
        code, groups, shifts = rules.connect(frames, rules.placed(cell, colour, layout.sides[cell]), choose)
        for group, shift in zip(groups, shifts, strict=True):
            if shift:
                codes = [x + shift if x & GROUP == group else x for x in codes]
        codes[cell] = code
        self._codes = codes
        self._board[cell] = colour
        self.last = cell
        goal = layout.goals[player]
        if rules.sides(code) & goal == goal:
            self.terminated = True
            self.scores[player] = 1.0
            self.rewards = [-1.0, -1.0]
            self.rewards[player] = 1.0

    @override
    def legal_actions(self) -> np.ndarray:
        mask = np.zeros(self._game.info.num_actions, np.bool_)
        if not self.terminated:
            mask[: self._layout.cells] = self._board == 0
            mask[self._layout.cells :] = self.turn == 1
        return mask

    @override
    def observe(self, player: int) -> np.ndarray:
        n, kinds = self._game.size, self._layout.kinds
        grids = np.full((kinds, n, n), OFF, np.int8)
        grids[tuple(zip(*self._layout.spots, strict=True))] = self._board
        seen = np.empty((num_planes(kinds), n, n), np.int8)
        seen[:kinds], seen[kinds : 2 * kinds], seen[2 * kinds : -1], seen[-1] = planes(grids, player)
        return seen

    @override
    def board(self) -> np.ndarray:
        return self._board.copy()

    @override
    def state(self) -> ConnectionState:
        codes = one(self._codes, torch.int32)
        legal = self._board == 0
        if self._game.swap:
            legal = np.append(legal, self.turn == 1)
        return ConnectionState(
            **self._fields(),
            codes=codes,
            free=pack(one(legal.tolist())),
            last=one(self.last, torch.int32),
        )

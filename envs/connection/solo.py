"""One game of Hex or Y on plain Python integers: the rules of `rules`, without the cost of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import override

from cellgames.envs.core.sampling import pack
from cellgames.envs.core.solo import one
from cellgames.envs.stones.joining import choose
from cellgames.envs.stones.stone_solo import StoneSolo

from . import rules
from .observation import OFF, num_planes, planes
from .state import ConnectionState

if TYPE_CHECKING:
    from .game import ConnectionGame

__all__ = ["ConnectionSolo"]


class ConnectionSolo(StoneSolo):
    """One game of Hex or Y on integers."""

    _game: ConnectionGame

    def __init__(self, game: ConnectionGame, state: ConnectionState) -> None:
        super().__init__(game, state)
        self._layout = game.layout

    @override
    def step(self, actions: Any) -> None:
        cell = int(actions)
        if cell == self._layout.cells and not self.terminated:  # a swap
            cell = self._layout.swapped[self.last]
            self._codes = [0] * self._layout.cells
            self._board[:] = 0
        super().step(cell)

    @override
    def _connect(self, cell: int, colour: int) -> bool:
        codes, layout = self._codes, self._layout
        around = [codes[near] for near in layout.slots[cell]]
        frames = [rules.frame(around[slot], around[slot + 1], colour, choose) for slot in (0, 2, 4, 6)]
        code, groups, shifts = rules.connect(frames, rules.placed(cell, colour, layout.sides[cell]), choose)
        self._join(cell, code, groups, shifts)
        goal = layout.goals[colour - 1]
        return bool(rules.sides(code) & goal == goal)

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
    def state(self) -> ConnectionState:
        legal = self._board == 0
        if self._game.swap:
            legal = np.append(legal, self.turn == 1)
        return ConnectionState(**self._stone_fields(), free=pack(one(legal.tolist())))

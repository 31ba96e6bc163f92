"""One game of Torus on plain Python integers: the rules of `rules`, without the cost of tensors."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import torch
from typing_extensions import override

from cellgames.envs.core.sampling import pack
from cellgames.envs.core.solo import one
from cellgames.envs.stones.stone_solo import StoneSolo

from . import rules
from .observation import PLANES, planes
from .state import TorusState

if TYPE_CHECKING:
    from .game import Torus

__all__ = ["TorusSolo"]


@cache
def _slots(size: int) -> list[list[tuple[int, int]]]:
    return rules.slots(size)


class TorusSolo(StoneSolo):
    """One game of Torus on integers."""

    _game: Torus

    def __init__(self, game: Torus, state: TorusState) -> None:
        super().__init__(game, state)
        self._slots = _slots(game.size)
        self._losing = int(state.losing)

    @override
    def _connect(self, cell: int, colour: int) -> bool:
        codes = self._codes
        around = [codes[near] + shift for near, shift in self._slots[cell]]
        frames = [rules.frame(around[slot], around[slot + 1], colour, rules.choose) for slot in (0, 2, 4, 6)]
        self._join(cell, *rules.join(frames, rules.lone(cell, colour), rules.choose))
        cycles = rules.closed(frames, rules.choose)
        if not any(cycles):
            return False
        self._losing = kept = rules.keep(cycles, self._losing, rules.choose)
        return any(rules.wins(cycle, kept, colour, rules.choose) for cycle in cycles)

    @override
    def observe(self, player: int) -> np.ndarray:
        n = self._game.size
        seen = np.empty((PLANES, n, n), np.int8)
        seen[0:2], seen[2:4], seen[4] = planes(self._board.reshape(2, n, n), player)
        return seen

    @override
    def state(self) -> TorusState:
        fields = self._stone_fields()
        return TorusState(**fields, free=pack(fields["codes"] == 0), losing=one(self._losing, torch.int32))

"""One game of Cloth of Gold outside a batch, whose counts are made by native code in its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core.solo import NativeSolo
from cellgames.envs.core.state import State
from cellgames.envs.native import library

from . import rounds
from .state import ClothState

if TYPE_CHECKING:
    from .game import ClothOfGold


class ClothSolo(NativeSolo):
    """One game of Cloth of Gold."""

    _game: ClothOfGold
    _state: ClothState

    @override
    def _share(self, state: State, legal: Tensor) -> None:
        super()._share(state, legal)
        game, now, native = self._game, self._state, library(self._state.device)
        assert native is not None
        self._counts, self._env_id = torch.empty_like(now.rounds[:, 0, :4]), torch.zeros_like(now.seed)
        boards = now.territory.movedim(0, -1), now.killed.movedim(0, -1)
        self._count = rounds.native_tally(native, game.grid, *boards, self._env_id, self._counts)

    @override
    def infos(self, player: int) -> dict[str, Any]:
        self._count()
        *territory, contested, killed = self._counts.tolist()[0]
        return {
            "score": self.scores[player],
            "units": self._state.live.tolist()[0],
            "territory": territory,
            "contested": contested,
            "killed": killed,
            "round": int(self._state.round),
        }

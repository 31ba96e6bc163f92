"""The world of one game with wild options, generation by generation, for pictures and files of patterns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .wild_rounds import WildRound, territories
from .wild_state import WildState

if TYPE_CHECKING:
    from cellgames.envs.cloth_of_gold.game import ClothOfGold

__all__ = ["WildWorld"]


class WildWorld:
    """The world of one game, which `generation` steps as the end of the round would.

    Args:
        game: the rules.
        state: a batch of one; not changed.
    """

    def __init__(self, game: ClothOfGold, state: WildState) -> None:
        self._game, self._start = game, state
        self._round: WildRound | None = None

    def generation(self) -> None:
        """Play the next generation of the world, and nothing else."""
        self._round = self._round or WildRound(self._game, self._start)
        self._round.generation()

    def state(self) -> WildState:
        """Return the game as it is after the generations so far; nothing is counted."""
        return self._start if self._round is None else self._round.after(self._start)

    def board(self) -> npt.NDArray[np.int8]:
        """Return the cells, int8 [H, W]."""
        cells: npt.NDArray[np.int8] = self._game.board(self.state())[0].numpy(force=True)
        return cells

    def territories(self) -> npt.NDArray[np.bool_]:
        """Return both players' territory or zones as they are now, bool [2, H, W]."""
        state = self.state()
        reach = state.reach[0] if self._game.perks else None
        found = territories(self._game, state.units[0], reach)
        fields: npt.NDArray[np.bool_] = self._game.grid.unpack(found.movedim(0, -1)).numpy(force=True)
        return fields

    def placed(self) -> npt.NDArray[np.bool_]:
        """Return units that the mover has placed in this turn: bool [H, W]."""
        cells: npt.NDArray[np.bool_] = self._game.grid.unpack(self._start.placed.movedim(0, -1))[0].numpy(force=True)
        return cells

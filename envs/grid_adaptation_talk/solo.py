"""One match of Grid Adaptation with talk outside a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from cellgames.envs.grid_adaptation.solo import GridSolo

from . import words

if TYPE_CHECKING:
    from .game import GridAdaptationTalk


class TalkSolo(GridSolo):
    """One match of Grid Adaptation with talk: the base game's, and the words that were said and heard."""

    _game: GridAdaptationTalk

    @override
    def observe(self, player: int) -> npt.NDArray[np.int16]:
        game, own = self._game, self._own
        known = np.concatenate((self._reached(player), own["said"][0, :, player]), 1)
        bits = (known[..., None] == np.arange(game.words + 1)).reshape(-1)
        planes = np.zeros((words.num_planes(game), game.size, game.size), dtype=np.int16)
        planes[0] = int(own["talks"][0]) < min(int(own["round"][0]), game.rounds) * game.talk_steps
        planes[1:].reshape(-1)[: bits.size] = bits
        return np.concatenate((super().observe(player), planes))

    def _reached(self, player: int) -> npt.NDArray[np.int8]:
        """Return the words that have reached a player from each other seat, [T, P - 1]."""
        others = [seat for seat in range(self._game.players) if seat != player]
        places = [player - (player > seat) for seat in others] if self._game.talk == "private" else [0] * len(others)
        own = self._own
        arrived: npt.NDArray[np.int8] = (own["heard"] if own["heard"].size else own["said"])[0]
        return arrived[:, others, places]

    @override
    def infos(self, player: int) -> dict[str, Any]:
        last = self._reached(player)[max(0, int(self._own["talks"][0]) - 1)]  # before the first, all are to come
        return {**super().infos(player), "heard": np.insert(last, player, words.TO_COME).tolist()}

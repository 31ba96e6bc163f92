"""One match of Grid Adaptation outside a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from cellgames.envs.core.solo import NativeSolo

from . import rules
from .state import BOARDS, LARGEST, num_planes

if TYPE_CHECKING:
    from .game import GridAdaptation

_WEIGHTS = np.array(rules.DIGITS)


def numbers_seen(game: GridAdaptation, own: dict[str, Any], over: npt.NDArray[np.bool_]) -> npt.NDArray[np.int16]:
    """Return the numbers that each player knows, [B, P, M], in the order of planes behind the boards.

    Args:
        game: the rules.
        own: the fields of a `GridState` as arrays.
        over: bool [B], the matches that have ended.
    """
    number, scores = own["round"], own["scores"]
    rows = np.zeros((*scores.shape, num_planes(game.players) - BOARDS), np.int64)
    told = over | (number > game.rounds)
    voting = told ^ over
    rows[..., :3] = own["sequence"][..., None] & _WEIGHTS != 0
    for place, held in enumerate((own["reserves"], own["garnets"], rules.price(own["bought"]), scores), 3):
        rows[..., place] = held
    flips = sum(number == flip for flip in game.flip_rounds) * ~told
    for place, known in enumerate((number, flips, voting), 7):
        rows[..., place] = known[:, None]
    rows[..., 10:18] = own["public"][:, None]
    if told.any():
        knows = (voting[:, None] & (own["tokens"] > 0) & own["tied"].any(1)[:, None]) | over[:, None]
        rows[..., 18:] = knows[..., None] * np.concatenate((scores, own["tied"]), 1)[:, None]
    return np.minimum(rows, LARGEST).astype(np.int16)


class GridSolo(NativeSolo):
    """One match of Grid Adaptation; the planes that all players see are made when one is asked for."""

    _game: GridAdaptation

    @override
    def _share(self) -> None:
        super()._share()
        self._own: dict[str, Any] = dict(zip(vars(self._state), self._fields, strict=True))
        self._seen = np.empty(self._game.base.info.observation.shape, np.int16)

    @override
    def _look(self) -> None:
        super()._look()
        self._over, self._fresh = self.terminated or self.truncated, False

    @override
    def observe(self, player: int) -> npt.NDArray[np.int16]:
        if not self._fresh:
            self._fresh = True
            self._rows = numbers_seen(self._game, self._own, np.array([self._over]))[0]
            self._told = self._over or int(self._own["round"][0]) > self._game.rounds
            self._seen[:BOARDS] = self._cells()
            self._seen[BOARDS:] = self._rows[0, :, None, None]
        seen: npt.NDArray[np.int16] = self._seen.copy()
        for part in (slice(7), slice(18, None))[: 1 + self._told]:  # what not all know
            seen[BOARDS:][part] = self._rows[player, part, None, None]
        return seen

    def _cells(self) -> npt.NDArray[np.uint8]:
        """Return the boards as cells [4, H, W], 0 or 1."""
        grid, planes = self._game.grid, self._own["planes"][0]
        bits = np.unpackbits(planes.view(np.uint8), bitorder="little").reshape(*planes.shape, -1)
        used = bits[..., : grid.rows_a_word * grid.stride]
        return used.reshape(len(planes), -1, grid.stride)[:, : grid.rows, : grid.cols]

    @override
    def infos(self, player: int) -> dict[str, Any]:
        own, unknown = self._own, [-1] * self._game.players
        ends = {"points": list(map(int, self.scores)), "tokens": own["tokens"][0], "final_garnets": own["garnets"][0]}
        return {
            "score": self.scores[player],
            **{name: int(own[name][0, player]) for name in ("sequence", "reserves", "garnets")},
            **{name: list(map(int, value)) if self._over else unknown[:] for name, value in ends.items()},
            "candidate": int(own["candidate"][0]) if self._over else -1,
        }

"""One match of Grid Adaptation outside a batch."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.boards.board_planes import native_writer
from cellgames.envs.core.solo import NativeSolo
from cellgames.envs.core.state import State
from cellgames.envs.native import library

from . import observation, rules

if TYPE_CHECKING:
    from .game import GridAdaptation

_DIGITS = np.array(rules.DIGITS)


class GridSolo(NativeSolo):
    """One match of Grid Adaptation; the planes that all players see are made when one is asked for."""

    _game: GridAdaptation

    @override
    def _share(self, state: State, legal: Tensor) -> None:
        super()._share(state, legal)
        self._own = {name: field.numpy() for name, field in vars(self._state).items()}
        game, native = self._game, library(state.device)
        assert native is not None
        boards, shape = torch.from_numpy(self._own["planes"]).unbind(1), game.info.observation.shape
        numbers = torch.zeros((1, 1, shape[0] - len(boards)), dtype=torch.int16, device="cpu")
        first, seat = (len(boards), numbers.shape[2]), torch.from_numpy(self._seat)[None]
        self._rows, self._seen = np.zeros((game.players, first[1]), np.int16), np.empty(shape, np.int16)
        write = native_writer(native, game.grid, boards, seat, numbers, first, torch.int16)
        self._numbers, self._write = numbers[0, 0].numpy(), partial(write, self._seen.ctypes.data)

    @override
    def _look(self) -> None:
        super()._look()
        self._over, self._fresh = self.terminated or self.truncated, False

    def pause(self) -> None:
        """Play a step in which nothing on the board moves."""
        self._own["turn"] += 1
        for name in ("rewards", "placed"):
            self._own[name][:] = 0
        self._look()

    @override
    def observe(self, player: int) -> npt.NDArray[np.int16]:
        if not self._fresh:
            self._fresh = True
            self._count()
            self._numbers[:] = self._rows[0]
            self._write()
        seen: npt.NDArray[np.int16] = self._seen.copy()
        for part in (slice(7), slice(18, None))[: 1 + self._told]:  # what not all know
            seen[observation.BOARDS :][part] = self._rows[player, part, None, None]
        return seen

    def _count(self) -> None:
        """Write the numbers that each player knows."""
        at, rows, most = {name: field[0] for name, field in self._own.items()}, self._rows, observation.LARGEST
        number, points, tied = int(at["round"]), at["scores"], at["tied"]
        voting, flips = number > self._game.rounds, number in self._game.flip_rounds
        rows[:, :3] = at["sequence"][:, None] & _DIGITS != 0
        held = np.stack((at["reserves"], at["garnets"], rules.price(at["bought"]), points), 1)
        rows[:, 3:7] = np.minimum(held, most)
        rows[:, 7:10] = number, flips and not voting and not self._over, voting and not self._over
        rows[:, 10:18] = np.minimum(at["public"], most)
        self._told = voting or self._over
        knows = (at["tokens"] > 0) & (voting and tied.any()) | self._over
        rows[:, 18:] = knows[:, None] * np.minimum(np.concatenate((points, tied)), most)

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

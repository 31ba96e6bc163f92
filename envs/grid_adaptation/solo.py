"""One match of Grid Adaptation outside a batch, whose memory NumPy and the native code of a round share.

Letters: `P` players, `N` spaces, `A` choices of all components of an action.
"""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import torch
from typing_extensions import override

from cellgames.envs.boards.bitboards import WORD
from cellgames.envs.core.solo import Solo
from cellgames.envs.native import library

from . import native, observation, rules
from .state import COMPONENTS, GridState

if TYPE_CHECKING:
    from .game import GridAdaptation

OWN = slice(observation.BOARDS, observation.BOARDS + 7)  # planes of what a player alone knows
_ONES = [[int(sequence & value != 0) for value in rules.DIGITS] for sequence in range(8)]

Flags = npt.NDArray[np.bool_]


class GridSolo(Solo):
    """One match of Grid Adaptation."""

    _game: GridAdaptation

    def __init__(self, game: GridAdaptation, state: GridState) -> None:
        super().__init__(game, state)
        self._share({field.name: getattr(state, field.name).numpy(force=True) for field in dataclasses.fields(state)})
        self._look()

    def _share(self, fields_by_name: Mapping[str, npt.NDArray[Any]]) -> None:
        """Copy fields into memory of this game's own, and prepare its steps."""
        self._memory = {name: field.copy() for name, field in fields_by_name.items()}
        players, loaded = self._game.players, library(torch.device("cpu"))
        assert loaded is not None
        given = np.zeros((players, len(COMPONENTS)), np.int64)
        mask = np.zeros((players, self._game.info.num_actions), bool)
        results = np.zeros(players, np.float32), np.zeros(1, bool), np.zeros(1, bool)  # which stand in the fields, too
        fields = (ctypes.c_void_p * len(self._memory))(*(field.ctypes.data for field in self._memory.values()))
        head, into = native.call(*native.numbers(self._game), 1), [result.ctypes.data for result in results]
        step = (False, fields, given.ctypes.data, given.size, 1, None, *into)
        legal = (fields, mask.ctypes.data, None, 0, None)
        self._bound = (
            *(given, mask),
            partial(loaded.cellgames_grid_adaptation_step, *head, *step),
            partial(loaded.cellgames_grid_adaptation_legal, *head, *legal),
            results,
        )

    @override
    def copy(self) -> Self:
        twin = super().copy()
        twin._share(self._memory)
        return twin

    def _look(self) -> None:
        """Read what more than one question about the position needs."""
        at = {name: field[0] for name, field in self._memory.items()}
        self.turn, self._round = int(at["turn"]), int(at["round"])
        self.rewards, self.scores = at["rewards"].tolist(), at["scores"].tolist()
        self.terminated = bool(at["terminated"])
        self._done, self._voting = self.terminated or self.truncated, self._round > self._game.rounds
        self._flips = not self._voting and self._round in self._game.flip_rounds
        self._cells = self._unpacked(at["planes"])
        self._view: tuple[npt.NDArray[np.int16], npt.NDArray[np.int16]] | None = None

    def _unpacked(self, boards: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Return boards [k, N] as cells [k, H, W], 0 or 1."""
        grid = self._game.grid
        bits = np.unpackbits(boards.view(np.uint8), bitorder="little").reshape(len(boards), grid.words, WORD)
        rows = bits[..., : grid.rows_a_word * grid.stride].reshape(len(boards), -1, grid.stride)
        return rows[:, : grid.rows, : grid.cols]

    # --- the game -------------------------------------------------------------------------------------------------

    @override
    def step(self, actions: Any) -> None:
        if self._done:
            self.rewards = [0.0] * self._game.players
            self._memory["rewards"][:] = 0
            return
        given, _, call, *_ = self._bound
        given[:] = actions
        call()
        self._look()

    def pause(self) -> None:
        """Play a step in which nothing on the board moves."""
        self._memory["turn"] += 1
        for name in ("rewards", "placed"):
            self._memory[name][:] = 0
        self._look()

    @override
    def legal_actions(self) -> Flags:
        mask: Flags
        _, mask, _, call, *_ = self._bound
        if self._done:
            return np.zeros_like(mask)
        call()
        return mask.copy()

    # --- what is seen ---------------------------------------------------------------------------------------------

    @override
    def observe(self, player: int) -> npt.NDArray[np.int16]:
        if self._view is None:
            self._view = self._public_planes(), self._numbers([self._mine(seat) for seat in range(self._game.players)])
        planes, own = self._view
        seen: npt.NDArray[np.int16] = planes.copy()
        seen[OWN] = own[player, :, None, None]
        tied = self._memory["tied"][0]
        if self._done or (self._voting and tied.any() and self._memory["tokens"][0, player] > 0):  # a voter
            totals = self._numbers([*map(int, self.scores), *tied])
            seen[len(observation.PLANES) :] = totals[:, None, None]
        return seen

    def _public_planes(self) -> npt.NDArray[np.int16]:
        """Return an observation without what not all may know."""
        planes = np.zeros(self._game.info.observation.shape, dtype=np.int16)
        planes[: observation.BOARDS] = self._cells
        numbers = (
            self._round,
            self._flips and not self._done,
            self._voting and not self._done,
            *self._memory["public"][0],
        )
        planes[OWN.stop : len(observation.PLANES)] = self._numbers(numbers)[:, None, None]
        return planes

    def _mine(self, seat: int) -> list[int]:
        """Return the numbers of the planes `OWN`."""
        sequence, reserves, garnets, bought = self._held(seat, "sequence", "reserves", "garnets", "bought")
        return [*_ONES[sequence], reserves, garnets, rules.price(bought), int(self.scores[seat])]

    def _held(self, seat: int, *names: str) -> list[int]:
        """Return a player's values of the fields in `names`."""
        return [int(self._memory[name][0, seat]) for name in names]

    @staticmethod
    def _numbers(values: Any) -> npt.NDArray[np.int16]:
        numbers: npt.NDArray[np.int16] = np.minimum(values, observation.LARGEST).astype(np.int16)
        return numbers

    @override
    def board(self) -> npt.NDArray[np.int8]:
        tiles, *digits = self._cells.astype(np.int8)
        board: npt.NDArray[np.int8] = tiles - np.int8(1)
        for digit, value in zip(digits, rules.DIGITS, strict=True):
            board += digit * np.int8(value)
        return board

    @override
    def infos(self, player: int) -> dict[str, Any]:
        done, unknown = self._done, [-1] * self._game.players
        names = ("sequence", "reserves", "garnets")
        return {
            "score": self.scores[player],
            **dict(zip(names, self._held(player, *names), strict=True)),
            "points": list(map(int, self.scores)) if done else unknown,
            "tokens": self._memory["tokens"][0].tolist() if done else unknown[:],
            "final_garnets": self._memory["garnets"][0].tolist() if done else unknown[:],
            "candidate": int(self._memory["candidate"][0]) if done else -1,
        }

    @override
    def state(self) -> GridState:
        return GridState(*(torch.from_numpy(field.copy()) for field in self._memory.values()))

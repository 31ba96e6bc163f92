"""One learner's game outside a batch: that of a `SeatVector` of one env, in a small part of its time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from cellgames.envs.core import chance
from cellgames.envs.core.solo import Solo
from cellgames.envs.core.state import State

from .opponents import UNIFORM
from .seats import PATIENCE, SEAT, SeatVector

_NOTHING = np.float32(0)


class SeatSolo:
    """The game of a `SeatVector` of one env, taken over between two of its steps, until `give_back`.

    Attributes:
        player: the learner's seat.
        mask: the learner's legal actions, bool [A]; not to be changed.
    """

    def __init__(self, vector: SeatVector, solo: Solo) -> None:
        self._vector, self._game, self._solo = vector, vector.game, solo
        self._seed, self.player = int(vector.state.seed), int(vector.player)
        self._owed, self._returns = np.float32(vector._owed[0]), np.float32(vector._returns[0])
        self._length, self.mask = int(vector._lengths), solo.legal_actions()

    @classmethod
    def of(cls, vector: SeatVector) -> SeatSolo | None:
        """Return the game of a vector; None for what only the vector plays.

        That is opponents other than `UNIFORM`, positions, games in which all act at once, actions of several
        components, and games without a single-game host.
        """
        info = vector.game.info
        if (
            vector.opponents != (UNIFORM,)
            or vector._starts.positions is not None
            or info.simultaneous
            or len(info.action_nvec) > 1
        ):
            return None
        solo = vector.game.solo(vector.state)
        return None if type(solo) is Solo else cls(vector, solo)

    def give_back(self) -> SeatVector:
        """Return the vector with the game as it is now; this object is of no more use."""
        vector = self._vector
        vector._state = self._solo.state()
        vector._player, vector._lengths = torch.tensor([[self.player], [self._length]], device="cpu").unbind()
        vector._owed, vector._returns = torch.from_numpy(np.array([[self._owed], [self._returns]])).unbind()
        who = torch.zeros_like(vector._seating.seats)
        who[0, self.player] = -1
        vector._seating.seats = who
        vector._forget()
        return vector

    def state(self) -> State:
        """Return the game as a batch of one."""
        state: State = self._solo.state()
        return state

    def observe(self) -> npt.NDArray[Any]:
        """Return the learner's observation, as a fresh array."""
        return self._solo.observe(self.player)

    def is_legal(self, action: Any) -> bool:
        """Return True for a legal action that is a plain whole number."""
        whole = isinstance(action, int | np.integer) and not isinstance(action, bool)
        return bool(whole and 0 <= action < len(self.mask) and self.mask[action])

    def step(self, action: int) -> tuple[float, Solo | None]:
        """Play a legal action and the opponents' turns; return the learner's reward, and the game if it has ended.

        The next game then stands here, at the learner's first turn.
        """
        self._play(action)
        self._length += 1
        self._to_the_learner()
        reward, self._owed = float(self._owed), _NOTHING
        self._returns += np.float32(reward)
        ended = self._solo if self._done else None
        for _ in range(PATIENCE):
            if not self._done:
                break
            self._next_game()
            self._to_the_learner()
        else:
            raise self._vector._never_acts()
        self.mask = self._solo.legal_actions()
        return reward, ended

    @property
    def _done(self) -> bool:
        return self._solo.terminated or self._solo.truncated

    def _next_game(self) -> None:
        self._seed = chance.next_seed(self._seed)
        self._solo = self._game.solo(self._game.init(torch.tensor([self._seed], device="cpu")))
        self.player = self._vector._fixed_seat
        if self.player < 0:
            bits = chance.draw_one(self._seed, SEAT, 0)
            self.player = (bits & 0xFFFFFFFF) * self._game.info.num_players >> 32  # as `uniform_int`
        self._owed, self._returns, self._length = _NOTHING, _NOTHING, 0

    def _to_the_learner(self) -> None:
        solo = self._solo
        while not self._done and solo.current_player != self.player:
            self._play(UNIFORM.choose(self._seed, solo.turn, solo.legal_actions()))

    def _play(self, action: int) -> None:
        self._solo.step(action)
        self._owed += np.float32(self._solo.rewards[self.player])

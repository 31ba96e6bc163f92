"""One game outside a batch.

Interfaces that play a single game (PettingZoo, a person at a terminal) make one small step after the other, and
then the cost is the number of tensor operations, not their size. `NativeSolo` plays a batch of one by the game's native
step in memory that it shares with NumPy; `Solo` serves every game, and machines without the native library.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from typing_extensions import override

from cellgames.utils.errors import InputError

from .state import State

if TYPE_CHECKING:
    from .game import Game

_CPU = torch.device("cpu")
_ALIGNED = 64  # bytes, as torch aligns tensors


class Solo:
    """A game in progress that is changed by its steps, which are those of a batch of one.

    Args:
        game: the rules.
        state: the game to go on with, a batch of one.

    Attributes:
        turn: steps played.
        current_player: seat that acts next.
        rewards: [P], of the last step.
        scores: [P].
        terminated: True once the game has ended by the rules.
        truncated: True once the game has been cut off by a limit.
    """

    def __init__(self, game: Game, state: State) -> None:
        if len(state) != 1:
            raise InputError("state", "a state of one game", len(state), where=game.id)
        self._game = game
        self._read(state)

    def _read(self, state: State) -> None:
        """Take over a state; its fields that every state has, but for the seed, as plain numbers."""
        self._state = state
        self.turn = int(state.turn)
        self.current_player = int(state.current_player)
        self.rewards: list[float] = state.rewards[0].tolist()
        self.scores: list[float] = state.scores[0].tolist()
        self.terminated, self.truncated = bool(state.terminated), bool(state.truncated)

    def copy(self) -> Self:
        """Return the same game, to be stepped apart: lists and arrays are copied, and what they hold is shared.

        A game whose steps change anything deeper in place overrides it.
        """
        other = object.__new__(type(self))
        for name, value in vars(self).items():
            setattr(other, name, value.copy() if isinstance(value, list | np.ndarray) else value)
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the rules and the state: memory that native code knows is not for other processes."""
        return type(self), (self._game, self.state())

    def step(self, actions: Any) -> None:
        """Play one step with legal actions: an integer, or an array [P], [K] or [P, K].

        A finished game stays as it is.
        """
        batch = torch.tensor(np.asarray(actions), device=self._state.device)[None]
        self._read(self._game.step(self._state, batch, checked=False))

    def legal_actions(self) -> np.ndarray:
        """Return the mask as a fresh array, bool [A] or [P, A]."""
        return self._game.legal_actions(self._state)[0].numpy(force=True).copy()

    def observe(self, player: int) -> np.ndarray:
        """Return the player's observation as a fresh array, as `info.observation` says."""
        return self._game.observe(self._state, player)[0].numpy(force=True).copy()

    def board(self) -> np.ndarray:
        """Return the position as a fresh array, as `info.board` says."""
        return self._game.board(self._state)[0].numpy(force=True).copy()

    def infos(self, player: int) -> dict[str, Any]:
        """Return `Game.infos` as plain numbers and lists of them."""
        return {name: value[0].tolist() for name, value in self._game.infos(self._state, player).items()}

    def state(self) -> Any:
        """Return the same game as a batch of one, a `State` of the game."""
        return self._state


class NativeSolo(Solo):
    """A single game that steps by the native step of a `Vector`, in memory that NumPy and torch share."""

    _game: Game[Any]

    @override
    def _read(self, state: State) -> None:
        self._kind, fields = type(state), [field.numpy(force=True) for field in vars(state).values()]
        padded = [field.tobytes() + bytes(-field.nbytes % _ALIGNED) for field in fields]
        starts = accumulate(map(len, padded[:-1]), initial=0)
        self._layout = [(field.shape, field.dtype, start) for field, start in zip(fields, starts, strict=True)]
        self._block = np.frombuffer(bytearray(b"".join(padded)), np.uint8)  # one copy keeps a position
        self._mask = self._game.legal_actions(state).numpy(force=True).copy()
        self._scores_alone = type(self._game).infos.__qualname__ == "Game.infos"  # as most games have them
        self._share()

    def _share(self) -> None:
        """Let NumPy and torch share the memory; what native code needs of it is prepared when it is first called."""
        self._fields = [np.ndarray(shape, dtype, self._block, start) for shape, dtype, start in self._layout]
        self._state = self._kind(*map(torch.from_numpy, self._fields))
        self._common = self._fields[1:7]  # the fields of every state but for the seed
        self._call: Any = None
        self._see: Any = None
        self._look()

    def _look(self) -> None:
        common = (field.item() if field.size == 1 else field.tolist()[0] for field in self._common)
        self.turn, self.current_player, self.rewards, self.scores, self.terminated, self.truncated = common

    @override
    def step(self, actions: Any) -> None:
        if self._call is None:
            self._given, self._ended = np.zeros((1, *self._game.info.action_shape), np.int64), np.zeros(2, np.bool_)
            step: Any = self._game._native_step(_CPU)
            given, ended = torch.from_numpy(self._given), torch.from_numpy(self._ended)
            self._results = given, torch.empty_like(self._state.rewards), *ended.split(1)
            self._call = step.bound(self._state, torch.from_numpy(self._mask), given, self._results)
        self._given[:] = actions
        before = self._block.copy()
        over = self.terminated or self.truncated
        if not over:
            self._call()
        if over or self._ended[0] or self._ended[1]:  # a new game stands there: play the last step again
            self._block[:] = before
            after = self._game.step(self._state, torch.from_numpy(self._given), checked=False)
            for field, value in zip(self._state.tensors(), after.tensors(), strict=True):
                field.copy_(value)
        self._look()

    @override
    def legal_actions(self) -> np.ndarray:
        mask: np.ndarray = self._mask[0]
        return np.zeros_like(mask) if self.terminated or self.truncated else mask.copy()

    @override
    def observe(self, player: int) -> np.ndarray:
        if self._see is None:
            self._seat, space = np.zeros((1, 1), np.int64), self._game.info.observation
            self._space = space.shape, torch.empty(0, dtype=space.dtype, device=_CPU).numpy().dtype
            self._see = self._game._native_observer(self._state, torch.from_numpy(self._seat), space.dtype)
        if self._see is None:
            return super().observe(player)
        self._seat[0], seen = player, np.empty(*self._space)
        self._see(seen.ctypes.data)
        return seen

    @override
    def infos(self, player: int) -> dict[str, Any]:
        return {"score": self.scores[player]} if self._scores_alone else super().infos(player)

    @override
    def state(self) -> Any:
        return self._kind(*(torch.from_numpy(field.copy()) for field in self._fields))

    @override
    def copy(self) -> Self:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        twin._block, twin._mask = self._block.copy(), self._mask.copy()
        twin._share()
        return twin

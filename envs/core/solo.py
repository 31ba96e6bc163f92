"""One game outside a batch.

Interfaces that play a single game (PettingZoo, a person at a terminal) make one small step after the other, and
then the cost is the number of tensor operations, not their size. A game may therefore play a batch of one by native
code in arrays that it shares with NumPy (`SharedSolo`), or on plain integers; it must run the same rules. `BatchOfOne`
serves every game that does neither.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import torch
from torch import Tensor
from typing_extensions import override

from .state import State

if TYPE_CHECKING:
    from .game import Game


def one(value: Any, dtype: torch.dtype | None = None) -> Tensor:
    """Return a number, or lists of numbers, as a batch of one."""
    return torch.tensor([value], dtype=dtype, device="cpu")


class Solo(ABC):
    """A game in progress that is changed by its steps.

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
            raise ValueError(f"{game.id}: expected a state of one game, got {len(state)}")
        self._game = game
        self._seed = int(state.seed)
        self._read(state)

    def _read(self, state: State) -> None:
        """Take over the fields that every state has, but for the seed."""
        self.turn = int(state.turn)
        self.current_player = int(state.current_player)
        self.rewards: list[float] = state.rewards[0].tolist()
        self.scores: list[float] = state.scores[0].tolist()
        self.terminated, self.truncated = bool(state.terminated), bool(state.truncated)

    def _fields(self) -> dict[str, Tensor]:
        """Return the fields that every state has."""
        return {
            "seed": one(self._seed),
            "turn": one(self.turn, torch.int32),
            "current_player": one(self.current_player),
            "rewards": one(self.rewards, torch.float32),
            "scores": one(self.scores, torch.float32),
            "terminated": one(self.terminated),
            "truncated": one(self.truncated),
        }

    def copy(self) -> Self:
        """Return the same game, to be stepped apart: lists and arrays are copied, and what they hold is shared.

        A game whose steps change anything deeper in place overrides it.
        """
        other = copy(self)
        changing = {name: copy(value) for name, value in vars(self).items() if isinstance(value, list | np.ndarray)}
        vars(other).update(changing)
        return other

    @abstractmethod
    def step(self, actions: Any) -> None:
        """Play one step with legal actions: an integer, or an array [P], [K] or [P, K].

        A finished game stays as it is.
        """

    @abstractmethod
    def legal_actions(self) -> np.ndarray:
        """Return the mask as a fresh array, bool [A] or [P, A]."""

    @abstractmethod
    def observe(self, player: int) -> np.ndarray:
        """Return the player's observation as a fresh array, as `info.observation` says."""

    @abstractmethod
    def board(self) -> np.ndarray:
        """Return the position as a fresh array, as `info.board` says."""

    def infos(self, player: int) -> dict[str, Any]:
        """Return `Game.infos` as plain numbers and lists of them."""
        return {"score": self.scores[player]}

    @abstractmethod
    def state(self) -> State:
        """Return the same game as a batch of one."""


class SharedSolo(Solo):
    """A single game in arrays that NumPy and the native code of a step share."""

    _memory: dict[str, np.ndarray]  # fields of a batch of one, by name
    _bound: tuple[Any, ...]  # the arguments and the call of a step, for this memory

    def _share(self, state: State, names: Iterable[str]) -> None:
        """Copy fields of a state into memory of this game's own, and prepare its steps."""
        self._memory = {name: getattr(state, name).numpy(force=True).copy() for name in names}
        self._bind()

    @abstractmethod
    def _bind(self) -> None:
        """Prepare steps in `_memory`; without native code they go through torch."""

    def _torch(self) -> Iterator[Tensor]:
        """Yield tensors over `_memory`."""
        return map(torch.from_numpy, self._memory.values())

    def __getstate__(self) -> dict[str, Any]:
        """Return all fields but what `_bind` makes, which holds addresses of this process."""
        return {name: value for name, value in vars(self).items() if name != "_bound"}

    def __setstate__(self, fields: dict[str, Any]) -> None:
        vars(self).update(fields)
        self._memory = {name: field.copy() for name, field in self._memory.items()}
        self._bind()


class BatchOfOne(Solo):
    """A single game that steps a batch of one."""

    @override
    def _read(self, state: State) -> None:
        super()._read(state)
        self._state = state

    @override
    def step(self, actions: Any) -> None:
        batch = torch.tensor(np.asarray(actions), device=self._state.device)[None]
        self._read(self._game.step(self._state, batch, checked=False))

    @override
    def legal_actions(self) -> np.ndarray:
        return self._game.legal_actions(self._state)[0].numpy(force=True).copy()

    @override
    def observe(self, player: int) -> np.ndarray:
        return self._game.observe(self._state, player)[0].numpy(force=True).copy()

    @override
    def board(self) -> np.ndarray:
        return self._game.board(self._state)[0].numpy(force=True).copy()

    @override
    def infos(self, player: int) -> dict[str, Any]:
        return {name: value[0].tolist() for name, value in self._game.infos(self._state, player).items()}

    @override
    def state(self) -> State:
        return self._state

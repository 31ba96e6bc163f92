"""One game outside a batch.

Interfaces that play a single game (PettingZoo, a person at a terminal) make one small step after the other, and
then the cost is the number of tensor operations, not their size. A game may therefore play a batch of one on
plain integers; it must run the same rules (see `torus.solo`). `BatchOfOne` serves every game that does not.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch

from .game import Game
from .state import State

__all__ = ["BatchOfOne", "Solo"]


class Solo(Protocol):
    """A game in progress that is changed by its steps.

    current_player: who acts next.
    rewards:        [P], of the last step.
    scores:         [P].
    """

    current_player: int
    rewards: list[float]
    scores: list[float]
    terminated: bool
    truncated: bool

    def step(self, actions: Any) -> None:
        """One step with legal actions (an integer, or an array [P] or [P, K]); a finished game stays as it is."""

    def legal_actions(self) -> np.ndarray:
        """Bool [A] or [P, A]; a fresh array."""

    def observe(self, player: int) -> np.ndarray:
        """What the player may know, as `info.observation` says; a fresh array."""

    def board(self) -> np.ndarray:
        """As `info.board` says; a fresh array."""

    def infos(self, player: int) -> dict[str, Any]:
        """`Game.infos` as plain numbers, and lists of them."""

    def state(self) -> State:
        """The same game as a batch of one."""


class BatchOfOne:
    """A `Solo` that steps a batch of one."""

    def __init__(self, game: Game, state: State) -> None:
        if len(state) != 1:
            raise ValueError(f"{game.id}: expected a state of one game, got {len(state)}")
        self._game = game
        self._set(state)

    def _set(self, state: State) -> None:
        self._state = state
        self.current_player = int(state.current_player)
        self.rewards: list[float] = state.rewards[0].tolist()
        self.scores: list[float] = state.scores[0].tolist()
        self.terminated, self.truncated = bool(state.terminated), bool(state.truncated)

    def step(self, actions: Any) -> None:
        """See `Solo`."""
        batch = torch.tensor(np.asarray(actions), device=self._state.device)[None]
        self._set(self._game.step(self._state, batch, checked=False))

    def legal_actions(self) -> np.ndarray:
        """See `Solo`."""
        return self._game.legal_actions(self._state)[0].numpy(force=True).copy()

    def observe(self, player: int) -> np.ndarray:
        """See `Solo`."""
        return self._game.observe(self._state, player)[0].numpy(force=True).copy()

    def board(self) -> np.ndarray:
        """See `Solo`."""
        return self._game.board(self._state)[0].numpy(force=True).copy()

    def infos(self, player: int) -> dict[str, Any]:
        """See `Solo`."""
        return {name: value[0].tolist() for name, value in self._game.infos(self._state, player).items()}

    def state(self) -> State:
        """See `Solo`."""
        return self._state

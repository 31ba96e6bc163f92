"""Agents that are another agent in each game, such as `greedy`, whatever the game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any

import torch
from torch import Tensor

from cellgames.envs.core import Game

from .base import AnyAgent, BaseAgent

__all__ = ["ByGame"]


class ByGame(BaseAgent):
    """Plays as the agent that a table names for the game.

    Args:
        name: what tables and errors call it.
        table: `module:Class` by a game's id.
        make: makes an agent of such a class.
        default: makes the agent for all other games; None where there is none.
    """

    def __init__(
        self,
        name: str,
        table: Mapping[str, str],
        make: Callable[[Any], AnyAgent] = lambda kind: kind(),
        default: Callable[[], AnyAgent] | None = None,
    ) -> None:
        super().__init__(name)
        self._table, self._make, self._default = table, make, default
        self._game: Game | None = None
        self._agent: AnyAgent | None = None

    def playing(self, game: Game) -> AnyAgent:
        """The agent that plays the game; the same until another game is asked for.

        Raises:
            ValueError: there is none for this game.
        """
        if self._agent is None or game != self._game:
            if game.id in self._table:
                self._agent = self._make(resolve_name(self._table[game.id]))
            elif self._default is not None:
                self._agent = self._default()
            else:
                raise ValueError(
                    f"agent {self.name!r}: {game.id} has no such agent; games with one: {', '.join(self._table)}"
                )
            self._agent.name, self._game = self.name, game
        return self._agent

    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless there is an agent for the game, and it can play it."""
        check = getattr(self.playing(game), "check_game", None)
        if check is not None:
            check(game)

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """See `Agent`."""
        self.playing(game).start(game, players, env_ids)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """See `Agent`; where `playing` sees observations."""
        return self._started().act(observation, action_mask, env_ids, generator)  # type: ignore[no-any-return]

    def act_on_state(self, state: Any, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """See `StateAgent`; where `playing` gets positions."""
        return self._started().act_on_state(state, env_ids, generator)  # type: ignore[no-any-return]

    def _started(self) -> Any:
        if self._agent is None:
            raise ValueError(f"agent {self.name!r} must be started before it acts: call start(game, players, env_ids)")
        return self._agent

"""`greedy`: the agent that looks one move ahead by the game's own measure, whatever the game."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

import torch
from torch import Tensor

from cellgames.envs.core import Game

from .base import Agent, BaseAgent
from .registry import GREEDY

__all__ = ["GreedyAgent"]


class GreedyAgent(BaseAgent):
    """Becomes the agent that `registry.GREEDY` names for the game when games start.

    `start` and `check_game` raise a `ValueError` for a game that has none.
    """

    def __init__(self, name: str = "greedy") -> None:
        super().__init__(name)
        self._agent: Agent | None = None
        self._game: Game[Any] | None = None

    def check_game(self, game: Game[Any]) -> None:
        """Raise a `ValueError` unless the game has a greedy agent."""
        if game.id not in GREEDY:
            raise ValueError(f"agent {self.name!r}: {game.id} has no greedy agent; games with one: {', '.join(GREEDY)}")

    def start(self, game: Game[Any], players: Tensor, lanes: Tensor) -> None:
        """See `Agent`."""
        self.check_game(game)
        if self._agent is None or game != self._game:
            self._agent, self._game = resolve_name(GREEDY[game.id])(), game
        self._agent.start(game, players, lanes)

    def act(self, observation: Tensor, action_mask: Tensor, lanes: Tensor, generator: torch.Generator) -> Tensor:
        """See `Agent`."""
        if self._agent is None:
            raise ValueError(f"agent {self.name!r} must be started before it acts: call start(game, players, lanes)")
        return self._agent.act(observation, action_mask, lanes, generator)

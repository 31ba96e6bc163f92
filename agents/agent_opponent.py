"""Agents as opponents for the adapters of a single learner."""

from __future__ import annotations

import os
from typing import Any

import torch
from torch import Tensor

from cellgames.envs.core import Game
from cellgames.utils.files import PathLike

from .base import AnyAgent, takes_states
from .loading import load
from .selection import select


class AgentOpponent:
    """An opponent that plays as an agent: its actions are checked, and dice to come are hidden from it.

    Args:
        agent: its memory is kept by env, so two environments must not share it.
    """

    def __init__(self, agent: AnyAgent) -> None:
        self.agent, self.name = agent, agent.name

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """Start the agent; a `ValueError` if it cannot play the game."""
        takes_states(self.agent, game)
        self.agent.start(game, players, env_ids)

    def pick(self, game: Game, state: Any, env_ids: Tensor, players: Tensor, generator: torch.Generator) -> Tensor:
        """Return the agent's actions; a `ValueError` names an illegal one."""
        return select(self.agent, game, state, env_ids, generator, players)

    def __repr__(self) -> str:
        return f"AgentOpponent({self.name!r})"


def as_opponent(agent: AnyAgent | PathLike, game: Game | None = None) -> AgentOpponent:
    """Return an agent, or the one of a spec such as "greedy" (`load`), as an opponent in a game, if one is named.

    Raises:
        ValueError: as `load` says, or the agent cannot play the game.
    """
    found = load(agent, game) if isinstance(agent, str | os.PathLike) else agent
    if game is not None:
        takes_states(found, game)
    return AgentOpponent(found)

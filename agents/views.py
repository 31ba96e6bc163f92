"""Positions as one seat may know them, in text and numbers: for programs, language models and others without tensors.

Letters: `L` games that wait for an agent, `A` actions (mask width), `K` components of an action.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from cellgames.envs.core import Game, State

__all__ = ["View", "ViewAgent", "takes_views", "views_of"]


@dataclass(frozen=True, eq=False)
class View:
    """A game that waits for a seat, as that seat may know it.

    Attributes:
        game: the rules.
        player: the seat to act.
        turn: steps played.
        position: one line of text (`Game.view_to_string`).
        mask: bool [A], True is legal.
        state: the whole position, a batch of one; agents that are fair look at it in games with perfect information.
    """

    game: Game
    player: int
    turn: int
    position: str
    mask: Tensor
    state: State

    @cached_property
    def observation(self) -> Tensor:
        """The observation of the seat, shaped as `game.info.observation` says, without a batch."""
        return self.game.observe(self.state, self.player)[0]

    @cached_property
    def legal(self) -> list[list[int]]:
        """The legal choices of each component of an action, ascending."""
        parts = self.mask.split(list(self.game.info.action_nvec))
        return [part.nonzero().flatten().tolist() for part in parts]


@runtime_checkable
class ViewAgent(Protocol):
    """A player that gets positions as text."""

    name: str

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """Forget these games, as in `Agent.start`."""

    def act_on_views(self, views: Sequence[View], env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions.

        Args:
            views: `L` games that wait for this agent.
            env_ids: int64 [L], ascending; see `Agent.act` for simultaneous games.
            generator: consumed.

        Returns:
            int64 [L], or [L, K] if an action has K > 1 components.
        """


def takes_views(agent: object) -> bool:
    """Return True if the agent is asked by `act_on_views`, since it has neither `act` nor `act_on_state`."""
    return hasattr(agent, "act_on_views") and not (hasattr(agent, "act") or hasattr(agent, "act_on_state"))


def views_of(game: Game, state: State, players: Tensor, mask: Tensor) -> list[View]:
    """Return the views of games.

    Args:
        game: the rules.
        state: `L` games.
        players: int64 [L], the seats to act.
        mask: bool [L, A], of these seats.
    """
    turns = state.turn.tolist()
    found = []
    for row, player in enumerate(players.tolist()):
        one = state[row]
        found.append(View(game, player, turns[row], game.view_to_string(one, player), mask[row], one))
    return found

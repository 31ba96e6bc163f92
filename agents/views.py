"""Positions as one seat may know them, in text and numbers: for programs, language models and others without tensors.

Letters: `L` games that wait for an agent, `A` actions (mask width), `K` components of an action.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, overload, runtime_checkable

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.core import Game, State


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


class Views(Sequence[View]):
    """Views of `L` games that wait for seats, int64 [L], with masks bool [L, A]; each is made when it is asked for."""

    def __init__(self, game: Game, state: State, players: Tensor, mask: Tensor) -> None:
        self.game, self.state, self.players, self.mask = game, state, players, mask

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.players)

    @overload
    def __getitem__(self, row: int) -> View: ...

    @overload
    def __getitem__(self, row: slice) -> Views: ...

    @override
    def __getitem__(self, row: int | slice) -> View | Views:
        if isinstance(row, slice):
            return Views(self.game, self.state[row], self.players[row], self.mask[row])
        one, player = self.state[row], int(self.players[row])
        return View(self.game, player, int(one.turn), self.game.view_to_string(one, player), self.mask[row], one)

    @property
    def observations(self) -> Tensor:
        """The observations of the seats, [L, ...], shaped as `game.info.observation` says."""
        return self.game.observe(self.state, self.players)


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

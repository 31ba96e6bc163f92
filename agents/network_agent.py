"""An agent that asks a network."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cellgames.envs.core import Game

from .base import BaseAgent
from .networks import Network

__all__ = ["NetworkAgent"]


class NetworkAgent(BaseAgent):
    """Plays what a network says.

    Args:
        network: of the game, or of the same game with other parameters if its weights fit all (`Network.check_game`).
        sample: draw actions as likely as the network says; else always the likeliest.
        name: as in `Agent`.
    """

    def __init__(self, network: Network, *, sample: bool, name: str = "network") -> None:
        super().__init__(name)
        self.network, self.sample = network, sample

    def check_game(self, game: Game[Any]) -> None:
        """Raise a `ValueError` unless the network plays this game."""
        self.network.check_game(game)

    @torch.no_grad()
    def act(self, observation: Tensor, action_mask: Tensor, lanes: Tensor, generator: torch.Generator) -> Tensor:
        """See `Agent`."""
        self.network.eval()
        choices = self.network.judge(observation, action_mask).choices
        return choices.sample(generator) if self.sample else choices.mode()

"""An agent that asks a network."""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.agents.base import BaseAgent
from cellgames.envs.core import Game

from .networks import Network

__all__ = ["NetworkAgent"]


class NetworkAgent(BaseAgent):
    """Plays what a network says.

    Args:
        network: of the game.
        sample: draw actions as likely as the network says; else always the likeliest.
        name: as in `Agent`.
    """

    def __init__(self, network: Network, *, sample: bool, name: str = "network") -> None:
        super().__init__(name)
        self.network, self.sample = network, sample

    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless it is the network's."""
        if game != self.network.game:
            raise ValueError(
                f"agent {self.name!r} is a network for {self.network.game}, got {game}; `agents.load` makes one of the "
                "right size out of a file of weights, where these serve it"
            )

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        """See `Agent`; a `ValueError` if the network is of another game or size."""
        self.check_game(game)

    @torch.no_grad()
    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """See `Agent`; runs where the network is, and draws from a generator on any device."""
        self.network.eval()
        device = next(self.network.parameters()).device
        choices = self.network.policy_and_value(observation.to(device), action_mask.to(device)).choices
        return choices.sample(generator) if self.sample else choices.mode()

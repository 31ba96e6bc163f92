"""The network for Torus."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import override

from cellgames.agents.base import AnyAgent
from cellgames.agents.networks.blocks import Trunk, head, pooled
from cellgames.agents.networks.networks import Choices, Network, NetworkAgent, Relation, Size
from cellgames.envs.core import Game
from cellgames.envs.native.operators import table
from cellgames.envs.torus.geometry import sources, transformed


class TorusNetwork(Network):
    """A network of convolutions on the torus; octagons and squares are planes of their own.

    It always plays for Black's goals: White's positions are turned by a quarter, which makes a bracelet of a ring and
    an l-helix of an r-helix, and its answers are turned back. Knowledge learned in one colour serves in the other.
    The same weights serve every size. A shift of the board changes no answer, but a half turn does. An agent that takes
    the likeliest move averages both answers.
    """

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__(game, size)
        self.trunk = Trunk(4, size, wrap=True)
        self.policy = nn.Conv2d(size.channels, 2, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        self.value = head(2 * size.channels, 2 * size.channels, 1, 1.0)

    @override
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        batch, n = len(observation), observation.shape[-1]
        turns = _turns(n, observation.device)
        seat = 1 - observation[:, 4, 0, 0].long()
        stones = observation[:, :4].reshape(batch, 2, -1).gather(2, turns[seat][:, None].expand(-1, 2, -1))
        seen = self.trunk(stones.view(batch, 4, n, n).float())
        # A convolution of one cell is a product of matrices, which is several times as fast.
        cells = functional.linear(seen.permute(0, 2, 3, 1), self.policy.weight.flatten(1), self.policy.bias)
        logits = cells.permute(0, 3, 1, 2).flatten(1)
        return logits.gather(1, turns[2 + seat]), self.value(pooled(seen)).squeeze(1), None

    @override
    def agent(self, name: str, *, sample: bool) -> AnyAgent:
        return (NetworkAgent if sample else _AveragingAgent)(self, sample=sample, name=name)


class _AveragingAgent(NetworkAgent):
    """An agent by the mean of the logits of a position and of the same position after a half turn."""

    memoryless = True

    @override
    def policy(self, observation: Tensor, action_mask: Tensor) -> Choices:
        rows, size = len(observation), observation.shape[-1]
        half_turn = torch.full((rows,), 2 * size * size, device=observation.device)
        turned, _ = transformed(observation, action_mask[:, None], half_turn)
        logits, of_turned = self.network.forward(torch.cat((observation, turned)))[0].chunk(2)
        _, back = transformed(turned, of_turned[:, None], half_turn)  # the same turn again
        return Choices((logits + back.squeeze(1)) / 2, action_mask, self.network.nvec)


@table
def _turns(size: int, device: torch.device) -> Tensor:
    """Return int64 [4, 2 n^2]: the cell whose content stands at each cell of Black's view, of White's; the inverses."""
    views = sources(size, device)[[0, size * size + size - 1]]  # a quarter clockwise, and a column to the left
    return torch.cat((views, views.argsort(1)))

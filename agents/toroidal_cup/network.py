"""The network for the Toroidal Cup.

Letters: `L` rows, `C` channels, `s` the stride of the positions.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import override

from cellgames.agents.base import AnyAgent
from cellgames.agents.networks.blocks import Trunk, head, pooled
from cellgames.agents.networks.networks import Choices, Network, NetworkAgent, Relation, Size
from cellgames.envs.core import Game
from cellgames.envs.toroidal_cup.game import ToroidalCup

SHARPNESS = 12.0
"""The logits of `PlacementValues`, over the logit of the share of the lead that a placement is expected to give."""

_ORIENTATIONS = 8
_NEAR = 16  # columns from the edge of a band within which a network sees how far it is


class CupNetwork(Network[ToroidalCup]):
    """A network of convolutions on the torus of positions: a position is the s x s cells around it.

    Layers of their own read the shape to place, and their result is added at all positions. The output is a logit for
    each orientation at each position. Only positions in the player's own band count; an observation shows it first.
    Two planes tell where it is, and how far it is to its edges.
    """

    plays = ToroidalCup

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__(game, size)
        cup, stride, width = self.game, self.game.stride, size.channels
        self.teams = cup.teams
        self.rows, self.cols = cup.rows // stride, cup.cols // cup.teams // stride  # positions of a band
        self.most = max(1.0, game.info.observation.high)
        # Rows and columns beyond the last position are not seen by it, but by those beside it.
        self.patches = nn.Conv2d(cup.teams + 2, width, stride, stride)
        self.shape = nn.Conv2d(1, width, 2 * stride + 1, stride, stride)
        self.told = head(2 * width + 1, width, width, 1.0)
        self.trunk = Trunk(width, size, wrap=True)
        self.policy = nn.Conv2d(width, _ORIENTATIONS, 1)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        self.value = head(2 * width, 2 * width, 1, 1.0)
        col, band = torch.arange(cup.cols), cup.lattice.band
        inside = torch.minimum(col, band - 1 - col)  # columns to the nearer edge, less than 0 outside of the band
        outside = torch.minimum(col - band, cup.cols - 1 - col)
        far = torch.where(col < band, inside, -outside).clamp(-_NEAR, _NEAR).float() / _NEAR
        place = torch.stack(((col < band).float(), far))[None, :, None]
        self.place: Tensor
        self.register_buffer("place", place, persistent=False)

    @override
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        planes = observation.float()
        boards, shape, left = planes.split((self.teams, 1, 1), 1)
        boards = torch.cat((boards, self.place.expand(len(boards), -1, boards.shape[2], -1)), 1)
        band = shape[..., : planes.shape[3] // self.teams]
        numbers = torch.cat((pooled(functional.relu(self.shape(band))), left[:, :, 0, 0] / self.most), 1)
        seen = self.trunk(functional.relu(self.patches(boards)), self.told(numbers))
        own = self.policy(seen)[:, :, : self.rows, : self.cols]
        return own.permute(0, 2, 3, 1).flatten(1), self.value(pooled(seen)).squeeze(1), None


class PlacementValues(CupNetwork):
    """A network whose logits are values of placements: what share of the lead each is expected to give.

    `placement-values` trains it. The policy of its logits is nearly uniform where a game has many shapes, each of which
    matters little; its agent plays a sharper one.
    """

    kind: ClassVar[str] = "placements"

    @override
    def agent(self, name: str, *, sample: bool) -> AnyAgent:
        return PlacementAgent(self, sample=sample, name=name)


class PlacementAgent(NetworkAgent):
    """An agent that plays by `PlacementValues`: it draws from a policy as much sharper as a game has shapes."""

    memoryless = True

    @override
    def policy(self, observation: Tensor, action_mask: Tensor) -> Choices:
        logits = self.network.forward(observation)[0] * self.network.game.info.max_turns
        return Choices(logits, action_mask, self.network.nvec)

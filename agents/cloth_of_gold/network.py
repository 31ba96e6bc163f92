"""The networks for Cloth of Gold: one that places unit by unit, one that evaluates positions.

Letters: `L` rows, `H, W` world, `C` channels.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import override

from cellgames.agents.networks.blocks import Trunk, head, per_cell_bias, pooled
from cellgames.agents.networks.choices import Relation
from cellgames.agents.networks.networks import Network, Size
from cellgames.envs.cloth_of_gold import observation as seen
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.core import Game

_PATCH = 4  # rows and columns of cells that are one of the trunk's
_FINE = 8  # channels at the size of the world

PLANES = len(seen.BOARDS) + 1
"""The number of planes that the networks see: boards, and where the world is."""
NUMBERS = len(seen.NUMBERS) + 2
"""The number of numbers that `scaled` returns."""
LEAD = 0.02
"""The value of a unit in the numbers."""
_WILD = 0.125  # of the numbers of wild options: one of weather, a level up to 96, points and bolts


class ClothTrunk(nn.Module):
    """Layers from the world and the numbers to float [L, C, H/4, W/4] and, of all of it, [L, 3 C].

    Sixteen cells are one to the trunk, which makes it sixteen times as quick, and lets it look four times as far.
    """

    def __init__(self, size: Size, planes: int, numbers: int) -> None:
        super().__init__()
        width = size.channels
        self.numbers = per_cell_bias(numbers, width)
        self.patches = nn.Conv2d(planes, width, _PATCH, _PATCH)
        self.trunk = Trunk(width, size, wrap=False)

    def forward(self, planes: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Run on planes [L, p, H, W], and numbers [L, n]; see `padded` and `scaled`."""
        numbers = self.numbers(numbers)
        trunk = self.trunk(functional.relu(self.patches(planes)), numbers)
        return trunk, torch.cat((pooled(trunk), numbers), 1)


class ClothNetwork(Network[ClothOfGold]):
    """A network that places unit by unit: whether to end the turn, else where, each cell by what is around it.

    So the head is as small for a world of any size.
    """

    plays = ClothOfGold

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__(game, size)
        width = size.channels
        boards, numbers = added(self.game)
        planes, kinds = PLANES + boards, self.game.end_turn // self.game.cells  # of places: units, and bolts
        self.trunk = ClothTrunk(size, planes, NUMBERS + numbers)
        self.up = nn.Conv2d(width, _FINE * _PATCH**2, 1)
        self.fine = nn.Conv2d(planes, _FINE, 3, padding=1)
        self.mix = nn.Conv2d(2 * _FINE, 2 * _FINE, 3, padding=1)
        self.cell = nn.Conv2d(2 * _FINE, kinds, 1)
        nn.init.orthogonal_(self.cell.weight, 0.01)
        self.rest = head(3 * width, 2 * width, 2, 0.01)
        # About five units in a turn at first, however many cells there are.
        self.begin = nn.Parameter(torch.tensor(math.log(self.game.cells / 5)))

    @override
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        height, width = observation.shape[2:]
        boards, numbers = parted(self.game, observation)
        planes = padded(torch.cat((boards, torch.ones_like(boards[:, :1])), 1))
        trunk, summary = self.trunk(planes, scaled(numbers, boards[:, :2].sum((2, 3))))
        up = functional.pixel_shuffle(self.up(trunk), _PATCH)
        both = functional.relu(torch.cat((up, self.fine(planes)), 1))
        cells = self.cell(functional.relu(self.mix(both)))[..., :height, :width].flatten(1)
        end, value = self.rest(summary).unbind(1)
        return torch.cat((cells, end[:, None] + self.begin), 1), value, None


def added(game: ClothOfGold) -> tuple[int, int]:
    """Return the numbers of boards and of values that an extension of the game adds to an observation."""
    return len(game.boards) - len(seen.BOARDS), len(game.numbers) - len(seen.NUMBERS)


def parted(game: ClothOfGold, observation: Tensor) -> tuple[Tensor, Tensor]:
    """Return the boards of an observation, float [L, p, H, W], and its numbers, [L, q], those of wild options last."""
    k, end = len(seen.BOARDS), seen.PLANES
    more = end + added(game)[0]
    boards, numbers = [observation[:, :k], observation[:, end:more]], [observation[:, k:end], observation[:, more:]]
    return torch.cat(boards, 1).float(), torch.cat(numbers, 1)[:, :, 0, 0]


def padded(planes: Tensor) -> Tensor:
    """Return planes with empty cells beyond the edges, so that `_PATCH` divides rows and columns."""
    height, width = planes.shape[2:]
    return functional.pad(planes, (0, -width % _PATCH, 0, -height % _PATCH))


def scaled(numbers: Tensor, units: Tensor) -> Tensor:
    """Return units to place, the round, the lead, the seat and both sides' units: float [L, 6], none of them large.

    The numbers of wild options stand between the seat and the units.

    Args:
        numbers: [L, 4 + q], as in the observation.
        units: [L, 2], of both sides, one's own first.
    """
    scales = torch.full(numbers.shape[1:], _WILD, dtype=torch.float32, device=units.device)
    scales[:4] = torch.tensor([0.1, 0.1, LEAD, 1.0], device=units.device)
    return torch.cat((numbers.float() * scales, units * LEAD), 1)

"""Building blocks of the games' networks.

Letters: `L` rows (games that wait), `C` channels, `H, W` board.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from .convolutions import convolve

if TYPE_CHECKING:
    from .networks import Size


def initialized(layer: nn.Linear | nn.Conv2d, gain: float = math.sqrt(2)) -> Any:
    """Give a layer orthogonal weights, as is usual for policy gradients, and no bias; return it."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


class Trunk(nn.Module):
    """Convolutions of 3 x 3 with skips: float [L, planes, H, W] to [L, C, H, W].

    Args:
        planes: number of planes of the input.
        size: channels and layers.
        wrap: the board is a torus; else what lies beyond its edges counts as zero.
    """

    def __init__(self, planes: int, size: Size, *, wrap: bool) -> None:
        super().__init__()
        self.wrap = wrap
        padding = 0 if wrap else 1
        self.first = initialized(nn.Conv2d(planes, size.channels, 3, padding=padding))
        gain = math.sqrt(2 / size.layers)  # so that the sum over the layers stays as large as its parts
        self.layers = nn.ModuleList(
            initialized(nn.Conv2d(size.channels, size.channels, 3, padding=padding), gain) for _ in range(size.layers)
        )
        for convolution in (self.first, *self.layers):  # twice as fast on CPUs
            convolution.to(memory_format=torch.channels_last)

    def forward(self, planes: Tensor, added: Tensor | None = None) -> Tensor:
        """Run; `added` [L, C] is the same for all cells, such as what numbers say (see `per_cell_bias`)."""
        all_layers: list[Any] = [self.first, *self.layers]
        weights, biases = [layer.weight for layer in all_layers], [layer.bias for layer in all_layers]
        return convolve(planes, added, weights, biases, self.wrap)


def pooled(seen: Tensor) -> Tensor:
    """Return mean and maximum of every channel over the board: [L, C, H, W] to [L, 2 C]."""
    return torch.cat((seen.mean((2, 3)), seen.amax((2, 3))), 1)


def per_cell_bias(numbers: int, width: int) -> nn.Sequential:
    """Return layers from [L, numbers] to [L, width], with one hidden layer of the same width."""
    return nn.Sequential(initialized(nn.Linear(numbers, width)), nn.ReLU(), initialized(nn.Linear(width, width), 1.0))


def head(width: int, hidden: int, out: int, gain: float) -> nn.Sequential:
    """Return layers from [L, width] to [L, out], with one hidden layer."""
    return nn.Sequential(initialized(nn.Linear(width, hidden)), nn.ReLU(), initialized(nn.Linear(hidden, out), gain))

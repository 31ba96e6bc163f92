"""Networks that play: planes in, logits and a value out. Each game's network is in a module of its own.

Letters: `L` rows (games that wait), `C` channels, `H, W` board, `A` actions (mask width).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from cellgames.agents.loading import NETWORKS
from cellgames.envs.core import Game

from .choices import Choices, Relation

if TYPE_CHECKING:
    from cellgames.agents.base import AnyAgent

__all__ = ["FlatNetwork", "Network", "PolicyAndValue", "Size", "Trunk", "make_network", "pooled", "spread"]


@dataclass(frozen=True)
class Size:
    """How large a network is.

    Attributes:
        channels: of every layer.
        layers: convolutions after the first one.
    """

    channels: int = 32
    layers: int = 3

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1024:
                raise ValueError(f"a network's {field.name} must be a whole number from 1 to 1024, got {value!r}")


class PolicyAndValue(NamedTuple):
    """Policy and value of `L` positions.

    choices: what to do.
    value:   float [L], the expected sum of the rewards to come of the seat that sees them, over `Network.unit`.
    """

    choices: Choices
    value: Tensor


class Network(nn.Module, ABC):
    """Policy and value of one game, from what the seat to act sees.

    Args:
        game: its shapes are the network's.
        size: channels and layers.
    """

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__()
        self.game, self.size = game, size
        self.nvec = game.info.action_nvec

    kind: ClassVar[str] = "policy"
    """Which of a game's networks it is; a key of `NETWORKS`."""

    unit: ClassVar[float] = 1.0
    """The reward that a value of 1 stands for; trainers divide rewards by it."""

    def agent(self, name: str, *, sample: bool) -> AnyAgent:
        """Who plays by this network: by chance, as likely as it says, or always the likeliest action."""
        from .network_agent import NetworkAgent

        return NetworkAgent(self, sample=sample, name=name)

    def policy_and_value(self, observation: Tensor, action_mask: Tensor) -> PolicyAndValue:
        """Return `PolicyAndValue`: `forward`, with illegal actions masked.

        Args:
            observation: [L, ...], as `game.info.observation` says.
            action_mask: bool [L, A].
        """
        logits, value, relation = self.forward(observation)
        return PolicyAndValue(Choices(logits, action_mask, self.nvec, relation), value.float())

    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless the weights serve this game; networks whose weights fit other sizes say so."""
        if game != self.game:
            raise ValueError(f"expected {self.game} for this network, got {game}; it learned that game and no other")

    @abstractmethod
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        """Logits [L, A], value [L], and what earlier components of an action say about later ones."""


class FlatNetwork(Network):
    """For any game: all numbers of the observation in one row, fully connected layers."""

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__(game, size)
        info, width = game.info, 4 * size.channels
        self.scale = 1.0 / max(1.0, abs(info.observation.low), abs(info.observation.high))
        widths = [math.prod(info.observation.shape), *[width] * (size.layers + 1)]
        pairs = itertools.pairwise(widths)
        self.trunk = nn.Sequential(*(part for a, b in pairs for part in (_started(nn.Linear(a, b)), nn.ReLU())))
        self.policy = _started(nn.Linear(width, info.num_actions), 0.01)
        self.value = _started(nn.Linear(width, 1), 1.0)

    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        """See `Network`."""
        seen = self.trunk(observation.flatten(1).float() * self.scale)
        return self.policy(seen), self.value(seen).squeeze(1), None


class Trunk(nn.Module):
    """Convolutions of 3 x 3 with skips: float [L, planes, H, W] to [L, C, H, W].

    Args:
        planes: of the input.
        size: channels and layers.
        wrap: the board is a torus; else what lies beyond its edges counts as zero.
    """

    def __init__(self, planes: int, size: Size, *, wrap: bool) -> None:
        super().__init__()
        self.wrap = wrap
        padding = 0 if wrap else 1
        self.first = _started(nn.Conv2d(planes, size.channels, 3, padding=padding))
        gain = math.sqrt(2 / size.layers)  # so that the sum over the layers stays as large as its parts
        self.layers = nn.ModuleList(
            _started(nn.Conv2d(size.channels, size.channels, 3, padding=padding), gain) for _ in range(size.layers)
        )
        for convolution in (self.first, *self.layers):  # twice as fast on CPUs
            convolution.to(memory_format=torch.channels_last)

    def forward(self, planes: Tensor, added: Tensor | None = None) -> Tensor:
        """Run; `added` [L, C] is the same for all cells, such as what numbers say (see `spread`)."""
        seen = self.first(self._edged(planes.contiguous(memory_format=torch.channels_last)))
        seen = functional.relu(seen if added is None else seen + added[:, :, None, None])
        for layer in self.layers:
            seen = seen + functional.relu(layer(self._edged(seen)))
        return seen

    def _edged(self, planes: Tensor) -> Tensor:
        """With the rows and columns that lie around the board, if it is a torus."""
        if not self.wrap:
            return planes
        planes = torch.cat((planes[..., -1:, :], planes, planes[..., :1, :]), -2)
        return torch.cat((planes[..., -1:], planes, planes[..., :1]), -1)


def pooled(seen: Tensor) -> Tensor:
    """Mean and largest of every channel over the board: [L, C, H, W] to [L, 2 C]."""
    return torch.cat((seen.mean((2, 3)), seen.amax((2, 3))), 1)


def spread(numbers: int, width: int) -> nn.Sequential:
    """What turns [L, numbers] into [L, width]: one hidden layer of as many."""
    return nn.Sequential(_started(nn.Linear(numbers, width)), nn.ReLU(), _started(nn.Linear(width, width), 1.0))


def head(width: int, hidden: int, out: int, gain: float) -> nn.Sequential:
    """One hidden layer from [L, width] to [L, out]."""
    return nn.Sequential(_started(nn.Linear(width, hidden)), nn.ReLU(), _started(nn.Linear(hidden, out), gain))


def _started(layer: nn.Linear | nn.Conv2d, gain: float = math.sqrt(2)) -> Any:
    """Orthogonal weights, as is usual for policy gradients; no bias at first."""
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


def make_network(game: Game, size: Size | None = None, kind: str = "policy") -> Network:
    """A new network for the game, out of `NETWORKS`; its weights come from torch's global generator.

    Raises:
        ValueError: the game has none of this kind.
    """
    known = NETWORKS.get(kind, {})
    if game.id not in known and kind != FlatNetwork.kind:
        have = ", ".join(known) or "none"
        raise ValueError(f"expected a game with a network of kind {kind!r}, got {game.id}; games with one: {have}")
    make = resolve_name(known[game.id]) if game.id in known else FlatNetwork
    network: Network = make(game, size if size is not None else Size())
    return network

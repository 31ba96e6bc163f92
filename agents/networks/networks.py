"""Networks of policy and value, the two that serve every game, and the agent that plays by one.

Letters: `L` rows (games that wait), `C` channels, `H, W` board, `A` actions (mask width).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Generic, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import TypeVar, override

from cellgames.agents.base import AnyAgent, BaseAgent
from cellgames.envs.core import Game
from cellgames.envs.registry import plugin_of, plugins
from cellgames.plugins import resolve
from cellgames.utils.errors import InputError, check_whole, shown

from .agent_files import serves
from .blocks import Trunk, initialized, pooled
from .choices import Choices, Relation

_REDUCED = 4
"""Channels of the board that `BoardNetwork` reads as a whole."""

G_co = TypeVar("G_co", bound=Game, default=Game, covariant=True)


@dataclass(frozen=True)
class Size:
    """The size of a network.

    Attributes:
        channels: channels of every layer.
        layers: convolutions after the first one.
    """

    channels: int = 32
    layers: int = 3

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            check_whole(field.name, getattr(self, field.name), 1, 1024)


class PolicyAndValue(NamedTuple):
    """Policy and value of `L` positions.

    Attributes:
        choices: what to do.
        value: float [L], the expected sum of the rewards to come of the seat that sees them, over `Network.unit`.
    """

    choices: Choices
    value: Tensor


class Network(nn.Module, ABC, Generic[G_co]):
    """Policy and value of one game, from what the seat to act sees.

    Args:
        game: its shapes are the network's.
        size: channels and layers.
    """

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__()
        if not isinstance(game, self.plays):
            raise InputError("game", f"a game of {self.plays.id} for this network", game.id)
        self.game: G_co = game  # type: ignore[assignment]  # checked
        self.size, self.nvec = size, game.info.action_nvec

    plays: ClassVar[type[Game]] = Game  # type: ignore[type-abstract]  # for isinstance
    """The class of games that it is for."""

    kind: ClassVar[str] = "policy"
    """Which of a game's networks it is; a key of `GamePlugin.networks`."""

    unit: ClassVar[float] = 1.0
    """The reward that a value of 1 stands for; trainers divide rewards by it."""

    def agent(self, name: str, *, sample: bool) -> AnyAgent:
        """Return an agent that plays by this network: it samples actions, or always takes the likeliest one."""
        return NetworkAgent(self, sample=sample, name=name)

    def policy_and_value(self, observation: Tensor, action_mask: Tensor) -> PolicyAndValue:
        """Return choices among legal actions, bool [L, A], and values, for observations [L, ...]."""
        logits, value, relation = self.forward(observation)
        return PolicyAndValue(Choices(logits, action_mask, self.nvec, relation), value.float())

    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless the weights play this game, as `GamePlugin.transfer_parameters` says."""
        if game.id != self.game.id or not serves(plugin_of(game), self.game.parameters, game.parameters):
            raise InputError("game", f"{self.game} for this network", f"{game}", "it learned that game and no other")

    @abstractmethod
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        """Return logits [L, A], the value [L], and what earlier components of an action say about later ones."""


class FlatNetwork(Network):
    """A network for any game: all numbers of the observation in one row, fully connected layers."""

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__(game, size)
        info, width = game.info, 4 * size.channels
        self.scale = 1.0 / max(1.0, abs(info.observation.low), abs(info.observation.high))
        widths = [math.prod(info.observation.shape), *[width] * (size.layers + 1)]
        pairs = itertools.pairwise(widths)
        self.trunk = nn.Sequential(*(part for a, b in pairs for part in (initialized(nn.Linear(a, b)), nn.ReLU())))
        self.policy = initialized(nn.Linear(width, info.num_actions), 0.01)
        self.value = initialized(nn.Linear(width, 1), 1.0)

    @override
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        seen = self.trunk(observation.flatten(1).float() * self.scale)
        return self.policy(seen), self.value(seen).squeeze(1), None


class BoardNetwork(Network):
    """A network for any game whose observation is planes of a board, [C, H, W]: convolutions of 3 x 3.

    Cells beyond the edges count as zero, and a plane of ones shows where the edges are; if rows and columns go on
    (`Game.wraps`), the convolutions do, too. All actions are read off the whole board, because an action may stand
    for any place, such as a column. If the number of actions is that of cells, those are also read off their own cells,
    in the order of the board.
    """

    def __init__(self, game: Game, size: Size) -> None:
        super().__init__(game, size)
        info, width = game.info, 4 * size.channels
        planes, rows, cols = info.observation.shape
        self.scale = 1.0 / max(1.0, abs(info.observation.low), abs(info.observation.high))
        self.trunk = Trunk(planes if game.wraps else planes + 1, size, wrap=game.wraps)
        self.reduced = initialized(nn.Conv2d(size.channels, _REDUCED, 1))
        self.whole = initialized(nn.Linear(_REDUCED * rows * cols + 2 * size.channels, width))
        self.policy = initialized(nn.Linear(width, info.num_actions), 0.01)
        self.value = initialized(nn.Linear(width, 1), 1.0)
        a_cell = info.num_actions // (rows * cols)
        self.cells = initialized(nn.Conv2d(size.channels, a_cell, 1), 0.01) if a_cell else None

    @override
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        planes = observation.float() * self.scale
        if not self.trunk.wrap:
            planes = torch.cat((planes, torch.ones_like(planes[:, :1])), 1)
        seen = self.trunk(planes)
        summary = torch.cat((functional.relu(self.reduced(seen)).flatten(1), pooled(seen)), 1)
        whole = functional.relu(self.whole(summary))
        logits = self.policy(whole)
        if self.cells is not None:
            cells = self.cells(seen).flatten(1)
            logits = logits + functional.pad(cells, (0, logits.shape[1] - cells.shape[1]))
        return logits, self.value(whole).squeeze(1), None


class NetworkAgent(BaseAgent):
    """An agent that plays by a network, on the network's device.

    Args:
        network: a network of the game.
        sample: draw actions as likely as the network says; else always the likeliest.
        name: as in `Agent`.

    Attributes:
        share: actions are drawn of those that are at least this share as likely as the likeliest: 0 all, 1 that one.
    """

    memoryless = True

    def __init__(self, network: Network, *, sample: bool, name: str = "network") -> None:
        super().__init__(name)
        self.network, self.share = network, 0.0 if sample else 1.0

    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless it is the network's."""
        if game != self.network.game:
            cause = "`agents.load` makes one of the right size out of a file of weights, where these serve it"
            raise InputError("game", f"{self.network.game}, the network's", f"{game}", cause)

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.check_game(game)

    @torch.no_grad()
    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions as `Agent.act` does; the generator may be on any device."""
        self.network.eval()
        device = next(self.network.parameters()).device
        choices = self.choices(observation.to(device), action_mask.to(device))
        return choices.mode() if self.share == 1 else choices.sample(generator)

    def choices(self, observation: Tensor, action_mask: Tensor) -> Choices:
        """Return the distribution that actions are drawn from; the arguments are those of `policy`."""
        choices = self.policy(observation, action_mask)
        choices.share = self.share
        return choices

    def policy(self, observation: Tensor, action_mask: Tensor) -> Choices:
        """Return the policy before `share`; the arguments are those of `Network.policy_and_value`."""
        return self.network.policy_and_value(observation, action_mask).choices


def make_network(
    game: Game, size: Size | None = None, kind: str = "policy", *, device: torch.device | str = "cpu"
) -> Network:
    """Return a new network of the game's plugin, else `BoardNetwork` or `FlatNetwork` by the shape of the observation.

    Its weights are float32 and come from torch's global generator.

    Args:
        game: game that it is to play.
        size: None for the default.
        kind: name of one of the game's kinds of networks.
        device: device of the weights, whatever torch's default device is.

    Raises:
        ValueError: the game has none of this kind.
    """
    kinds = plugin_of(game).networks
    if kind not in kinds and kind != FlatNetwork.kind:
        having = ", ".join(plugin.id for plugin in plugins() if kind in plugin.networks) or "none"
        raise InputError("game", f"a game with a network of kind {shown(kind)}", game.id, f"games with one: {having}")
    general = BoardNetwork if len(game.info.observation.shape) == 3 else FlatNetwork
    make = resolve(kinds.get(kind, general))
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.device(device):
            network: Network = make(game, size if size is not None else Size())
    finally:
        torch.set_default_dtype(before)
    return network

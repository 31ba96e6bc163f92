"""Networks of policy and value, the two that serve every game, distributions over legal actions, and agents.

Letters: `L` rows (games that wait), `C` channels, `H, W` board, `A` actions (mask width, the sum over the action's
components), `K` components.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from typing_extensions import override

from cellgames.agents.base import AnyAgent, BaseAgent, G_co
from cellgames.envs.core import Game
from cellgames.envs.core.choosing import sample_actions
from cellgames.envs.registry import plugin_of, plugins
from cellgames.plugins import resolve
from cellgames.utils.errors import InputError, check_whole, shown

from .agent_files import serves
from .blocks import Trunk, initialized, pooled

Relation = Callable[[int, Tensor], Tensor | None]
"""Influence of earlier components on a later one: (k, int64 [L, k] chosen so far) -> logits to add, [L, nvec[k]].

There may be several choices for each row: int64 [L * C, k], those of the first row first.
"""


class Choices:
    """A distribution over the legal actions of `L` games; components are chosen one after the other.

    Args:
        logits: float [L, A], components one after the other.
        mask: bool [L, A]; illegal choices have probability zero. A component of which nothing is legal, as in
            finished games, counts as if all of it were.
        nvec: choices of each component.
        relation: see `Relation`; without one the components are independent.

    Attributes:
        share: choices less likely than this share of the likeliest one's probability have probability zero.
    """

    def __init__(self, logits: Tensor, mask: Tensor, nvec: Sequence[int], relation: Relation | None = None) -> None:
        self.share = 0.0
        self._all, self._mask, self._nvec = logits.float(), mask, list(nvec)
        self._parts: tuple[Tensor, ...] = self._all.split(self._nvec, 1)
        self._masks: tuple[Tensor, ...] = mask.split(self._nvec, 1)
        self._relation = relation

    def sample(self, generator: torch.Generator) -> Tensor:
        """Draw actions: int64 [L], or [L, K]; the generator is consumed."""
        return self._choose(lambda logits: logits + gumbel(logits, generator))

    def sample_with_log_prob(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw actions, int64 [L] or [L, K], and return their log-probabilities, too, float32 [L], without gradients.

        Of independent components it is many times as fast as `sample` and draws others (`envs.sample_actions`).
        """
        if self._relation is None:
            return sample_actions(self._all, self._mask, generator, nvec=self._nvec)
        actions = self.sample(generator)
        return actions, self.evaluate_actions(actions)[0]

    def mode(self) -> Tensor:
        """Return the likeliest choice of each component, given those before: int64 [L], or [L, K]."""
        return self._choose(lambda logits: logits)

    def evaluate_actions(self, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Return the log-probability of actions and the entropy of the policy, float [L] both.

        With a relation the entropy is that of each component given the choices before it, as they are in `actions`.
        """
        chosen = actions.view(len(actions), -1)
        log_prob, entropy = [], []
        for k in range(len(self._parts)):
            logs = self._logits(k, chosen[:, :k]).log_softmax(1)
            log_prob.append(logs.gather(1, chosen[:, k : k + 1]).squeeze(1))
            entropy.append(-(logs.exp() * logs).sum(1))
        return torch.stack(log_prob).sum(0), torch.stack(entropy).sum(0)

    def log_probs(self, actions: Tensor) -> Tensor:
        """Return the log-probabilities of several actions in each row: int64 [L, C, K] to float [L, C]."""
        rows, count, components = actions.shape
        found = torch.zeros((rows, count), dtype=torch.float32, device=actions.device)
        for k in range(components):
            chosen = actions[:, :, k]
            more = self._relation(k, actions[:, :, :k].flatten(0, 1)) if self._relation is not None else None
            if more is None:
                logs = self._parts[k].masked_fill(~self._masks[k], -1e9).log_softmax(1)
                found = found + logs.gather(1, chosen)
            else:
                logits = self._parts[k][:, None] + more.unflatten(0, (rows, count))
                logs = logits.masked_fill(~self._masks[k][:, None], -1e9).log_softmax(2)
                found = found + logs.gather(2, chosen[:, :, None]).squeeze(2)
        return found

    def probabilities(self) -> Tensor:
        """Return the probabilities of actions, float [L, A]; a `ValueError` if they have several components."""
        if len(self._parts) > 1:
            raise InputError("action", "one component", len(self._parts), "evaluate_actions() takes several")
        return self._logits(0, self._masks[0].new_empty((len(self._masks[0]), 0), dtype=torch.int64)).softmax(1)

    def _choose(self, wish: Callable[[Tensor], Tensor]) -> Tensor:
        chosen = self._parts[0].new_empty((len(self._parts[0]), 0), dtype=torch.int64)
        for k in range(len(self._parts)):
            chosen = torch.cat((chosen, wish(self._logits(k, chosen)).argmax(1, keepdim=True)), 1)
        return chosen.squeeze(1) if len(self._parts) == 1 else chosen

    def _logits(self, k: int, before: Tensor) -> Tensor:
        """Return the logits of component k, far below all others where a choice is not legal."""
        logits = self._parts[k]
        if self._relation is not None and (more := self._relation(k, before)) is not None:
            logits = logits + more
        # Finite, so that a probability of zero has an entropy of zero and no gradient; exp() of it is exactly 0.
        logits = logits.masked_fill(~self._masks[k], -1e9)
        if self.share > 0:
            logits = logits.masked_fill(logits < logits.amax(1, keepdim=True) + math.log(self.share), -1e9)
        return logits


def gumbel(like: Tensor, generator: torch.Generator) -> Tensor:
    """Return noise whose maximum with logits is a draw from their softmax."""
    uniform = torch.rand(like.shape, generator=generator, device=generator.device, dtype=torch.float32).to(like.device)
    return -(-uniform.clamp(min=1e-20).log()).clamp(min=1e-20).log()


_REDUCED = 4
"""Channels of the board that `BoardNetwork` reads as a whole."""


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

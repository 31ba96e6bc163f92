"""The learner that a run drives: an algorithm that learns a game, iteration by iteration."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from cellgames.agents.base import AnyAgent
from cellgames.agents.networks.networks import Network, Size, make_network
from cellgames.agents.networks.saved import load_network, save_network
from cellgames.envs.core import Game, chance
from cellgames.training.arguments import Arguments
from cellgames.utils.errors import InputError, shown

from .opponents import Pool
from .rollouts import SelfPlay

_NEW = 0.02  # of the weights that a new layer would start with alone


class Purpose(IntEnum):
    """A use of random numbers; each has a stream of its own (`derive`)."""

    NETWORK = 1
    """The first weights."""
    GAMES = 2
    """All games from one checkpoint to the next, and who plays them."""
    ORDER = 3
    """The order in which actions are learned from."""
    EVALUATION = 4
    """Games against evaluation opponents."""


def derive(seed: int, purpose: Purpose, number: int = 0) -> int:
    """Return a seed from 0 to 2^63 - 1; `number` counts within the purpose, such as iterations."""
    return int(chance.draw(torch.tensor(seed, device="cpu"), purpose, torch.tensor(number, device="cpu")))


@dataclass(frozen=True)
class Iteration:
    """The results of an iteration.

    Attributes:
        steps: actions that were learned from.
        games: games that ended.
        turns: turns of those games.
        metrics: by the names of `Learner.METRICS`; NaN where there is no value.
    """

    steps: int
    games: int
    turns: int
    metrics: Mapping[str, float]


class Learner(ABC):
    """An algorithm that learns a game. `runs.train` makes it, drives it and keeps what it learned.

    Its state is `state_dict` and the games in progress. At every checkpoint `restart` begins new games, also in a run
    that is not stopped there, so that a run that is killed and continued learns the same. Only the checkpoint of a run
    that is interrupted between two restarts has the games in progress (`games_state`). Other random state must be in
    one of the two or follow from the seed of `restart`. While a run lasts torch's global generator is its own:
    the run seeds it before `__init__` and restores it afterwards.

    Args:
        game: the rules.
        arguments: arguments of the run, of the algorithm's class.
        folder: folder of the run; snapshots go to its folder `pool`.
        device: device of games and network.
        network: what learns; None makes one, with weights from torch's global generator.
        kind: kind of the network that is made.

    Attributes:
        network: what learns.
        pool: snapshots; the run prunes it when it has written a checkpoint.
        play: where its games are played; None if the algorithm has a way of its own.
        optimizer: optimizer of the network.
        ends: contexts that end with the run, such as processes.
        generator: generator of the order in which actions are learned from.
        sample: True if the trained agent samples its actions.
    """

    optimizer: torch.optim.Optimizer
    play: SelfPlay | None = None
    sample: bool = False

    METRICS: ClassVar[Mapping[str, str]]
    """Name and explanation of each metric, for tables, TensorBoard and the docs."""

    def __init__(
        self,
        game: Game,
        arguments: Arguments,
        folder: Path,
        device: torch.device,
        *,
        network: Network | None = None,
        kind: str = "policy",
    ) -> None:
        self.game, self.arguments, self.device, self.ends = game, arguments, device, ExitStack()
        size = Size(arguments.channels, arguments.layers)
        self.network = make_network(game, size, kind) if network is None else network
        if arguments.start_from:
            start_weights(self.network, Path(arguments.start_from))
        self.network.to(device)
        self.pool = Pool(folder / "pool", arguments.sampling, arguments.pool_limit)
        self.generator = torch.Generator().manual_seed(derive(arguments.seed, Purpose.ORDER))

    @staticmethod
    def longest(game: Game) -> int:
        """Return the most steps that a game takes, as `num_steps` counts them."""
        return game.info.max_turns

    def restart(self, seed: int) -> None:
        """Start new games; all their randomness, and who plays them, follows from the seed."""
        assert self.play is not None
        self.play.restart(seed)

    def games_state(self) -> dict[str, Any] | None:
        """Return the games in progress, for a checkpoint between two restarts; None if they cannot be saved."""
        return self.play.games_state() if self.play is not None else None

    def load_games(self, state: Mapping[str, Any]) -> None:
        """Play on from `games_state`, after `load_state_dict` and in place of `restart`."""
        assert self.play is not None
        self.play.load_games(state)

    @abstractmethod
    def iterate(self, progress: float) -> Iteration:
        """Play and learn from it.

        Args:
            progress: progress of the run, from 0 to 1.
        """

    def snapshot(self, steps: int) -> None:
        """Add a copy of the network to the opponent pool."""
        self.pool.add(self.network, steps)

    def agent(self) -> AnyAgent:
        """Return the network as an agent, as it plays when it is saved."""
        return self.network.agent("learner", sample=self.sample)

    def save(self, path: Path, made: Mapping[str, Any]) -> None:
        """Write the file that `agents.load` reads; see `agents.networks.saved.save_network`."""
        save_network(path, self.network, sample=self.sample, made=made)

    def state_dict(self) -> dict[str, Any]:
        """Return all that a checkpoint keeps, as `torch.load` reads it with `weights_only=True`."""
        return {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "generator": self.generator.get_state(),
            "pool": self.pool.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the result of `state_dict`; `restart` follows.

        The pool comes last, because it deletes the snapshots that the state does not name.
        """
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.generator.set_state(state["generator"].cpu())
        self.pool.load_state_dict(state["pool"])


def start_weights(network: Network, path: Path) -> None:
    """Give the network the weights of a file; layers and channels that the file lacks start close to doing nothing.

    Layers may be added to a `Trunk`, and channels to all layers; a `ValueError` names other differences.
    """
    saved = load_network(path, network.game).network
    if saved.kind != network.kind:
        raise InputError(path, f"weights of a network of kind {network.kind!r}", shown(saved.kind))
    weights, own = saved.state_dict(), network.state_dict()
    further = own.keys() - weights.keys()
    grows = all(name.startswith("trunk.layers.") for name in further)  # of `Trunk`, whose layers add to what they get
    before, after = saved.size.channels, network.size.channels
    widened = {name: _widened(weights[name], own[name], before, after) for name in weights.keys() & own.keys()}
    if weights.keys() - own.keys() or not grows or None in widened.values():
        raise InputError(
            path,
            f"up to {after} channels and {network.size.layers} layers",
            f"{before} and {saved.size.layers}",
            f"ask for channels={before} and layers={saved.size.layers}",
        )
    network.load_state_dict({**{name: own[name] * _NEW for name in further}, **widened})


def _widened(old: Tensor, own: Tensor, before: int, after: int) -> Tensor | None:
    """Return weights of a network with more channels, or None if they have other shapes.

    A dimension that grows counts channels, once or several times. The weights from new channels to old ones are small.
    """
    places = []
    for few, many in zip(old.shape, own.shape, strict=True):
        if few != many and (after < before or few % before or many * before != few * after):
            return None
        place = torch.arange(few, device=old.device)
        places.append(place if few == many else place // before * after + place % before)
    if old.shape == own.shape:
        return old
    grown = own.clone()
    if old.ndim > 1:
        grown[places[0]] *= _NEW
    grown[torch.meshgrid(*places, indexing="ij")] = old
    return grown

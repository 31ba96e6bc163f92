"""What a run drives: something that learns a game, iteration by iteration."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, ClassVar

import torch

from cellgames.agents.base import AnyAgent
from cellgames.agents.networks.networks import Network
from cellgames.agents.networks.saved import load_network, save_network
from cellgames.envs.core import Game, chance
from cellgames.training.arguments import Arguments
from cellgames.training.distributed import ALONE, Group

from .opponent_pool import Pool

__all__ = ["Iteration", "Learner", "Purpose", "derive", "for_rank", "start_weights"]


class Purpose(IntEnum):
    """What chance is for; each has a stream of its own (`derive`)."""

    NETWORK = 1
    """The first weights."""
    GAMES = 2
    """All games from one checkpoint to the next, and who plays them."""
    ORDER = 3
    """In which actions are learned from."""
    EVALUATION = 4
    """Games against evaluation opponents."""
    RANK = 5
    """Games and order of each further process of several that learn together."""


def derive(seed: int, purpose: Purpose, number: int = 0) -> int:
    """A seed from 0 to 2^63 - 1; `number` counts within the purpose, such as iterations."""
    return int(chance.draw(torch.tensor(seed), purpose, torch.tensor(number)))


def for_rank(seed: int, rank: int) -> int:
    """The seed of one of several processes that learn together; of the first it is the seed itself."""
    return derive(seed, Purpose.RANK, rank) if rank else seed


@dataclass(frozen=True)
class Iteration:
    """What a learner did in one.

    steps:   actions that were learned from.
    games:   that ended.
    turns:   of those games.
    metrics: by the names of `Learner.METRICS`; NaN where there is nothing to tell.
    """

    steps: int
    games: int
    turns: int
    metrics: Mapping[str, float]


class Learner(ABC):
    """An algorithm at work on one game; `runs.train` makes it, drives it and keeps what it learned.

    Its state is what `state_dict` tells, and games in progress. Those are not saved: at every checkpoint `restart`
    begins new ones, in the run that goes on as in the one that is continued, so that both learn the same. What else
    is random must be in the state or follow from the seed of `restart`. torch's global generator is the run's own
    while it lasts: seeded before `__init__`, and put back afterwards.

    Args:
        game: the rules.
        arguments: of the run, of the algorithm's class.
        folder: of the run; snapshots go to its folder `pool`, but for those of further processes after `join`.
        device: of games and network.

    Attributes:
        network: what learns.
        sample: whether it is to play by chance.
        pool: snapshots; the run prunes it when it has written a checkpoint.
        group: the processes that learn as one; this one alone until `join`.
        on_warning: gets the lines of `warn`; the run sets it.
    """

    network: Network
    pool: Pool
    sample: bool = False
    group: Group = ALONE
    on_warning: Callable[[str], None] = staticmethod(warnings.warn)

    METRICS: ClassVar[Mapping[str, str]]
    """Name and explanation of each metric, for tables, TensorBoard and the docs."""

    OWN: ClassVar[tuple[str, ...]] = ()
    """Entries of `state_dict` that each of several processes has of its own."""

    @abstractmethod
    def __init__(self, game: Game, arguments: Arguments, folder: Path, device: torch.device) -> None:
        """Make the network; new weights come from torch's global generator."""

    @staticmethod
    def longest(game: Game) -> int:
        """The most steps that a game takes, as `num_steps` counts them."""
        return game.info.max_turns

    @classmethod
    def share(cls, arguments: Arguments, world: int) -> Arguments:
        """Return the arguments of each of several processes that learn together; see `distributed`.

        Raises:
            ValueError: the algorithm learns in one process, or the arguments cannot be shared.
        """
        raise ValueError(f"{arguments.algorithm} learns in one process, not in {world}; start it without torchrun")

    def join(self, group: Group) -> None:
        """Learn as one with other processes, from before the first `restart` on; nothing is said to them yet."""
        self.group = group
        self.pool.hold()
        if not group.first:
            self.pool.keep_in_memory()

    def start(self) -> None:  # noqa: B027  # most need nothing
        """Begin what playing needs, such as other processes; once, when all that is cheap to refuse was not."""

    @abstractmethod
    def restart(self, seed: int) -> None:
        """Begin new games; all chance of them, and of who plays them, follows from the seed."""

    @abstractmethod
    def iterate(self, progress: float) -> Iteration:
        """Play, and learn from it; `progress` of the run is from 0 to 1. A process of several tells of its part."""

    def snapshot(self, steps: int) -> None:
        """Add the learner as it is to the opponent pool."""
        self.pool.add(self.network, steps)

    def agent(self) -> AnyAgent:
        """The learner as it is, as it plays when it is saved."""
        return self.network.agent("learner", sample=self.sample)

    def save(self, path: Path, made: Mapping[str, Any]) -> None:
        """Write what `agents.load` reads; see `agents.saved.save_network`."""
        save_network(path, self.network, sample=self.sample, made=made)

    def warn(self, message: str) -> None:
        """Tell of what goes wrong on the way without ending the run."""
        self.on_warning(message)

    def close(self) -> None:  # noqa: B027  # most have started nothing
        """End what was started, such as processes; nothing is asked of it afterwards."""

    @abstractmethod
    def state_dict(self) -> dict[str, Any]:
        """All that a checkpoint keeps: what `torch.load` reads with `weights_only=True`."""

    @abstractmethod
    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse; `restart` follows."""


def start_weights(network: Network, path: Path) -> None:
    """Give the network the weights of a file.

    Raises:
        ValueError: they are for another game, or for a network of another size.
    """
    saved = load_network(path, network.game).network
    if saved.kind != network.kind:
        raise ValueError(f"{path}: expected weights of a network of kind {network.kind!r}, got {saved.kind!r}")
    if saved.size != network.size:
        raise ValueError(
            f"{path}: expected weights for {network.size.channels} channels and {network.size.layers} layers, got "
            f"{saved.size.channels} and {saved.size.layers}; ask for channels={saved.size.channels} and "
            f"layers={saved.size.layers}"
        )
    network.load_state_dict(saved.state_dict())

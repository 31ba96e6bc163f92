"""Games of a batch beside those of a slow reference, move by move."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

import torch

from cellgames.envs.core import Game, State


class Reference(Protocol):
    """A single game that is played by numbers of actions."""

    @property
    def done(self) -> bool:
        """Return True if it is over."""

    def step(self, action: int) -> Any:
        """Play an action."""


R = TypeVar("R", bound=Reference)
S = TypeVar("S", bound=State)

Beside: TypeAlias = Iterator[tuple[S, Sequence[R], list[int]]]
"""States, the games of the reference, and the actions that come next."""


def played_beside(
    game: Game[S], state: S, references: Sequence[R], choose: Callable[[R, random.Random], int], seed: int
) -> Beside[S, R]:
    """Play all games to their ends; yield the states, the reference's games, and the actions that come next.

    Args:
        game: the rules.
        state: new games, one for each reference.
        references: the same games; changed.
        choose: chooses an action of a game that is not over, by a generator of its own.
        seed: of these generators.
    """
    rngs = [random.Random(f"{seed}, {env_id}") for env_id in range(len(references))]
    while not all(one.done for one in references):
        actions = [0 if one.done else choose(one, rng) for one, rng in zip(references, rngs, strict=True)]
        yield state, references, actions
        state = game.step(state, torch.tensor(actions))
        for one, action in zip(references, actions, strict=True):
            one.step(action)
    yield state, references, [0] * len(references)

"""Games of a batch beside those of a slow reference, move by move."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

import torch
from cloth_of_gold_reference import ReferenceGame

from cellgames.envs.core import Game, State

R = TypeVar("R", bound=ReferenceGame)
S = TypeVar("S", bound=State)

Beside: TypeAlias = Iterator[tuple[S, Sequence[R], list[int]]]
"""States, the games of the reference, and the actions that come next."""


def played_beside(
    game: Game[S], state: S, references: Sequence[R], choose: Callable[[R, random.Random], int], seed: int
) -> Beside[S, R]:
    """Play all games to their ends, by actions that `choose` draws for each that is not over."""
    rngs = [random.Random(f"{seed}, {env_id}") for env_id in range(len(references))]
    while not all(one.done for one in references):
        actions = [0 if one.done else choose(one, rng) for one, rng in zip(references, rngs, strict=True)]
        yield state, references, actions
        state = game.step(state, torch.tensor(actions))
        for one, action in zip(references, actions, strict=True):
            one.step(action)
    yield state, references, [0] * len(references)

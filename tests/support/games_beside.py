"""Games of Cloth of Gold, wild or not, beside those of the slow references, move by move."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

import numpy as np
import pytest
import torch
from cloth_of_gold_reference import ReferenceGame

from cellgames.envs.cloth_of_gold import ClothOfGold, ClothState

R = TypeVar("R", bound=ReferenceGame)

Beside: TypeAlias = Iterator[tuple[ClothState, Sequence[R], list[int]]]
"""States, the games of the reference, and the actions that come next."""


def played_beside(
    game: ClothOfGold, state: ClothState, references: Sequence[R], choose: Callable[[R, random.Random], int], seed: int
) -> Beside[R]:
    """Play all games to their ends, by actions that `choose` draws for each that is not over."""
    rngs = [random.Random(f"{seed}, {env_id}") for env_id in range(len(references))]
    while not all(one.done for one in references):
        actions = [0 if one.done else choose(one, rng) for one, rng in zip(references, rngs, strict=True)]
        yield state, references, actions
        state = game.step(state, torch.tensor(actions))
        for one, action in zip(references, actions, strict=True):
            one.step(action)
    yield state, references, [0] * len(references)


def agree(game: ClothOfGold, state: ClothState, references: Sequence[ReferenceGame], looking: bool = True) -> None:
    """Check that the batch says what the references say; if `looking`, also what players see, which takes long."""
    legal, outcome, board = game.legal_actions(state), game.outcome(state), game.board(state)
    assert (legal.dtype, board.dtype, outcome.dtype) == (torch.bool, torch.int8, torch.int8)
    for env_id, one in enumerate(references):
        assert board[env_id].tolist() == one.board
        assert set(legal[env_id].nonzero().flatten().tolist()) == one.legal()
        assert state.live[env_id].tolist() == one.live()
        assert state.scores[env_id].tolist() == one.scores
        assert state.rewards[env_id].tolist() == pytest.approx(one.rewards, abs=1e-6)
        assert (int(state.round[env_id]), int(state.turn[env_id])) == (one.round, one.turn)
        assert state.rounds[env_id].tolist() == [*one.history, *[[0] * 6] * (one.max_rounds + 1 - len(one.history))]
        assert (bool(state.terminated[env_id]), bool(state.truncated[env_id])) == (one.terminated, one.truncated)
        assert outcome[env_id].tolist() == one.outcome
        if not one.done:
            now = state.current_player, state.left, state.acts
            assert [int(field[env_id]) for field in now] == [one.player, one.left, one.acts]
    for player in (0, 1) if looking else ():
        infos, view = game.infos(state, player), game.observe(state, player).numpy()
        territories = game.territories(state)[:, player].numpy()
        assert view.shape[1:] == game.info.observation.shape
        for env_id, one in enumerate(references):
            assert np.array_equal(territories[env_id], one.territory(player))
            assert {name: value[env_id].tolist() for name, value in infos.items()} == one.infos(player)
            assert one.done or np.array_equal(view[env_id], one.observe(player))

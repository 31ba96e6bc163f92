"""The plain form of Grid Adaptation that the benchmark compares with plays the same rounds as the game."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from benchmarks.core.grid_plain import PlainGrid
from grid_adaptation_table import make

from cellgames.envs.core import seeds
from cellgames.envs.grid_adaptation.ending import earned_garnets

NUM_ENVS = 40


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"size": 5, "players": 3, "starting_garnets": 14, "reserves": 1},
        {"size": 6, "first_tiles": 1, "rounds": 5, "flip_rounds": (1, 2, 5), "reserves": 0},
        {"size": 9, "players": 2, "first_tiles": 2, "starting_garnets": 0},
    ],
    ids=str,
)
def test_the_plain_form_plays_the_rounds_of_the_game(parameters: dict[str, Any]) -> None:
    game = make(**parameters)
    plain = PlainGrid(game, NUM_ENVS, torch.Generator().manual_seed(3))
    state = game.init(seeds(0, NUM_ENVS)).replace(sequence=plain.sequence.clone())
    no_vote = torch.full((NUM_ENVS, game.players, 1), game.players)
    for number in range(1, game.rounds + 1):
        assert plain.round.tolist() == [number] * NUM_ENVS
        assert torch.equal(plain.free(), game.legal_actions(state)[:, 0, : game.spaces])
        actions = plain.random_actions()
        state = game.step(state, torch.cat((actions, no_vote), 2))  # which refuses what is illegal
        torch.testing.assert_close(plain.step(actions), state.rewards)
        board = torch.where(plain.board > 0, plain.board.int() - 8, -1)
        assert torch.equal(board[:, :-1].view(NUM_ENVS, game.size, game.size), game.board(state).int())
        assert board[:, -1].tolist() == [-1] * NUM_ENVS
        earned = earned_garnets(state.scores) if number == game.rounds else 0
        assert torch.equal(plain.garnets + earned, state.garnets)
        for name in ("sequence", "reserves", "bought"):
            assert torch.equal(getattr(plain, name), getattr(state, name)), name
        assert torch.equal(plain.scores, state.scores.long())
    assert plain.scores.sum() > 0
    assert (plain.bought > 0).any() or not game.starting_garnets


def test_matches_of_the_plain_form_start_over_after_their_last_round() -> None:
    game = make(rounds=3)
    plain = PlainGrid(game, NUM_ENVS, torch.Generator().manual_seed(0))
    plain.round[: NUM_ENVS // 2] = 2
    rounds = []
    for _ in range(4):
        plain.play()
        rounds.append((int(plain.round[0]), int(plain.round[-1])))
        for env_id in (0, -1):
            new = plain.round[env_id] == 1
            assert (not plain.board[env_id].any() and plain.reserves[env_id].tolist() == [game.reserves] * 8) or not new
            assert not new or not plain.scores[env_id].any()
        assert plain.sequence.sort(1).values.tolist() == [list(range(8))] * NUM_ENVS
    assert rounds == [(3, 2), (1, 3), (2, 1), (3, 2)]


def test_random_actions_of_the_plain_form_name_every_free_space_as_often() -> None:
    game = make(size=5, players=2)
    plain = PlainGrid(game, 3000, torch.Generator().manual_seed(1))
    plain.board[:, :25] = 8
    plain.board[:, [3, 17, 24]] = 0
    plain.garnets[:] = 0
    plain.reserves[:, 1] = 0
    shares = torch.nn.functional.one_hot(plain.random_actions()[..., :4], 26).float().mean(0)  # [P, 4, N + 1]
    for player in (0, 1):
        for slot in range(3):
            assert shares[player, slot, [3, 17, 24]].sub(1 / 3).abs().max() < 0.04  # sd 0.0086
    assert shares[0, 3, [3, 17, 24, 25]].sub(1 / 4).abs().max() < 0.04
    assert shares[1, 3, 25] == 1

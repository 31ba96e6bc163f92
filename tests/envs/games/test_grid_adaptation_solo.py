"""Single matches of Grid Adaptation on integers: the same as in a batch, field by field, after every step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from grid_adaptation_reference import drawn
from grid_adaptation_table import make, position
from pettingzoo_play import same
from torch import Tensor

from cellgames.envs.core import Game, Solo, seeds
from cellgames.envs.core.sampling import random_bits
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import GridState

FAMILIES: dict[str, dict[str, Any]] = {
    "default": {},
    "two-players": {"players": 2, "size": 5, "first_tiles": 2, "flip_rounds": ()},
    "three-players": {"players": 3, "size": 9, "reserves": 0, "reward_scheme": "outcome", "flip_rounds": (1, 8, 9)},
    "four-players": {"players": 4, "size": 5, "starting_garnets": 0, "reserves": 0, "rounds": 20},
    "five-players": {"players": 5, "size": 9, "starting_garnets": 1000, "rounds": 12, "reward_scheme": "outcome"},
    "six-players": {"players": 6, "size": 15, "first_tiles": 1, "starting_garnets": 60, "garnet_value": 0.3},
    "seven-players": {"players": 7, "size": 5, "reserves": 20, "reward_scheme": "outcome", "garnet_value": 1 / 3},
    "largest": {"size": 31, "starting_garnets": 14, "reward_scheme": "public"},
    "short": {"players": 3, "size": 5, "rounds": 1, "first_tiles": 1, "flip_rounds": (1,)},
    "short-outcome": {"players": 4, "size": 5, "rounds": 2, "reward_scheme": "outcome", "starting_garnets": 6},
}
every_family = pytest.mark.parametrize("family", FAMILIES)


def agree(game: GridAdaptation, solos: Sequence[Solo], state: GridState) -> None:
    """Everything that single matches say is what the batch says of its envs."""
    legal, board, players = game.legal_actions(state), game.board(state), range(game.players)
    seen = [game.observe(state, player) for player in players]
    infos = [{name: value.tolist() for name, value in game.infos(state, player).items()} for player in players]
    for env_id, solo in enumerate(solos):
        assert solo.state().equal(state[env_id])
        assert (solo.rewards, solo.scores) == (state.rewards[env_id].tolist(), state.scores[env_id].tolist())
        assert (solo.terminated, solo.truncated) == (bool(state.terminated[env_id]), bool(state.truncated[env_id]))
        assert solo.current_player == 0
        assert same(solo.legal_actions(), legal[env_id].numpy())
        assert same(solo.board(), board[env_id].numpy())
        for player in players:
            assert same(solo.observe(player), seen[player][env_id].numpy())
            told = solo.infos(player)
            assert list(told) == list(infos[player])
            assert told == {name: value[env_id] for name, value in infos[player].items()}


def random_actions(game: GridAdaptation, state: GridState, generator: torch.Generator) -> Tensor:
    """Drawn from the masks, whatever the game's own way is."""
    shape = (len(state), *game.info.action_shape)
    bits = random_bits(state.sequence.numel() * 7, generator, state.device).view(shape)
    actions = Game._random_actions(game, state, bits)
    return torch.where(state.done[:, None, None], 0, actions)


def play_to_the_end(game: GridAdaptation, state: GridState, seed: int = 0) -> GridState:
    """Random matches in a batch and alone, which must agree; where they have come to."""
    generator, env_ids = torch.Generator().manual_seed(seed), range(len(state))
    solos: list[Solo] = [game.solo(state[env_id]) for env_id in env_ids]
    agree(game, solos, state)
    while not state.done.all():
        actions = random_actions(game, state, generator)
        state = game.step(state, actions)
        for solo, chosen in zip(solos, actions.numpy(), strict=True):
            solo.step(chosen)  # also where the match is over
        agree(game, solos, state)
        again = [game.solo(state[env_id]) for env_id in env_ids]
        agree(game, again, state)
        solos[0] = again[0]  # a match goes on from any position
    return state


@every_family
def test_random_matches_alone_are_those_of_the_batch(family: str) -> None:
    game = make(**FAMILIES[family])
    short = family.startswith("short")
    state = play_to_the_end(game, game.init(seeds(3, 60 if short else 8)))
    voted = state.round > game.rounds
    assert not short or (voted.any() and not voted.all())
    if game.reward_scheme == "outcome":
        assert (state.garnets != game.starting_garnets).any()


@pytest.mark.parametrize("scheme", ["score", "outcome"])
@pytest.mark.parametrize(
    "points",
    [
        [210, 9, 9],
        [300, 300, 7, 7, 7],
        [9, 9, 9],
        [1, 1],
        [0, 500, 500, 500, 500, 0, 0],
        [5, 4],
        [8] * 8,
        [40_000, 40_000, 199, 200],
    ],
    ids=str,
)
def test_the_end_and_the_vote_are_those_of_the_batch(points: list[int], scheme: str) -> None:
    """From the last round, in which all name one space and nobody scores; votes are random."""
    game = make(players=len(points), size=5, reward_scheme=scheme)
    garnets = list(range(len(points)))
    states = [position(game, seed=seed, scores=points, round=game.rounds, garnets=garnets) for seed in range(8)]
    state = GridState.cat(states)
    actions = torch.full((8, *game.info.action_shape), game.spaces)
    actions[:, :, 0] = 7
    actions[:, :, 4:] = torch.tensor((0, 0, game.players))
    solos: list[Solo] = [game.solo(state[env_id]) for env_id in range(8)]
    for solo, chosen in zip(solos, actions, strict=True):
        solo.step(chosen)
    state = game.step(state, actions)
    agree(game, solos, state)
    assert state.scores.tolist() == [points] * 8
    lots = state.candidate.unique()
    after = play_to_the_end(game, state)
    assert state.done.all() or after.turn.tolist() == [2] * 8
    if points == [8] * 8:
        assert len(lots) > 1


def test_a_full_board_is_that_of_the_batch() -> None:
    """With no space left "none" is a tile's only choice."""
    for seed, size in enumerate((5, 9, 31)):
        game = make(size=size, starting_garnets=9, rounds=3)
        boards = torch.randint(8, (3, size, size), generator=torch.Generator().manual_seed(seed))
        boards[1, 2, 1:3] = -1
        boards[2, 0, 0] = -1
        state = GridState.cat([position(game, board, seed=seed) for board in boards.tolist()])
        mask = game.legal_actions(state)[:, 0, : game.spaces + 1]
        assert mask.sum(1).tolist() == [1, 2, 1]
        assert mask[:, -1].tolist() == [True, False, False]
        play_to_the_end(game, state, seed)


def test_numbers_too_large_for_an_observation_are_cut_off_as_in_the_batch() -> None:
    game = make(size=5, players=2, rounds=100)
    state = position(game, scores=[40_000, 32_767], bought=[15, 0], garnets=[70_000, 1], reserves=[33_000, 0])
    assert int(game.observe(state, 0).max()) == 32_767
    agree(game, [game.solo(state)], state)


@pytest.mark.parametrize("round", [1, 2, 4])
def test_what_interfaces_play_for_illegal_choices_is_as_in_the_batch(round: int) -> None:
    """ "None" for tiles that must be placed, and in the vote."""
    game = make(size=6, players=3, rounds=4)
    state = position(game, drawn("......\n.12...\n..3...\n......\n......\n......"), round=round)
    solo, none = game.solo(state), torch.tensor([[[36, 36, 36, 36, 0, 0, 3]] * 3])
    while not state.done.all():
        state = game.step(state, none, checked=False)
        solo.step(none[0])
        agree(game, [solo], state)


def test_a_finished_match_stays_as_it_is() -> None:
    game = make(size=5, players=3, rounds=1, reward_scheme="outcome")
    state = play_to_the_end(game, game.init(seeds(0, 5)))
    for env_id in range(5):
        solo = game.solo(state[env_id])
        for _ in range(2):
            solo.step(np.zeros((3, 7), np.int64))
            assert solo.rewards == [0.0] * 3
            assert solo.state().equal(state[env_id].replace(rewards=torch.zeros(1, 3)))
            assert not solo.legal_actions().any()


def test_what_a_match_gives_away_is_not_its_own() -> None:
    game = make(size=5, players=3, rounds=2)
    state = play_to_the_end(game, game.init(seeds(1, 1)))
    for match in (game.init(seeds(1, 1)), state):
        solo = game.solo(match)
        for _ in range(2):
            agree(game, [solo], match)
            for player in range(3):
                solo.observe(player)[:] = 77
                for value in solo.infos(player).values():
                    if isinstance(value, list):
                        assert 99 not in value  # as it would be, were it the list before
                        value[:] = [99] * len(value)
            solo.legal_actions()[:] = True
            solo.board()[:] = 5
            for field in solo.state().tensors():
                field.fill_(1)

"""Single matches of Grid Adaptation in native code: the same as in a batch, field by field, after every step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from grid_adaptation_table import make
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

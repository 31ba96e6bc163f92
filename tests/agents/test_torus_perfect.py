"""`perfect` on boards of size 4 and 5, which the native search solves."""

from __future__ import annotations

import pytest
import torch
from native_code import native_library

import cellgames
from cellgames.agents import load, random_openings
from cellgames.agents.play_loop import play
from cellgames.agents.selection import select
from cellgames.agents.torus.perfect import TorusPerfect
from cellgames.agents.torus.proof_search import ProofSearch
from cellgames.envs.core import seeds
from cellgames.envs.native import without_native
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.state import TorusState


@pytest.fixture(autouse=True)
def _native() -> None:
    native_library()


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("size", "plies", "games"), [(4, 1, 6), (4, 4, 20), (5, 14, 20)])
def test_it_wins_every_won_position_against_itself_and_random(size: int, plies: int, games: int) -> None:
    game = Torus(size)
    opening = random_openings(game, games, plies, generator(plies))
    state = game.init(seeds(0, games))
    for action in opening.t():
        state = game.step(state, action)
    values = ProofSearch(size, memory=1 << 24).solve(state)
    winner = torch.where(values == 1, state.current_player, 1 - state.current_player)
    assert winner.unique().tolist() == [0, 1], "both sides should have something to win"
    players = [load("perfect", game), load("random", game)]
    seats = torch.stack((winner, 1 - winner), 1)  # `perfect` sits where it should win
    for seat in (seats, torch.zeros_like(seats)):
        played = play(game, players, seat, seeds(0, games), [generator(1), generator(2)], opening=opening)
        assert torch.equal(played.state.scores.argmax(1), winner)


@pytest.mark.slow  # half a minute
def test_size_five_is_won_from_an_octagon_and_against_a_square() -> None:
    game = Torus(5)
    players = [load("perfect", game), load("greedy", game)]
    black = play(game, players, torch.tensor([[0, 1]]), seeds(0, 1), [generator(1), generator(2)])
    assert black.state.scores.argmax(1).tolist() == [0]
    square = torch.tensor([[37]])
    white = play(game, players, torch.tensor([[1, 0]]), seeds(0, 1), [generator(1), generator(2)], opening=square)
    assert white.state.scores.argmax(1).tolist() == [1]


def test_it_ends_the_game_at_once_if_a_stone_does() -> None:
    game = Torus(4)
    state = game.string_to_state("x.../x.../x.../.... .oo./..../.o../.... b")
    agent, env_ids = TorusPerfect(), torch.arange(20)
    agent.start(game, torch.zeros(20).long(), env_ids)
    many = state[torch.zeros(20).long()]
    assert ProofSearch(4).move_values(state).eq(1).sum() > 1
    assert set(agent.act_on_state(many, env_ids, generator()).tolist()) == {12}


def test_lost_positions_are_played_as_greedy_does_and_moves_do_not_depend_on_other_games() -> None:
    game = Torus(5)
    state = game.init(seeds(0, 8))
    opening = random_openings(game, 8, 19, generator(3))
    for action in opening.t():
        state = game.step(state, action)
    agent = TorusPerfect()
    agent.start(game, state.current_player, torch.arange(8))
    together = agent.act_on_state(state, torch.arange(8), generator())
    search = ProofSearch(5)
    for place in range(8):
        one = state[place : place + 1]
        alone = agent.act_on_state(one, torch.arange(1), generator())
        value = search.solve(one).item()
        if value == 1:
            assert alone.item() == together[place].item()
            assert search.move_values(one)[0, alone].item() == 1
        else:
            assert alone.item() in {_move("greedy", game, one, seed) for seed in range(10)}
    assert search.solve(state).unique().tolist() == [-1, 1]


def _move(spec: str, game: Torus, state: TorusState, seed: int) -> int:
    return int(select(load(spec, game), game, state, torch.arange(1), generator(seed)))


def test_sizes_four_and_five_need_the_native_library() -> None:
    with without_native(), pytest.raises(ValueError, match="'perfect' needs the native library for size 4, but it is"):
        load("perfect", cellgames.make("torus-v0", size=4))

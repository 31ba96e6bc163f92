"""`perfect` on boards of size 2 to 5, which the native search solves."""

from __future__ import annotations

import pytest
import torch
from every_game import generator
from native_code import native_library
from refusals import refused
from slow import slow_except

import cellgames
from cellgames.agents import load, play, random_openings, select
from cellgames.agents.solving import PerfectAgent
from cellgames.agents.torus import TorusSearch, proof_search
from cellgames.envs.core import seeds
from cellgames.envs.native import without_native
from cellgames.envs.torus import Torus, TorusState


@pytest.fixture(autouse=True)
def _native() -> None:
    native_library()


@pytest.mark.parametrize(
    ("size", "plies", "games"),
    slow_except(
        [(2, 1, 100), (3, 2, 100), (4, 4, 12)],
        [(2, 1, 100), (3, 1, 100), (3, 2, 100), (4, 1, 4), (4, 4, 12), (5, 14, 8)],
    ),
)
def test_it_wins_every_won_position_against_itself_and_random(size: int, plies: int, games: int) -> None:
    game = Torus(size)
    opening = random_openings(game, games, plies, generator(plies))
    state = game.init(seeds(0, games))
    for action in opening.t():
        state = game.step(state, action)
    values = TorusSearch(Torus(size), memory=1 << 24).solve(state)
    winner = torch.where(values == 1, state.current_player, 1 - state.current_player)
    assert winner.unique().tolist() == [0, 1], "both sides should have something to win"
    players = [load("perfect", game), load("random", game)]
    seats = torch.stack((winner, 1 - winner), 1)  # `perfect` sits where it should win
    for seat in (seats, torch.zeros_like(seats)):
        played = play(game, players, seat, seeds(0, games), [generator(1), generator(2)], opening=opening)
        assert torch.equal(played.state.scores.argmax(1), winner)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "stones"), slow_except([(4, 9)], [(4, 9), (5, 19)]))
def test_it_wins_as_soon_and_loses_as_late_as_possible_whatever_other_games_there_are(size: int, stones: int) -> None:
    game = Torus(size)
    state = game.init(seeds(0, 8))
    opening = random_openings(game, 8, stones, generator(3))
    for action in opening.t():
        state = game.step(state, action)
    agent = PerfectAgent()
    agent.start(game, state.current_player, torch.arange(8))
    together = agent.act_on_state(state, torch.arange(8), generator())
    turns, best = TorusSearch(Torus(size)).distances(state)
    assert (turns > 0).any()
    assert (turns < 0).any()
    assert best.gather(1, together[:, None]).all()
    alone = [agent.act_on_state(state[[place]], torch.arange(1), generator()).item() for place in range(8)]
    assert best.gather(1, torch.tensor(alone)[:, None]).all()
    for place in (best.sum(1) == 1).nonzero()[:, 0].tolist():
        assert alone[place] == together[place].item()


@pytest.mark.slow
def test_lost_positions_of_unknown_distance_are_played_as_greedy_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof_search, "_DISTANCE_NODES", 1)
    game = Torus(5)
    opening = random_openings(game, 40, 19, generator(3))
    state = game.init(seeds(0, 40))
    for action in opening.t():
        state = game.step(state, action)
    turns, _ = TorusSearch(Torus(5)).distances(state, nodes=100_000)
    state = state[turns < -6][:3]
    agent, rows = PerfectAgent(), torch.arange(3)
    agent.start(game, state.current_player, rows)
    for place, move in enumerate(agent.act_on_state(state, rows, generator()).tolist()):
        assert move in {_move("greedy", game, state[[place]], seed) for seed in range(10)}


def _move(spec: str, game: Torus, state: TorusState, seed: int) -> int:
    return int(select(load(spec, game), game, state, torch.arange(1), generator(seed)))


def test_it_refuses_boards_and_games_that_are_not_solved() -> None:
    for game, got in (("torus-v0", "72"), ("cloth-of-gold-v0", "cloth-of-gold-v0")):
        with refused("agent 'perfect'", got):
            load("perfect", cellgames.make(game, **({"size": 6} if game == "torus-v0" else {})))
    with without_native(), pytest.raises(ValueError, match="'perfect' needs the native library, but it is"):
        load("perfect", cellgames.make("torus-v0", size=4))

"""Torus solved: against minimax by the slow reference, against the facts of the game, and `perfect` in play."""

from __future__ import annotations

import random
from collections.abc import Iterable

import pytest
import torch
from every_game import generator
from refusals import refused
from torch import Tensor
from torus_minimax import Stones, after, free, good_moves, holds, minimax, mover, states

import cellgames
from cellgames.agents import load, random_openings
from cellgames.agents.play_loop import play
from cellgames.agents.torus.perfect import TorusPerfect
from cellgames.agents.torus.solver import solver
from cellgames.envs.core import seeds
from cellgames.envs.torus.game import Torus


def columns(positions: Iterable[Stones]) -> tuple[Tensor, Tensor, Tensor]:
    """What `TorusSolver.wins` takes."""
    black, white = torch.tensor(list(positions)).unbind(1)
    player = torch.tensor([mover(stones) for stones in zip(black.tolist(), white.tolist(), strict=True)])
    return black, white, player


def unfinished(size: int, count: int, least: int = 0, seed: int = 0) -> list[Stones]:
    """Distinct positions of random games that go on, with at least so many stones."""
    rng, cells, found = random.Random(seed), 2 * size * size, dict[Stones, None]()
    while len(found) < count:
        stones: Stones = (0, 0)
        for cell in rng.sample(range(cells), rng.randrange(least, cells)):
            player, stones = mover(stones), after(stones, cell)
            if holds(player, stones[player], size):
                break
        else:
            found[stones] = None
    return list(found)


def test_all_positions_of_size_two_are_what_minimax_says() -> None:
    size, found, queue = 2, {(0, 0)}, [(0, 0)]
    while queue:
        stones = queue.pop()
        for cell in free(stones, size):
            player, later = mover(stones), after(stones, cell)
            if not holds(player, later[player], size) and later not in found:
                found.add(later)
                queue.append(later)
    positions = sorted(found)
    assert solver(size).wins(*columns(positions)).tolist() == [minimax(stones, size) for stones in positions]
    state = states(positions, size)
    for stones, moves in zip(positions, solver(size).winning_moves(state).tolist(), strict=True):
        assert moves == good_moves(stones, size)


def test_positions_of_size_three_are_what_minimax_says() -> None:
    size = 3
    positions = unfinished(size, 100, least=8)
    wins = solver(size).wins(*columns(positions))
    assert wins.tolist() == [minimax(stones, size) for stones in positions]
    assert wins.any()
    assert not wins.all()
    for stones, moves in zip(positions, solver(size).winning_moves(states(positions, size)).tolist(), strict=True):
        assert moves == good_moves(stones, size)


@pytest.mark.parametrize("size", [2, 3])
def test_the_first_player_wins_by_opening_on_an_octagon_and_loses_by_opening_on_a_square(size: int) -> None:
    game = Torus(size)
    start = game.init(seeds(0, 1))
    assert solver(size).wins(*columns([(0, 0)])).item()
    octagons, squares = solver(size).winning_moves(start).view(2, -1)
    assert octagons.all()
    assert not squares.any()


@pytest.mark.parametrize(
    ("stones", "player", "message"),
    [
        ((0b1, 0b10), 1, "position 1: .* got 1 and 1 with 1 to move"),
        ((0b1, 0b0), 0, "got 1 and 0 with 0 to move"),
        ((0b0, 0b1), -1, "got 0 and 1 with -1 to move"),
        ((0b111, 0b1000), 2, "got 3 and 1 with 2 to move"),
        ((0b11, 0b10), 1, "disjoint sets of 18 cells, got 3 and 2"),
        ((1 << 18, 0), 1, "disjoint sets of 18 cells, got 262144 and 0"),
        ((0b001001001, 0b110), 1, "Black has won position 1"),
        ((0b001011000, 0b111), 0, "White has won position 1"),
    ],
)
def test_positions_that_are_not_solved_are_named(stones: Stones, player: int, message: str) -> None:
    black, white = torch.tensor([(0, 0), stones]).unbind(1)
    with pytest.raises(ValueError, match=message):
        solver(3).wins(black, white, torch.tensor([0, player]))


def test_perfect_refuses_boards_and_games_that_are_not_solved() -> None:
    with refused("agent 'perfect'", "6"):
        load("perfect", cellgames.make("torus-v0", size=6))
    with refused("agent 'perfect'", "cloth-of-gold-v0"):
        TorusPerfect().check_game(cellgames.make("cloth-of-gold-v0"))
    with refused("agent 'perfect'", "cloth-of-gold-v0"):
        load("perfect", cellgames.make("cloth-of-gold-small-v0"))
    with pytest.raises(ValueError, match="agent 'perfect' must be started before it acts"):
        TorusPerfect().act_on_state(Torus(3).init(seeds(0, 1)), torch.zeros(1).long(), generator())


def openings(size: int, count: int, plies: int) -> tuple[Tensor, Tensor]:
    """Random openings, [count, plies], and who wins after each, int64 [count]."""
    game = Torus(size)
    actions = random_openings(game, count, plies, generator(plies))
    state = game.init(seeds(0, count))
    for action in actions.t():
        state = game.step(state, action)
    wins = solver(size).winning_moves(state).any(1)
    return actions, torch.where(wins, state.current_player, 1 - state.current_player)


@pytest.mark.parametrize(("size", "plies"), [(2, 1), (3, 1), (3, 2), (3, 5)])
def test_perfect_wins_every_won_position_against_random_and_against_itself(size: int, plies: int) -> None:
    game = Torus(size)
    opening, winner = openings(size, 100, plies)
    assert winner.unique().tolist() == [0, 1], "both sides should have something to win"
    players = [load("perfect", game), load("random", game)]
    seats = torch.stack((winner, 1 - winner), 1)  # `perfect` sits where it should win
    for seat in (seats, torch.zeros_like(seats)):
        played = play(game, players, seat, seeds(0, 100), [generator(1), generator(2)], opening=opening)
        assert torch.equal(played.state.scores.argmax(1), winner)

"""Torus against the slow reference, and against itself: symmetries, hosts, batches."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch
import torus_reference as ref
from slow import slow_except
from torch import Tensor

from cellgames.envs.core import seeds
from cellgames.envs.core.sampling import random_bits, random_legal
from cellgames.envs.torus import Torus, TorusState, num_cells

SIZES = slow_except([2, 3, 4, 5, 8, 16], range(2, 17))


def random_games(size: int, count: int, seed: int = 0) -> tuple[Tensor, TorusState]:
    """Actions [T, B] of random games (any after the end) and the final states."""
    game, generator = Torus(size), torch.Generator().manual_seed(seed)
    state, actions = game.init(seeds(seed, count)), []
    while not state.done.all():
        actions.append(random_legal(game.legal_actions(state), random_bits(count, generator)))
        state = game.step(state, actions[-1], checked=False)
    return torch.stack(actions), state


def place_all(game: Torus, cells: Tensor, players: Tensor) -> TorusState:
    """Stones put in order, [T, B] both, without an end; the state in which every env has all of them."""
    state = game.init(seeds(0, cells.shape[1]))
    for cell, player in zip(cells, players, strict=True):
        state = game._place(state, cell, player)
    return state


def check_end(moves: list[int], winner: int, size: int) -> None:
    """The reference's word on an end: the winner, alone, has a winning class now and had none a move before."""
    board = [0] * num_cells(size)
    for turn, move in enumerate(moves):
        board[move] = turn % 2 + 1
    assert ref.winner(board, size) == winner
    board[moves[-1]] = 0
    assert not ref.wins(winner, ref.cells_of_player(board, winner, size), size)


def test_every_game_at_size_two() -> None:
    """All 40,320 orders of the eight cells: winner and turn equal the reference's."""
    game, orders = Torus(2), list(permutations(range(8)))
    actions = torch.tensor(orders).t()
    state = game.init(seeds(0, len(orders)))
    for action in actions:
        state = game.step(state, torch.where(state.done, 0, action))
    winners, turns = state.scores.argmax(1).tolist(), state.turn.tolist()
    assert state.done.all()
    cache: dict[tuple[int, ...], tuple[int | None, int]] = {}
    for order, winner, turn in zip(orders, winners, turns, strict=True):
        known = order[:turn]
        if known not in cache:
            cache[known] = ref.play(known, 2)
        assert cache[known] == (winner, turn)


def test_every_full_board_at_size_three_has_exactly_one_winner() -> None:
    """All 262,144 boards here, every 37th by the reference too."""
    game, cells = Torus(3), 18
    boards = torch.arange(1 << cells)
    colours = (boards >> torch.arange(cells)[:, None]) & 1
    both = place_all(game, torch.arange(cells)[:, None].expand_as(colours), colours).scores
    assert both.sum(1).eq(1).all()
    assert both.sum(0).tolist() == [1 << 17, 1 << 17]
    for board in range(0, 1 << cells, 37):
        stones = [1 + (board >> cell & 1) for cell in range(cells)]
        assert ref.winner(stones, 3) == int(both[board].argmax())


@pytest.mark.parametrize("size", SIZES)
def test_random_games_end_as_the_reference_says(size: int) -> None:
    count = max(24, 3000 // size**2)
    actions, state = random_games(size, count)
    assert state.scores.sum(1).eq(1).all()
    assert not state.truncated.any()
    for env_id, turn in enumerate(state.turn.tolist()):
        check_end(actions[:turn, env_id].tolist(), int(state.scores[env_id].argmax()), size)


@pytest.mark.parametrize("size", SIZES)
def test_thousands_of_full_boards_have_exactly_one_winner(size: int) -> None:
    """Any order, any colours: the position alone decides, also when stones are added after the end."""
    generator = torch.Generator().manual_seed(size)
    count, cells = 2000, num_cells(size)
    orders = torch.rand(count, cells, generator=generator).argsort(1).t()
    colours = torch.randint(2, (count, cells), generator=generator)
    state = place_all(Torus(size), orders, colours.gather(1, orders.t()).t())
    assert state.scores.sum(1).eq(1).all()
    for env_id in range(0, count, 400):
        board = (colours[env_id] + 1).tolist()
        assert ref.winner(board, size) == int(state.scores[env_id].argmax())


@pytest.mark.parametrize("size", [2, 5, 8])
def test_a_position_knows_its_winner_whatever_the_order_of_its_stones(size: int) -> None:
    game = Torus(size)
    _, state = random_games(size, 50)
    for env_id in range(50):
        again = game.string_to_state(game.state_to_string(state[env_id]))
        assert torch.equal(again.scores, state[env_id].scores)
        assert torch.equal(again.free, state[env_id].free)
        assert torch.equal(again.current_player, state[env_id].current_player)

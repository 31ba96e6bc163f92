"""Torus against the slow reference, and against itself: symmetries, hosts, batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import permutations
from random import Random

import pytest
import torch
import torus_reference as ref
from slow import slow_except
from torch import Tensor

from cellgames.envs.core import seeds
from cellgames.envs.core.sampling import random_bits, random_legal
from cellgames.envs.core.state import choose_envs
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.geometry import num_cells
from cellgames.envs.torus.state import TorusState

SIZES = slow_except([2, 3, 4, 5, 8, 16], range(2, 17))


def random_games(size: int, count: int, seed: int = 0) -> tuple[Tensor, TorusState]:
    """Actions [T, B] of random games (any after the end) and the final states."""
    game, generator = Torus(size), torch.Generator().manual_seed(seed)
    state, actions = game.init(seeds(seed, count)), []
    while not state.done.all():
        actions.append(random_legal(game.packed_legal_actions(state), random_bits(count, generator)))
        state = game.step(state, actions[-1], checked=False)
    return torch.stack(actions), state


def place_all(game: Torus, cells: Tensor, players: Tensor) -> TorusState:
    """Stones put in order, [T, B] both, without an end; the state in which every env has all of them."""
    state = game.init(seeds(0, cells.shape[1]))
    for cell, player in zip(cells, players, strict=True):
        state = game._place(state, cell, player)
    return state


def keep_ended(done: Tensor, new: Tensor, old: Tensor) -> Tensor:
    return choose_envs(done, old, new)


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


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_hundreds_of_random_games_end_as_the_reference_says(size: int) -> None:
    actions, state = random_games(size, 400, seed=1)
    assert state.scores.sum(1).eq(1).all()
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


def test_each_side_wins_about_half_of_random_games() -> None:
    _, state = random_games(6, 10_000)
    assert abs(state.scores[:, 0].mean().item() - 0.5) < 0.02  # four standard deviations


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("name", ["translation", "half turn", "quarter turn with colours swapped"])
def test_symmetries_of_the_rules(size: int, name: str) -> None:
    maps: dict[str, Callable[[int], int]] = {
        "translation": partial(ref.translate, dr=1, dc=size - 1, size=size),
        "half turn": partial(ref.rotate180, size=size),
        "quarter turn with colours swapped": partial(ref.rotate90, size=size),
    }
    swap = name.startswith("quarter")
    game, count = Torus(size), 200
    actions, _ = random_games(size, count)
    table = torch.tensor([maps[name](cell) for cell in range(num_cells(size))])
    here = there = game.init(seeds(0, count))
    for action in actions:
        done = here.done
        here = game.step(here, action, checked=False)
        action = torch.where(done, 0, action)
        player = there.current_player
        moved = game._place(there, table[action], 1 - player if swap else player).replace(current_player=1 - player)
        there = moved.merge(there, partial(keep_ended, done))
        assert torch.equal(here.terminated, there.terminated)
        assert torch.equal(here.scores, there.scores.flip(1) if swap else there.scores)


@pytest.mark.parametrize("size", [2, 3, 5, 8, 16])
def test_one_game_alone_equals_the_batch(size: int) -> None:
    """Both hosts of the rules agree after every move, in every field."""
    game, count = Torus(size), 6
    actions, _ = random_games(size, count)
    state = game.init(seeds(0, count))
    solos = [game.solo(state[env_id]) for env_id in range(count)]
    for action in actions:
        done = state.done
        state = game.step(state, action)
        for env_id, solo in enumerate(solos):
            solo.step(int(action[env_id]))
            assert solo.state().equal(state[env_id])
            assert (solo.legal_actions() == game.legal_actions(state)[env_id].numpy()).all()
            assert (solo.observe(1) == game.observe(state, 1)[env_id].numpy()).all()
            assert (solo.board() == game.board(state)[env_id].numpy()).all()
            if done[env_id]:
                assert solo.rewards == [0, 0]


@pytest.mark.parametrize("size", [2, 5, 8])
def test_a_position_knows_its_winner_whatever_the_order_of_its_stones(size: int) -> None:
    game = Torus(size)
    _, state = random_games(size, 50)
    for env_id in range(50):
        again = game.string_to_state(game.state_to_string(state[env_id]))
        assert torch.equal(again.scores, state[env_id].scores)
        assert torch.equal(again.free, state[env_id].free)
        assert torch.equal(again.current_player, state[env_id].current_player)


def test_a_game_goes_on_from_a_position_as_from_its_moves() -> None:
    game, rng = Torus(5), Random(4)
    for _ in range(20):
        order = rng.sample(range(50), 50)
        played = game.init(seeds(0, 1))
        for move in order[:15]:
            played = game.step(played, torch.tensor([move]))
        loaded = game.string_to_state(game.state_to_string(played))
        for move in order[15:]:
            played, loaded = (game.step(state, torch.tensor([move])) for state in (played, loaded))
            assert torch.equal(played.scores, loaded.scores)
            if played.done.any():
                break


def test_the_mask_and_the_packed_mask_name_the_free_cells() -> None:
    game = Torus(5)
    actions, _ = random_games(5, 100)
    state = game.init(seeds(0, 100))
    for action in actions:
        bits = (state.free[:, :, None] >> torch.arange(32)) & 1
        going = ~state.done
        assert torch.equal(bits.flatten(1)[:, :50].bool()[going], game.legal_actions(state)[going])
        assert torch.equal(game.board(state).eq(0)[going], game.legal_actions(state)[going])
        state = game.step(state, action)

"""Torus on drawn boards (octagons and the squares between), against the slow reference, and against itself, moved."""

from __future__ import annotations

from itertools import permutations

import pytest
import torch
import torus_reference as ref
from every_game import generator, midway
from slow import slow_except
from torch import Tensor

from cellgames.envs.core import seeds
from cellgames.envs.core.chance import random_bits, random_legal
from cellgames.envs.torus import Torus, TorusState, num_cells
from cellgames.envs.torus.geometry import neighbours, sources

CYCLES = [
    ("a ring of octagons wins for Black", "b", "a3", [1, 0], """
        B . .
         . . .
        B . .
         . . .
        . . .
         . . .
    """),
    ("a bracelet of octagons wins for White", "w", "c1", [0, 1], """
        W W .
         . . .
        . . .
         . . .
        . . .
         . . .
    """),
    ("an r-helix slopes down to the right and wins for Black", "b", "c3+", [1, 0], """
        B . .
         B . .
        . B .
         . B .
        . . B
         . . .
    """),
    ("an l-helix slopes up to the right and wins for White", "w", "a3", [0, 1], """
        . . W
         . W .
        . W .
         W . .
        . . .
         . . W
    """),
    ("a ring wins nothing for White", "w", "a3", [0, 0], """
        W . .
         . . .
        W . .
         . . .
        . . .
         . . .
    """),
    ("a bracelet wins nothing for Black", "b", "c1", [0, 0], """
        B B .
         . . .
        . . .
         . . .
        . . .
         . . .
    """),
    ("an r-helix wins nothing for White", "w", "c3+", [0, 0], """
        W . .
         W . .
        . W .
         . W .
        . . W
         . . .
    """),
    ("a loop that winds round nothing wins nothing", "b", "b2", [0, 0], """
        B B .
         . . .
        B . .
         . . .
        . . .
         . . .
    """),
]  # fmt: skip


@pytest.mark.parametrize(
    ("mover", "move", "scores", "drawing"), [case[1:] for case in CYCLES], ids=[case[0] for case in CYCLES]
)
def test_only_winning_cycles_end_the_game(mover: str, move: str, scores: list[int], drawing: str) -> None:
    game = Torus(ref.board_from_text(drawing)[1])
    before = game.string_to_state(ref.position_from_text(drawing, mover))
    assert not before.done.any(), "the drawing is already won"
    after = game.step(before, torch.tensor([game.string_to_action(move)]))
    assert after.scores.tolist() == [scores]
    assert after.terminated.tolist() == [any(scores)]


@pytest.mark.parametrize("size", range(2, 17))
def test_neighbours_equal_the_references(size: int) -> None:
    for cell, ring in enumerate(neighbours(size)):
        expected = {(ref.index_of(e.cell, size), e.dx, e.dy) for e in ref.neighbours(ref.cell_of(cell, size), size)}
        assert {tuple(edge) for edge in ring} == expected
        assert len(ring) == len(expected)


def test_the_observation_is_the_movers_view() -> None:
    """Own octagons, own squares, the opponent's octagons and squares, and ones for Black."""
    game = Torus(2)
    state = game.string_to_state("xo/.. .x/o. w")
    white = game.observe(state, state.current_player)[0].tolist()
    black = game.observe(state, 0)[0].tolist()
    own, opponent = [[[0, 1], [0, 0]], [[0, 0], [1, 0]]], [[[1, 0], [0, 0]], [[0, 1], [0, 0]]]
    assert white == [*own, *opponent, [[0, 0], [0, 0]]]
    assert black == [*opponent, *own, [[1, 1], [1, 1]]]


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


def test_a_seventh_of_all_games_at_size_two() -> None:
    """Every seventh order of the eight cells, 5,760: winner and turn equal the reference's."""
    game, orders = Torus(2), list(permutations(range(8)))[::7]
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
    """All 262,144 boards here, every 101st by the reference too."""
    game, cells = Torus(3), 18
    boards = torch.arange(1 << cells)
    colours = (boards >> torch.arange(cells)[:, None]) & 1
    both = place_all(game, torch.arange(cells)[:, None].expand_as(colours), colours).scores
    assert both.sum(1).eq(1).all()
    assert both.sum(0).tolist() == [1 << 17, 1 << 17]
    for board in range(0, 1 << cells, 101):
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
def test_hundreds_of_full_boards_have_exactly_one_winner(size: int) -> None:
    """Any order, any colours: the position alone decides, also when stones are added after the end."""
    generator = torch.Generator().manual_seed(size)
    count, cells = 500, num_cells(size)
    orders = torch.rand(count, cells, generator=generator).argsort(1).t()
    colours = torch.randint(2, (count, cells), generator=generator)
    state = place_all(Torus(size), orders, colours.gather(1, orders.t()).t())
    assert state.scores.sum(1).eq(1).all()
    for env_id in range(0, count, 100):
        board = (colours[env_id] + 1).tolist()
        assert ref.winner(board, size) == int(state.scores[env_id].argmax())


def moved(size: int) -> Tensor:
    """int64 [S, N]: where each symmetry brings a cell."""
    return sources(size, torch.device("cpu")).argsort(1)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_cells_move_as_the_reference_says(size: int) -> None:
    """Quarter turns around the octagon a1, then a translation, in this order."""
    table, number = moved(size), 0
    for quarters in range(4):
        for down in range(size):
            for right in range(size):
                for cell in range(2 * size * size):
                    place = cell
                    for _ in range(quarters):
                        place = ref.rotate90(place, size)
                    assert int(table[number, cell]) == ref.translate(place, down, right, size)
                number += 1
    assert number == Torus(size).symmetries == len(table)


@pytest.mark.parametrize("size", [2, 3])
def test_a_step_commutes_with_every_symmetry(size: int) -> None:
    """The game that is moved along, colours swapped after odd quarters, looks as `transform` says and ends alike."""
    game, count = Torus(size), 12
    table = moved(size)
    which = torch.arange(game.symmetries).repeat_interleave(count)
    state = there = game.init(seeds(3, count)[torch.arange(count).repeat(game.symmetries)])
    random, ended = generator(), 0
    while not state.done.all():
        going = (~state.done).nonzero().squeeze(1)
        state, there, which = state[going], there[going], which[going]
        player, swap = state.current_player, which // (size * size) % 2
        seen, mask = game.transform(game.observe(state, player), game.legal_actions(state), which)
        assert torch.equal(seen, game.observe(there, player ^ swap))
        assert torch.equal(mask, game.legal_actions(there))
        action = game.random_actions(state, random)
        one_hot = torch.nn.functional.one_hot(action, game.info.num_actions)
        there_action = game.transform(seen, one_hot, which)[1].argmax(1)
        assert torch.equal(there_action, table[which, action])
        state = game.step(state, action)
        there = game._place(there, there_action, player ^ swap)
        assert torch.equal(state.terminated, there.terminated)
        wins = torch.where(swap[:, None] == 1, state.scores.flip(1), state.scores)
        assert torch.equal(wins, there.scores)
        ended += int(state.done.sum())
    assert ended == count * game.symmetries


def test_numbers_of_any_kind_move_with_the_board() -> None:
    game = Torus(3)
    state = midway(game, num_envs=8)
    which = torch.randint(game.symmetries, (8,), generator=generator())
    mask, policy = game.legal_actions(state), torch.rand(8, 18, generator=generator(1))
    seen = game.observe(state, state.current_player)
    one, two = game.transform(seen, mask, which), game.transform(seen, policy, which)
    both = game.transform(seen, torch.stack((mask.float(), policy), 1), which)
    assert one[0].dtype == seen.dtype
    assert one[1].dtype == torch.bool
    assert torch.equal(both[1], torch.stack((one[1].float(), two[1]), 1))
    free = one[0][:, :4].view(8, 2, 18).sum(1) == 0
    assert torch.equal(one[1], free)

"""Greedy Torus: the search for winning cycles against the slow reference, and the moves it leads to."""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence

import pytest
import torch
import torus_reference as ref
from every_game import generator
from torch import Tensor

from cellgames.agents.connection.greedy import CLOSED
from cellgames.agents.torus.greedy import TorusGreedy, stones_to_win

Board = list[int]


def observe(boards: Sequence[Board], size: int, player: int) -> Tensor:
    """What `player` sees of boards of any stones, int8 [L, 5, n, n]."""
    stones = torch.tensor(boards).view(-1, 2, size, size)
    colour = torch.full_like(stones[:, :1], player == 0)
    return torch.cat((stones == player + 1, stones == 2 - player, colour), dim=1).to(torch.int8)


def random_boards(size: int, count: int, most_free: int, seed: int = 0) -> list[Board]:
    """Boards of every density and majority."""
    rng = random.Random(seed)
    boards: list[Board] = []
    while len(boards) < count:
        free, black = rng.random(), rng.random()
        board = [0 if rng.random() < free else 1 + (rng.random() > black) for _ in range(2 * size * size)]
        if board.count(0) <= most_free:
            boards.append(board)
    return boards


def cheapest_walk(board: Board, size: int, player: int, most_windings: int = 4) -> int:
    """Free cells of the cheapest winning closed walk, by Dijkstra's search on the unrolled board."""
    price = {
        ref.cell_of(i, size): 0 if stone == player + 1 else 1 for i, stone in enumerate(board) if stone != 2 - player
    }
    best = CLOSED
    for start in price:
        if start.kind == "square" or (start.row, start.col)[player] != 0:
            continue
        cost = {(start, 0, 0): 0}
        queue = [(0, (start, 0, 0))]
        while queue:
            total, here = heapq.heappop(queue)
            cell, x, y = here
            if total > cost[here] or total >= best:
                continue
            if cell == start and (x, y) != (0, 0) and ref.owner_of_class(x, y) == player:
                best = total
            for other, dx, dy in ref.neighbours(cell, size):
                there = (other, x + dx, y + dy)
                if other not in price or max(abs(there[1]), abs(there[2])) > most_windings:
                    continue
                if total + price[other] < cost.get(there, CLOSED):
                    cost[there] = total + price[other]
                    heapq.heappush(queue, (cost[there], there))
    return best


@pytest.mark.parametrize(("size", "count", "most_free"), [(2, 400, 8), (3, 150, 11)])
def test_stones_to_win_is_the_true_number_on_small_boards(size: int, count: int, most_free: int) -> None:
    boards = random_boards(size, count, most_free)
    truth = [[ref.min_stones_to_win(board, player, size) for player in (0, 1)] for board in boards]
    expected = torch.tensor([[CLOSED if stones is None else stones for stones in pair] for pair in truth])
    for player in (0, 1):
        found = stones_to_win(observe(boards, size, player)).int().clamp(max=CLOSED)
        assert torch.equal(found, expected.flip(1) if player else expected)


@pytest.mark.parametrize("size", [4, 5, 6])
def test_stones_to_win_is_the_cheapest_walk_on_larger_boards(size: int) -> None:
    boards = random_boards(size, 12, 2 * size * size, seed=size)
    found = stones_to_win(observe(boards, size, 0)).int().clamp(max=CLOSED).tolist()
    assert found == [[cheapest_walk(board, size, player) for player in (0, 1)] for board in boards]


# Black has the ring of column b but for one octagon; White has nothing near.
RING = """
. B . .
 . . W .
. B . .
 . . . .
. . . W
 W . . .
. B . .
 . . . .
"""


def choose(board: Board, size: int, player: int, times: int = 1) -> set[int]:
    observation = observe([board] * times, size, player)
    mask = torch.tensor([board] * times) == 0
    return set(TorusGreedy().act(observation, mask, torch.arange(times), generator()).tolist())


@pytest.mark.parametrize("player", [0, 1])
def test_it_wins_at_once_and_blocks_at_once(player: int) -> None:
    board, size = ref.board_from_text(RING)
    if player:  # the same for White: a bracelet
        board = ref.move_board(board, lambda cell: ref.rotate90(cell, size), swap_colours=True)
    assert stones_to_win(observe([board], size, player))[0, 0] == 1
    win = choose(board, size, player, times=20)
    assert len(win) == 1
    board[win.pop()] = player + 1
    assert ref.winner(board, size) == player
    board, _ = ref.board_from_text(RING)
    gap = 2 * size + 1
    assert choose(board, size, 1, times=20) == {gap}


def test_winning_comes_before_blocking() -> None:
    board, size = ref.board_from_text("""
    . B W .
     . . . .
    . B W .
     . . . .
    . . . .
     . . . .
    W B W W
     . . . .
    """)
    assert choose(board, size, 0) == {2 * size + 1}
    board[3 * size + 1] = 0  # now White is one from a bracelet, Black two from the ring
    assert choose(board, size, 0) == {3 * size + 1}
    assert choose(board, size, 1) == {3 * size + 1}

"""The slow reference of Torus is itself right: drawn boards, exact counts, and the facts the rules promise.

A drawing shows octagons and squares where they lie: a line of octagons, below it, half a step to the right,
the line of squares at their lower right corners. The right edge meets the left one, the bottom the top.
"""

import random
from collections import Counter, deque

import pytest
import torus_reference as ref
from torus_reference import BLACK, WHITE, Cell


def classes_by_flood(group: set[Cell], size: int, reach: int) -> set[tuple[int, int]]:
    """The classes of closed walks found by flooding the universal cover, at most `reach` copies away."""
    start = min(group)
    seen = {(start, 0, 0)}
    queue = deque(seen)
    while queue:
        cell, x, y = queue.popleft()
        for other, dx, dy in ref.neighbours(cell, size):
            lift = (other, x + dx, y + dy)
            if other in group and lift not in seen and max(abs(x + dx), abs(y + dy)) <= reach:
                seen.add(lift)
                queue.append(lift)
    return {(x, y) for cell, x, y in seen if cell == start}


@pytest.mark.parametrize(("size", "count"), [(2, 60), (3, 60), (5, 60)])
def test_lattices_agree_with_a_flood_of_the_universal_cover(size: int, count: int) -> None:
    rng = random.Random(size)
    ranks = Counter[int]()
    for _ in range(count):
        board = ref.random_full_board(size, rng, black_share=rng.choice([0.3, 0.45, 0.5, 0.55]))
        for group in ref.groups(ref.cells_of_player(board, BLACK, size), size):
            lattice = ref.cycle_lattice(group, size)
            assert ref.hermite_basis(classes_by_flood(group, size, reach=4)) == lattice
            ranks[len(lattice)] += 1
    assert min(ranks[rank] for rank in range(3)) >= 5


def winners_of_full_board(board: list[int], size: int) -> list[int]:
    return [p for p in (BLACK, WHITE) if ref.wins(p, ref.cells_of_player(board, p, size), size)]


def test_every_full_board_of_size_two_has_exactly_one_winner() -> None:
    boards = list(ref.full_boards(2))
    assert len({tuple(board) for board in boards}) == 2**8
    won = [winners_of_full_board(board, 2) for board in boards]
    assert all(len(one) == 1 for one in won)
    # Quarter turns with colours exchanged pair Black's boards with White's.
    assert won.count([BLACK]) == won.count([WHITE]) == 128

"""The slow reference of Torus is itself right: drawn boards, exact counts, and the facts the rules promise.

A drawing shows octagons and squares where they lie: a line of octagons, below it, half a step to the right,
the line of squares at their lower right corners. The right edge meets the left one, the bottom the top.
"""

import random
from collections import Counter, deque

import pytest
import torus_reference as ref
from torus_reference import BLACK, WHITE, Cell, Lattice

RING = """
    . B . .
     . . . .
    . B . .
     B . . .
    . B . .
     . . . .
    . B . .
     . . . .
"""
BRACELET = """
    . . . .
     . . . .
    B B . B
     . B B .
    . . B .
     . . . .
    . . . .
     . . . .
"""
R_HELIX = """
    B . . .
     B . . .
    . B . .
     . B . .
    . . B .
     . . B .
    . . . B
     . . . B
"""
L_HELIX = """
    . . . B
     . . B .
    . . B .
     . B . .
    . B . .
     B . . .
    B . . .
     . . . B
"""
STEEP_R_HELIX = """
    B . B .
     . . . .
    B . B .
     B . B .
    . B . B
     . . . .
    . B . B
     . B . B
"""
FLAT_L_HELIX = """
    . B B .
     B . . .
    B . . B
     . . B .
    . B B .
     B . . .
    B . . B
     . . B .
"""
# An l-helix and a bracelet share the octagon (1, 2) and, the helix being a closed curve, meet nowhere else.
FIGURE_6 = """
    . . . B
     . . B .
    B B B B
     . B . .
    . B . .
     B . . .
    B . . .
     . . . B
"""
LOOP_AROUND_A_CELL = """
    . B . .
     B B . .
    B . B .
     B B . .
    . B . .
     . . . .
    . . . .
     . . . .
"""
SEAM_WITHOUT_A_CYCLE = """
    B . . B
     . . . .
    . . . .
     . . . .
    . . . .
     . . . .
    B . . B
     . . . .
"""


def lattices(text: str) -> list[Lattice]:
    """The lattices of Black's groups in a drawing, sorted."""
    board, size = ref.board_from_text(text)
    return sorted(ref.cycle_lattice(g, size) for g in ref.groups(ref.cells_of_player(board, BLACK, size), size))


def octagon(row: int, col: int) -> Cell:
    return Cell("octagon", row, col)


def square(row: int, col: int) -> Cell:
    return Cell("square", row, col)


def test_neighbours_by_hand_with_their_windings() -> None:
    assert set(ref.neighbours(octagon(0, 0), 3)) == {
        (octagon(0, 1), 0, 0),
        (octagon(1, 0), 0, 0),
        (octagon(0, 2), -1, 0),
        (octagon(2, 0), 0, -1),
        (square(0, 0), 0, 0),
        (square(0, 2), -1, 0),
        (square(2, 0), 0, -1),
        (square(2, 2), -1, -1),
    }
    assert set(ref.neighbours(square(2, 1), 3)) == {
        (octagon(2, 1), 0, 0),
        (octagon(2, 2), 0, 0),
        (octagon(0, 1), 0, 1),
        (octagon(0, 2), 0, 1),
    }
    assert set(ref.neighbours(square(2, 2), 3)) == {
        (octagon(2, 2), 0, 0),
        (octagon(2, 0), 1, 0),
        (octagon(0, 2), 0, 1),
        (octagon(0, 0), 1, 1),
    }


@pytest.mark.parametrize(
    ("text", "lattice"),
    [
        pytest.param(RING, ((0, 1),), id="ring"),
        pytest.param(BRACELET, ((1, 0),), id="bracelet"),
        pytest.param(R_HELIX, ((1, 1),), id="r-helix"),
        pytest.param(L_HELIX, ((1, -1),), id="l-helix"),
        pytest.param(STEEP_R_HELIX, ((1, 2),), id="steep r-helix"),
        pytest.param(FLAT_L_HELIX, ((2, -1),), id="flat l-helix"),
        pytest.param(FIGURE_6, ((1, 0), (0, 1)), id="figure 6"),
        pytest.param(LOOP_AROUND_A_CELL, (), id="loop around a cell"),
        pytest.param(SEAM_WITHOUT_A_CYCLE, (), id="seam without a cycle"),
    ],
)
def test_lattices_of_drawn_groups(text: str, lattice: Lattice) -> None:
    assert lattices(text) == [lattice]


def test_two_groups_do_not_add_up() -> None:
    text = """
        B B . .
         . . . .
        . . . .
         . . B .
        . . . B
         . . B .
        . . . .
         . . . .
    """
    assert lattices(text) == [(), ()]
    assert ref.winner(*ref.board_from_text(text)) is None
    with pytest.raises(ValueError, match="one connected group"):
        ref.cycle_lattice([octagon(0, 0), octagon(2, 2)], 4)


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

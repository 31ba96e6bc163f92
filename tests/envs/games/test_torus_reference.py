"""The slow reference of Torus is itself right: drawn boards, exact counts, and the facts the rules promise.

A drawing shows octagons and squares where they lie: a line of octagons, below it, half a step to the right,
the line of squares at their lower right corners. The right edge meets the left one, the bottom the top.
"""

import random
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from itertools import pairwise

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


def recoloured(text: str) -> str:
    return text.translate(str.maketrans("BW", "WB"))


def path_class(path: list[Cell], size: int) -> tuple[int, int]:
    """The class of a closed walk given by its cells (n >= 3, where two cells share one edge at most)."""
    h = v = 0
    for here, there in pairwise([*path, path[0]]):
        (edge,) = [e for e in ref.neighbours(here, size) if e.cell == there]
        h, v = h + edge.dx, v + edge.dy
    return h, v


def octagon(row: int, col: int) -> Cell:
    return Cell("octagon", row, col)


def square(row: int, col: int) -> Cell:
    return Cell("square", row, col)


# --- geometry -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 4, 7, 16])
def test_octagons_have_eight_edges_and_squares_four_and_every_edge_runs_back(size: int) -> None:
    cells = [ref.cell_of(i, size) for i in range(2 * size * size)]
    assert [ref.index_of(cell, size) for cell in cells] == list(range(2 * size * size))
    for cell in cells:
        edges = ref.neighbours(cell, size)
        assert len(edges) == len(set(edges)) == (8 if cell.kind == "octagon" else 4)
        for other, dx, dy in edges:
            assert (cell, -dx, -dy) in ref.neighbours(other, size)


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


@pytest.mark.parametrize("size", [2, 3, 5])
def test_every_corner_joins_three_cells_around_a_point(size: int) -> None:
    """A square's four corners are triangles of class (0, 0): 4 n^2 corners in all, and V - E + F = 0."""
    cells = [ref.cell_of(i, size) for i in range(2 * size * size)]
    corners = Counter(
        here
        for here in cells
        if here.kind == "square"
        for first, x1, y1 in ref.neighbours(here, size)
        for second, x2, y2 in ref.neighbours(first, size)
        for back, x3, y3 in ref.neighbours(second, size)
        if second.kind == "octagon" and back == here and (x1 + x2 + x3, y1 + y2 + y3) == (0, 0)
    )
    assert len(corners) == size * size
    assert set(corners.values()) == {2 * 4}  # both ways round
    edges = sum(len(ref.neighbours(cell, size)) for cell in cells) // 2
    assert 4 * size * size - edges + len(cells) == 0


def test_double_edges_at_size_two_have_different_windings() -> None:
    to = [(dx, dy) for other, dx, dy in ref.neighbours(octagon(0, 0), 2) if other == octagon(0, 1)]
    assert sorted(to) == [(-1, 0), (0, 0)]
    to = [(dx, dy) for other, dx, dy in ref.neighbours(octagon(1, 1), 2) if other == octagon(0, 1)]
    assert sorted(to) == [(0, 0), (0, 1)]


def test_drawings_run_both_ways() -> None:
    text = "B . W\n . . .\n. . .\n W . .\n. . .\n . . B"
    board, size = ref.board_from_text(text)
    assert (board, size) == ([1, 0, 2, *[0] * 6, 0, 0, 0, 2, 0, 0, 0, 0, 1], 3)
    assert ref.board_to_text(board, size) == text
    with pytest.raises(ValueError, match="gaps"):
        ref.board_from_text("B .\n .\n. .\n . .")


# --- cycle classes --------------------------------------------------------------------------------


def test_hermite_basis_is_canonical() -> None:
    assert ref.hermite_basis([]) == ()
    assert ref.hermite_basis([(0, 0)]) == ()
    assert ref.hermite_basis([(0, -2), (0, 3)]) == ((0, 1),)
    assert ref.hermite_basis([(-2, 4), (3, -6)]) == ((1, -2),)
    assert ref.hermite_basis([(1, -1), (1, 0)]) == ((1, 0), (0, 1))
    assert ref.hermite_basis([(2, 5), (0, 3)]) == ref.hermite_basis([(-2, 1), (2, 2), (4, 1)]) == ((2, 2), (0, 3))


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


@pytest.mark.parametrize(
    ("text", "player"),
    [
        (RING, BLACK),
        (R_HELIX, BLACK),
        (STEEP_R_HELIX, BLACK),
        (BRACELET, WHITE),
        (L_HELIX, WHITE),
        (FLAT_L_HELIX, WHITE),
    ],
)
def test_a_path_wins_for_its_side_only(text: str, player: int) -> None:
    black, size = ref.board_from_text(text)
    white, _ = ref.board_from_text(recoloured(text))
    assert ref.winner(black, size) == (BLACK if player == BLACK else None)
    assert ref.winner(white, size) == (WHITE if player == WHITE else None)


@pytest.mark.parametrize("text", [LOOP_AROUND_A_CELL, SEAM_WITHOUT_A_CYCLE])
def test_paths_that_do_not_wind_win_for_nobody(text: str) -> None:
    for drawing in (text, recoloured(text)):
        assert ref.winner(*ref.board_from_text(drawing)) is None


def test_a_path_needs_every_cell() -> None:
    for text in (RING, R_HELIX, STEEP_R_HELIX):
        board, size = ref.board_from_text(text)
        ends = [i for i, stone in enumerate(board) if stone]
        loose = [i for i in ends if ref.winner([0 if j == i else s for j, s in enumerate(board)], size) == BLACK]
        # Only the ring's one square is a detour past two octagons that touch anyway.
        assert [ref.cell_of(i, size) for i in loose] == ([square(1, 0)] if text is RING else [])


def test_figure_6_an_l_helix_and_a_bracelet_contain_a_ring() -> None:
    """Two paths that win nothing for Black make, where they cross, a ring that uses some cells twice."""
    size = 4
    helix = [octagon(1, 2), square(1, 1), octagon(2, 1), square(2, 0), octagon(3, 0)]
    helix += [square(3, 3), octagon(0, 3), square(0, 2)]
    bracelet = [octagon(1, 2), octagon(1, 3), octagon(1, 0), octagon(1, 1)]
    assert path_class(helix, size) == (-1, 1)
    assert path_class(bracelet, size) == (1, 0)
    assert path_class(helix + bracelet, size) == (0, 1)
    assert Counter(helix + bracelet)[octagon(1, 2)] == 2
    assert not ref.wins(BLACK, helix, size)
    assert not ref.wins(BLACK, bracelet, size)
    board, _ = ref.board_from_text(FIGURE_6)
    assert set(ref.cells_of_player(board, BLACK, size)) == set(helix + bracelet)
    assert ref.winner(board, size) == BLACK
    assert ref.winner(*ref.board_from_text(recoloured(FIGURE_6))) == WHITE


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


def test_two_octagons_wind_at_size_two() -> None:
    column = "B .\n . .\nB .\n . ."
    row = "B B\n . .\n. .\n . ."
    diagonal = "B .\n B .\n. B\n . B"
    half_diagonal = "B .\n B .\n. B\n . ."
    assert lattices(column) == [((0, 1),)]
    assert lattices(row) == [((1, 0),)]
    assert lattices(diagonal) == [((1, 1),)]
    assert lattices(half_diagonal) == [()]
    assert ref.winner(*ref.board_from_text(column)) == BLACK
    assert ref.winner(*ref.board_from_text(row)) is None
    assert ref.winner(*ref.board_from_text(recoloured(row))) == WHITE


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


# --- whole boards ---------------------------------------------------------------------------------


def winners_of_full_board(board: list[int], size: int) -> list[int]:
    return [p for p in (BLACK, WHITE) if ref.wins(p, ref.cells_of_player(board, p, size), size)]


def test_every_full_board_of_size_two_has_exactly_one_winner() -> None:
    boards = list(ref.full_boards(2))
    assert len({tuple(board) for board in boards}) == 2**8
    won = [winners_of_full_board(board, 2) for board in boards]
    assert all(len(one) == 1 for one in won)
    # Quarter turns with colours exchanged pair Black's boards with White's.
    assert won.count([BLACK]) == won.count([WHITE]) == 128


def test_many_full_boards_of_size_three_have_exactly_one_winner() -> None:
    boards = list(ref.full_boards(3, step=23))
    assert len(boards) == 11398
    assert all(len(winners_of_full_board(board, 3)) == 1 for board in boards)


@pytest.mark.parametrize(("size", "count"), [(3, 1500), (4, 1000), (5, 600), (9, 50)])
def test_random_full_boards_have_exactly_one_winner(size: int, count: int) -> None:
    rng = random.Random(100 + size)
    for _ in range(count):
        board = ref.random_full_board(size, rng, black_share=rng.choice([0.4, 0.5, 0.6]))
        assert len(winners_of_full_board(board, size)) == 1, ref.board_to_text(board, size)


def test_a_board_of_the_wrong_length_is_named() -> None:
    with pytest.raises(ValueError, match="expected a board of 18 cells for size 3, got 8"):
        ref.winner([0] * 8, 3)


# --- play -----------------------------------------------------------------------------------------


def test_play_stops_at_the_winning_move() -> None:
    # Black takes octagons 0, 3, 6, the left column of size 3; White scatters.
    assert ref.play([0, 1, 3, 8, 6], 3) == (BLACK, 5)
    assert ref.play([0, 1, 3, 8, 6, 2, 2, 99], 3) == (BLACK, 5)
    assert ref.play([0, 1, 3, 8], 3) == (None, 4)
    assert ref.play([], 3) == (None, 0)
    # White takes octagons 3, 4, 5, the middle row.
    assert ref.play([0, 3, 8, 4, 17, 5], 3) == (WHITE, 6)


def test_completing_the_opponents_path_wins_for_nobody() -> None:
    # Black closes the bracelet 0, 1, 2 at ply 5 and plays on, to the ring 1, 4, 7 at ply 9.
    assert ref.play([0, 3, 1, 9, 2], 3) == (None, 5)
    assert ref.play([0, 3, 1, 9, 2, 10, 4, 11, 7], 3) == (BLACK, 9)


def test_play_refuses_taken_and_unknown_cells() -> None:
    with pytest.raises(ValueError, match="free cell at ply 3, got 1"):
        ref.play([0, 1, 1], 2)
    with pytest.raises(ValueError, match=r"in 0\.\.7, got 8"):
        ref.play([0, 8], 2)


def test_the_winner_of_a_game_is_the_winner_of_its_last_board_and_of_none_before() -> None:
    """`play` asks only about the mover; its last board must agree, and the one before be won by nobody."""
    rng = random.Random(5)
    for size in (2, 3, 4):
        for _ in range(60):
            moves = rng.sample(range(2 * size * size), 2 * size * size)
            player, ply = ref.play(moves, size)
            board = [0] * len(moves)
            for i, move in enumerate(moves[: ply - 1]):
                board[move] = 1 + i % 2
            assert ref.winner(board, size) is None
            board[moves[ply - 1]] = 1 + (ply - 1) % 2
            assert player is not None
            assert ref.winner(board, size) == player


def test_random_play_is_won_about_half_the_time_by_each_side() -> None:
    rng = random.Random(11)
    games = 600
    won = Counter(ref.play(rng.sample(range(18), 18), 3)[0] for _ in range(games))
    assert set(won) == {BLACK, WHITE}
    assert 0.42 < won[BLACK] / games < 0.62


def test_min_stones_to_win() -> None:
    assert [ref.min_stones_to_win([0] * 8, player, 2) for player in (BLACK, WHITE)] == [2, 2]
    assert [ref.min_stones_to_win([0] * 18, player, 3) for player in (BLACK, WHITE)] == [3, 3]
    board, size = ref.board_from_text("""
        B W .
         . . .
        B . .
         . . .
        W . .
         . . .
    """)
    # Black goes round the stone at (2, 0) by a square, an octagon and a square; White fills the lowest row.
    assert ref.min_stones_to_win(board, BLACK, size) == 3
    assert ref.min_stones_to_win(board, WHITE, size) == 2


def test_min_stones_to_win_is_none_without_a_way_and_nought_after_a_win() -> None:
    board, size = ref.board_from_text("W W\n . .\n. .\n . .")
    assert ref.min_stones_to_win(board, BLACK, size) is None
    assert ref.min_stones_to_win(board, WHITE, size) == 0


# --- symmetries -----------------------------------------------------------------------------------


def test_symmetries_move_squares_with_their_octagons() -> None:
    # The square at the lower right of octagon (0, 0) goes to its upper left, by a quarter to its lower left.
    assert ref.cell_of(ref.rotate180(ref.index_of(square(0, 0), 4), 4), 4) == square(3, 3)
    assert ref.cell_of(ref.rotate90(ref.index_of(square(0, 0), 4), 4), 4) == square(0, 3)
    assert ref.cell_of(ref.rotate90(ref.index_of(octagon(0, 1), 4), 4), 4) == octagon(1, 0)
    assert ref.cell_of(ref.translate(ref.index_of(square(3, 2), 4), 1, 2, 4), 4) == square(0, 0)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_symmetries_keep_edges_and_compose(size: int) -> None:
    def indexed_edges(move: Callable[[int], int]) -> Counter[tuple[int, int]]:
        return Counter(
            (move(i), move(ref.index_of(other, size)))
            for i in range(2 * size * size)
            for other, _, _ in ref.neighbours(ref.cell_of(i, size), size)
        )

    edges = indexed_edges(lambda i: i)
    assert indexed_edges(partial(ref.translate, dr=1, dc=0, size=size)) == edges
    assert indexed_edges(partial(ref.translate, dr=0, dc=-1, size=size)) == edges
    assert indexed_edges(partial(ref.rotate90, size=size)) == edges
    assert indexed_edges(partial(ref.rotate180, size=size)) == edges
    assert indexed_edges(partial(ref.mirror, size=size)) == edges
    for i in range(2 * size * size):
        assert ref.rotate90(ref.rotate90(i, size), size) == ref.rotate180(i, size)
        assert ref.rotate180(ref.rotate180(i, size), size) == i


@pytest.mark.parametrize("size", [2, 3, 4])
def test_symmetries_map_wins_to_wins(size: int) -> None:
    rng = random.Random(size)
    seen = set()
    for _ in range(80):
        board = rng.choices([0, 1, 2], weights=[1, 3, 3], k=2 * size * size)
        won = ref.winner(board, size)
        seen.add(won)
        dr, dc = rng.randrange(size), rng.randrange(size)
        assert ref.winner(ref.move_board(board, partial(ref.translate, dr=dr, dc=dc, size=size)), size) == won
        assert ref.winner(ref.move_board(board, partial(ref.rotate180, size=size)), size) == won
        turned = ref.move_board(board, partial(ref.rotate90, size=size), swap_colours=True)
        assert ref.winner(turned, size) == (None if won is None else 1 - won)
    assert seen == {None, BLACK, WHITE}


@pytest.mark.parametrize(("text", "turned"), [(RING, ((1, 0),)), (BRACELET, ((0, 1),)), (R_HELIX, ((1, -1),))])
def test_a_quarter_turn_exchanges_the_goals(text: str, turned: Lattice) -> None:
    board, size = ref.board_from_text(text)
    assert lattices(ref.board_to_text(ref.move_board(board, partial(ref.rotate90, size=size)), size)) == [turned]


def test_a_reflection_is_no_symmetry() -> None:
    """It keeps the ring, so colours must not be exchanged, and turns the r-helix over, so they must be."""

    def mirrored(text: str, swap_colours: bool) -> int | None:
        board, size = ref.board_from_text(text)
        return ref.winner(ref.move_board(board, partial(ref.mirror, size=size), swap_colours), size)

    assert mirrored(RING, swap_colours=False) == BLACK
    assert mirrored(R_HELIX, swap_colours=False) is None
    assert mirrored(RING, swap_colours=True) is None
    assert mirrored(R_HELIX, swap_colours=True) == WHITE

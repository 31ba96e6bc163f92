"""A slow, plain reference of Torus (Mark Steere), to test the fast rules against.

It shares no code and no table with the rules it checks, and looks at the whole board after every move.

The tiling is laid in the plane, x to the right and y downward, in steps of half an octagon: octagon (r, c)
has its centre at (2c, 2r), square (r, c) at (2c + 1, 2r + 1), and the torus of `size` n is the plane modulo
2n both ways. A drawing puts one character at each centre, so a text *is* the plane (n = 2):

    x:  0123
    y=0 O O      octagons (0,0) (0,1)
    y=1  s s     squares  (0,0) (0,1)
    y=2 O O      octagons (1,0) (1,1)
    y=3  s s     squares  (1,0) (1,1)

The right seam lies between x = 2n - 1 and x = 2n, the bottom seam between y = 2n - 1 and y = 2n. A closed
path that crosses them h and v times in all (rightward and downward positive) has the class (h, v).

Players are 0 (Black) and 1 (White). A board holds 0 free, 1 Black, 2 White, by cell index: octagon (r, c) is
r*n + c, square (r, c) is n*n + r*n + c.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from itertools import combinations
from typing import Literal, NamedTuple

from groups import groups

BLACK = 0
WHITE = 1

Board = Sequence[int]


class Cell(NamedTuple):
    """One cell of the tiling; `row` and `col` in 0..n-1."""

    kind: Literal["octagon", "square"]
    row: int
    col: int


class Edge(NamedTuple):
    """A step to `cell`: `dx` is +1 if it crosses the right seam rightward, `dy` if the bottom downward."""

    cell: Cell
    dx: int
    dy: int


def _centre(cell: Cell) -> tuple[int, int]:
    half = 0 if cell.kind == "octagon" else 1
    return 2 * cell.col + half, 2 * cell.row + half


def _at(x: int, y: int, size: int) -> Edge:
    """The cell centred at (x, y) of the plane, and the seams between it and the first copy of the torus."""
    dx, x = divmod(x, 2 * size)
    dy, y = divmod(y, 2 * size)
    if x % 2 != y % 2:
        raise ValueError(f"expected the centre of a cell (x and y both even or both odd), got ({x}, {y})")
    return Edge(Cell("square" if x % 2 else "octagon", y // 2, x // 2), dx, dy)


@cache
def neighbours(cell: Cell, size: int) -> tuple[Edge, ...]:
    """The edges of `cell`: 4 of a square, to octagons; 8 of an octagon, to 4 octagons and 4 squares.

    At n = 2 an octagon meets each of two others across two edges; both are listed, with their own windings.
    """
    x, y = _centre(cell)
    steps = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    if cell.kind == "octagon":
        steps += [(2, 0), (-2, 0), (0, 2), (0, -2)]
    return tuple(_at(x + i, y + j, size) for i, j in steps)


def cell_of(index: int, size: int) -> Cell:
    """The cell of an index in 0..2*n*n-1."""
    if not 0 <= index < 2 * size * size:
        raise ValueError(f"expected a cell index in 0..{2 * size * size - 1}, got {index}")
    square, place = divmod(index, size * size)
    return Cell("square" if square else "octagon", *divmod(place, size))


def index_of(cell: Cell, size: int) -> int:
    """The index of a cell; the inverse of `cell_of`."""
    return (size * size if cell.kind == "square" else 0) + cell.row * size + cell.col


def closed_paths(group: Collection[Cell], size: int) -> set[tuple[int, int]]:
    """Classes (h, v) other than (0, 0) that span, with it, those of all closed paths in one connected group.

    A breadth-first search places every cell in a copy of the torus; an edge that disagrees with the places of
    its ends closes a path whose class is the difference, and these classes span all others.
    """
    start = next(iter(group))
    place, queue, closed = {start: (0, 0)}, deque([start]), set()
    while queue:
        cell = queue.popleft()
        x, y = place[cell]
        for other, dx, dy in neighbours(cell, size):
            if other in place:
                closed.add((x + dx - place[other][0], y + dy - place[other][1]))
            elif other in group:
                place[other] = (x + dx, y + dy)
                queue.append(other)
    return closed - {(0, 0)}


def owner_of_class(h: int, v: int) -> int:
    """The player for whom a closed path of class (h, v) wins: the table of the rules."""
    if h == 0 and v == 0:
        raise ValueError("expected a class other than (0, 0), which wins for nobody")
    if h == 0:  # ring
        return BLACK
    if v == 0:  # bracelet
        return WHITE
    return BLACK if h * v > 0 else WHITE  # r-helix, l-helix


def wins(player: int, cells_of_player: Iterable[Cell], size: int) -> bool:
    """Whether some group of the player's cells holds a closed path that wins for that player.

    Where paths of two directions meet, some of those that they span win for either player.
    """
    for group in groups(cells_of_player, lambda cell, left: left & {edge.cell for edge in neighbours(cell, size)}):
        classes = closed_paths(set(group), size)
        crossing = any(a * d != b * c for (a, b), (c, d) in combinations(classes, 2))
        if crossing or any(owner_of_class(*one) == player for one in classes):
            return True
    return False


def cells_of_player(board: Board, player: int, size: int) -> list[Cell]:
    """The cells that hold the player's stones."""
    if len(board) != 2 * size * size:
        raise ValueError(f"expected a board of {2 * size * size} cells for size {size}, got {len(board)}")
    return [cell_of(i, size) for i, stone in enumerate(board) if stone == player + 1]


def winner(board: Board, size: int) -> int | None:
    """The player who has a winning path on the board, if one has; both at once is impossible and raises."""
    won = [p for p in (BLACK, WHITE) if wins(p, cells_of_player(board, p, size), size)]
    if len(won) > 1:
        raise AssertionError(f"expected at most one winner, got both: {board}")
    return won[0] if won else None


def play(moves: Iterable[int], size: int) -> tuple[int | None, int]:
    """Play cell indices in turn, Black first, until a move wins or the moves run out; the rest is ignored.

    Returns:
        The winner, or None, and the number of moves played, the winning one included.
    """
    stones: tuple[set[Cell], set[Cell]] = (set(), set())
    ply = 0
    for ply, move in enumerate(moves, start=1):
        mover = (ply - 1) % 2
        cell = cell_of(move, size)
        if cell in stones[BLACK] or cell in stones[WHITE]:
            raise ValueError(f"expected a free cell at ply {ply}, got {move}, which is taken")
        stones[mover].add(cell)
        if wins(mover, stones[mover], size):
            return mover, ply
    return None, ply


def min_stones_to_win(board: Board, player: int, size: int) -> int | None:
    """The fewest further stones that win for the player if the opponent only passes; None if no number does.

    Tries every set of free cells, smaller ones first: meant for n = 2 and 3.
    """
    own = cells_of_player(board, player, size)
    free = [cell_of(i, size) for i, stone in enumerate(board) if stone == 0]
    if not wins(player, own + free, size):
        return None
    for count in range(len(free)):
        if any(wins(player, [*own, *more], size) for more in combinations(free, count)):
            return count
    return len(free)


def _moved(index: int, size: int, rule: Callable[[int, int], tuple[int, int]]) -> int:
    return index_of(_at(*rule(*_centre(cell_of(index, size))), size).cell, size)


def translate(cell: int, dr: int, dc: int, size: int) -> int:
    """The index that `cell` takes when the board moves `dr` octagons down, `dc` right: keeps both goals."""
    return _moved(cell, size, lambda x, y: (x + 2 * dc, y + 2 * dr))


def rotate90(cell: int, size: int) -> int:
    """The index that `cell` takes in a quarter turn clockwise about octagon (0, 0): exchanges the goals.

    A class (h, v) becomes (-v, h).
    """
    return _moved(cell, size, lambda x, y: (-y, x))


def move_board(board: Board, move: Callable[[int], int], swap_colours: bool = False) -> list[int]:
    """The board after every cell index i has become `move(i)`, with colours exchanged if `swap_colours`."""
    moved = [-1] * len(board)
    for i, stone in enumerate(board):
        moved[move(i)] = 3 - stone if swap_colours and stone else stone
    if -1 in moved:
        raise ValueError("expected `move` to permute the cell indices, but it sends two cells to one")
    return moved


_MARKS = ".BW"


def board_from_text(text: str) -> tuple[list[int], int]:
    """The board and its size from a drawing: `.` free, `B` Black, `W` White; blank lines and indent ignored.

    Lines of octagons and of squares alternate, n of each. Octagons stand at columns 0, 2, 4 and so on of
    their line, squares at 1, 3, 5 and so on.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    indent = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    size = len(lines) // 2
    board = [-1] * (2 * size * size)
    for y, line in enumerate(lines):
        for x, mark in enumerate(line[indent:]):
            if mark == " ":
                continue
            if mark not in _MARKS or x >= 2 * size or y >= 2 * size:
                raise ValueError(f"expected {size} marks of '{_MARKS}' on line {y}, got {line!r}")
            board[index_of(_at(x, y, size).cell, size)] = _MARKS.index(mark)
    if not board or -1 in board:
        raise ValueError(f"expected {2 * size} lines of {size} marks, got a drawing with gaps:\n{text}")
    return board, size


def position_from_text(text: str, mover: str) -> str:
    """Return a drawing with the player to move, `b` or `w`, as the game writes positions."""
    board, size = board_from_text(text)
    rows = ["".join(".xo"[stone] for stone in board[i : i + size]) for i in range(0, len(board), size)]
    return f"{'/'.join(rows[:size])} {'/'.join(rows[size:])} {mover}"

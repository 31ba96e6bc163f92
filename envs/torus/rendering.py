"""Pictures of a Torus board: drawn, as text, and the closed path that won. Game by Mark Steere.

A board is given as its cells by index, 0 free, 1 Black, 2 White (see `geometry` for the indices). A path is
a list of steps (cell, right, down): the cell, and how often the path has wound to the right and downward when
it gets there; this tells on which copy of the board a step lies when the torus is unrolled on the plane. The
last step of a closed path is its first cell again, with the windings (h, v) of the whole path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.envs.core.drawing import (
    Circle,
    Inset,
    Picture,
    Point,
    Polygon,
    Polyline,
    Rectangle,
    Shape,
    Text,
    mix,
)

from . import rules
from .geometry import MAX_SIZE, MIN_SIZE, Edge, neighbours, num_cells

__all__ = ["Cells", "PathName", "Step", "colour", "draw", "spot", "text", "winning_class", "winning_path"]

Cells: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
Step: TypeAlias = tuple[int, int, int]
PathName: TypeAlias = Literal["ring", "bracelet", "r-helix", "l-helix"]


def _checked(cells: Cells, size: int) -> list[int]:
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise ValueError(f"expected size from {MIN_SIZE} to {MAX_SIZE}, got {size}")
    board = np.asarray(cells)
    if board.shape != (num_cells(size),):
        raise ValueError(
            f"cells must have shape [2 * size**2] = ({num_cells(size)},), got {board.shape}; "
            "did you pass a batch, or another size?"
        )
    values: list[int] = board.tolist()
    if board.dtype.kind not in "iu" or not 0 <= min(values) <= max(values) <= 2:
        found = sorted(set(values))
        raise ValueError(f"cells must be integers 0 (free), 1 (Black) or 2 (White), got {board.dtype} {found}")
    return values


def _check_marks(size: int, last_move: int | None, path: Sequence[Step]) -> None:
    for cell in [*([] if last_move is None else [last_move]), *(step[0] for step in path)]:
        if not 0 <= cell < num_cells(size):
            raise ValueError(f"expected a cell from 0 to {num_cells(size) - 1} (size {size}), got {cell}")


# ---------------------------------------------------------------- drawn
#
# In units of one cell: octagons lie on the points of the unit lattice and are 1 across; each square lies half
# a unit to the right of and below its octagon. All sides of cells are sqrt(2) - 1 long, so half a square's
# diagonal and half an octagon's side add up to one half.

_STRIP = 0.8  # how much of the other side is repeated around the board
_ORIGIN = 0.5 + _STRIP  # the first octagon's centre, from the left and from above
_HALF_SIDE = (2**0.5 - 1) / 2
_HALF_DIAGONAL = 0.5 - _HALF_SIDE
_QUARTERS = ((1, 0), (0, 1), (-1, 0), (0, -1))
_SQUARE = tuple((x * _HALF_DIAGONAL, y * _HALF_DIAGONAL) for x, y in _QUARTERS)
_OCTAGON = tuple((x / 2 - y * end, y / 2 + x * end) for x, y in _QUARTERS for end in (-_HALF_SIDE, _HALF_SIDE))

_PAPER, _INK = "#fffdf8", "#5b5348"
_FILL = ("#ead9b8", "#25282d", "#ffffff")  # free, Black, White
_FREE_SQUARE = "#e0cba3"
_EDGE = ("#b9a37b", "#70757d", "#6b6459")
_EDGE_WIDTH = (0.03, 0.05, 0.05)
_PATH = "#d55e00"  # vermillion: told from black, white and sand in every kind of colour vision
_MARK = ("#000000", "#6fc3f2", "#0072b2")  # the last move, on Black and on White
_FADED, _FADE = "#efe9de", 0.6  # the colour that the strip's colours come near, and how near


def draw(
    cells: Cells,
    *,
    size: int,
    last_move: int | None = None,
    path: Sequence[Step] = (),
    title: str = "",
    labels: bool = True,
    fills: Mapping[int, str] | None = None,
    above: Sequence[Shape] = (),
    side: float = 400.0,
) -> Picture:
    """One board, and around it a strip that repeats the other side's cells in pale colours.

    A dashed line is the seam where opposite sides of the board meet; each cell lies once inside it. Columns
    are lettered and rows numbered as in the names of moves.

    Args:
        cells: [2 * size**2] integers by cell index, 0 free, 1 Black, 2 White.
        size: octagons in a row.
        last_move: a cell to mark with a ring.
        path: steps of a path to draw through the cells, as `winning_path` gives them.
        title: a line above the board, such as "Black wins by a ring, 61 plies".
        labels: whether to write the letters and numbers.
        fills: colours of cells that are to have other than the usual ones.
        above: shapes to draw over the cells, in their units (see `spot`).
        side: of the board in units of the picture, about; more on large boards.

    Raises:
        ValueError: cells of another shape or with other values, or a mark off the board.
    """
    board = _checked(cells, size)
    _check_marks(size, last_move, path)
    shapes = [*_draw_cells(board, size, fills or {}), *_draw_seam(size), *_draw_path(path, size)]
    if last_move is not None:
        shapes += _draw_mark(last_move, board[last_move], size)
    units = size + 2 * _STRIP
    scale = side * max(1 / units, 0.075)
    frame = Rectangle(0, 0, units, units, None, _pale(_INK, False), 0.05)
    inset = Picture(units, units, _PAPER, (*shapes, *above, frame))

    side, margin = units * scale, 12.0
    left, top = (26.0, 26.0) if labels else (margin, margin)
    top += 28 if title else 0
    around: list[Shape] = [Inset(left, top, inset, scale)]
    if title:
        font = min(17.0, (side + left) / (0.56 * len(title)))  # letters are about half as wide as high
        around.append(Text(left + side / 2, 27, title, font, _INK, "middle", bold=True))
    for i in range(size if labels else 0):
        at = (_ORIGIN + i) * scale
        around.append(Text(left + at, top - 8, chr(ord("a") + i), 14, _INK, "middle"))
        around.append(Text(left - 7, top + at + 5, str(i + 1), 14, _INK, "end"))
    stones = sum(1 for owner in board if owner)
    spoken = title or f"Torus, {size} x {size} octagons and squares, stones placed: {stones}"
    return Picture(left + side + margin, top + side + margin, _PAPER, tuple(around), spoken)


def spot(cell: int, size: int) -> Point:
    """The centre of a cell on the drawn board, in cells: octagons are 1 across."""
    square, place = divmod(cell, size * size)
    return _ORIGIN + place % size + square / 2, _ORIGIN + place // size + square / 2


def _in_sight(point: Point, size: int) -> bool:
    """Whether any part of a cell with this centre is."""
    return all(-0.5 < at < size + 2 * _STRIP + 0.5 for at in point)


def _copies(cell: int, size: int) -> Iterator[tuple[Point, bool]]:
    """The centres of all copies of a cell that are in sight, each with whether it is the one on the board."""
    x, y = spot(cell, size)
    for right, down in product((-1, 0, 1), repeat=2):
        point = x + right * size, y + down * size
        if _in_sight(point, size):
            yield point, right == down == 0


def _pale(colour: str, inside: bool) -> str:
    return colour if inside else mix(colour, _FADED, _FADE)


def _outline(cell: int, centre: Point, size: int) -> tuple[Point, ...]:
    x, y = centre
    return tuple((x + dx, y + dy) for dx, dy in (_OCTAGON if cell < size * size else _SQUARE))


def _draw_cells(board: Sequence[int], size: int, fills: Mapping[int, str]) -> Iterator[Shape]:
    """All cells: the repeated ones first, and free cells before stones, whose edges are darker."""
    seen = [(inside, owner, cell, centre) for cell, owner in enumerate(board) for centre, inside in _copies(cell, size)]
    for inside, owner, cell, centre in sorted(seen):
        fill = fills.get(cell, colour(cell, owner, size))
        edge = _pale(_EDGE[owner], inside)
        yield Polygon(_outline(cell, centre, size), _pale(fill, inside), edge, _EDGE_WIDTH[owner])


def colour(cell: int, owner: int, size: int) -> str:
    """Of a cell that nobody owns (0), or Black (1) or White (2)."""
    return _FREE_SQUARE if owner == 0 and cell >= size * size else _FILL[owner]


def _draw_seam(size: int) -> Iterator[Shape]:
    """The border of the board along edges of cells; its lower and right sides repeat the upper and left ones.

    Left of and above the board it leaves out the squares, which belong to the other end of the row.
    """
    steps = ((-_HALF_SIDE, -0.5), (_HALF_SIDE, -0.5), (0.5, -_HALF_SIDE))
    top = [(_ORIGIN + i + along, _ORIGIN + across) for i in range(size) for along, across in steps]
    left = [(y, x) for x, y in top]
    bottom = [(x, y + size) for x, y in top]
    right = [(x + size, y) for x, y in left]
    around = (*reversed(left), *top, *right[1:], *reversed(bottom))
    yield Polyline(around, _PAPER, 0.045)
    yield Polyline(around, _INK, 0.045, dash=(0.1, 0.1))


def _draw_path(path: Sequence[Step], size: int) -> Iterator[Shape]:
    """The edges of the path's cells, and a line through their centres, wherever they are in sight."""
    for cell in sorted({step[0] for step in path}):
        for centre, inside in _copies(cell, size):
            yield Polygon(_outline(cell, centre, size), None, _pale(_PATH, inside), 0.07)
    steps = {
        (cell, other, right - from_right, down - from_down)
        for (cell, from_right, from_down), (other, right, down) in pairwise(path)
    }
    lines: list[tuple[bool, tuple[Point, Point]]] = []
    for (cell, other, right, down), copy in product(steps, product((-1, 0, 1), repeat=2)):
        (x0, y0), (x1, y1) = spot(cell, size), spot(other, size)
        start = x0 + copy[0] * size, y0 + copy[1] * size
        end = x1 + (copy[0] + right) * size, y1 + (copy[1] + down) * size
        if _in_sight(start, size) or _in_sight(end, size):
            inside = copy in (
                (0, 0),
                (-right, -down),
            )  # a line through the seam is drawn in full on both sides
            lines.append((inside, (start, end)))
    lines.sort()
    for shown in (False, True):
        for colour, width in ((_PAPER, 0.23), (_PATH, 0.15)):
            for inside, ends in lines:
                if inside == shown:
                    yield Polyline(ends, _pale(colour, inside), width)


def _draw_mark(cell: int, owner: int, size: int) -> Iterator[Shape]:
    radius = 0.17 if cell < size * size else 0.12
    for (x, y), inside in _copies(cell, size):
        yield Circle(x, y, radius, _pale(_FILL[owner], inside), _pale(_MARK[owner], inside), 0.07)


# ---------------------------------------------------------------- as text


def text(
    cells: Cells,
    *,
    size: int,
    last_move: int | None = None,
    path: Sequence[Step] = (),
    colour: bool = False,
) -> str:
    """One board in ASCII: rows of octagons, and between them, half a cell to the right, rows of squares.

    `x` is Black, `o` White, `.` a free octagon, `,` a free square; the path's cells are capitals, the last
    move stands in brackets. With `colour` a terminal shows the path in bold yellow and free cells dimmed.
    """
    board = _checked(cells, size)
    _check_marks(size, last_move, path)
    ways = {step[0] for step in path}

    def sign(cell: int) -> str:
        square, owner = cell >= size * size, board[cell]
        shown = (",xo" if square else ".xo")[owner]
        style = "2" if owner == 0 else ""
        if cell in ways:
            shown, style = shown.upper(), "1;33"
        if colour and style:
            shown = f"\x1b[{style}m{shown}\x1b[0m"
        return f"[{shown}]" if cell == last_move else f" {shown} "

    lines = ["   " + " ".join(f" {chr(ord('a') + col)} " for col in range(size))]
    for row in range(size):
        octagons = range(row * size, (row + 1) * size)
        lines.append(f"{row + 1:2} " + " ".join(map(sign, octagons)))
        lines.append("     " + " ".join(sign(size * size + cell) for cell in octagons))
    return "\n".join(line.rstrip() for line in lines)


# ---------------------------------------------------------------- the closed path that won


def winning_class(path: Sequence[Step]) -> PathName:
    """What a closed path is called in the rules, by the windings (h, v) of its last step.

    Raises:
        ValueError: the path is not closed, or closed without winding around the torus.
    """
    if not path or path[0] != (path[-1][0], 0, 0):
        raise ValueError("expected a path from (cell, 0, 0) to the same cell, as winning_path gives it")
    _, right, down = path[-1]
    if right == down == 0:
        raise ValueError("expected a path around the torus, got one that can be drawn tight to a point")
    if right == 0:
        return "ring"
    if down == 0:
        return "bracelet"
    return "r-helix" if right * down > 0 else "l-helix"


def _wins(right: int, down: int, winner: int) -> bool:
    return bool(rules.goal(right, down, winner + 1, rules.choose))


def winning_path(cells: Cells, *, size: int, winner: int) -> list[Step]:
    """A closed path, of as few steps as there is, that wins for `winner` (0 Black, 1 White).

    A cell may appear more than once, on different copies of the board (figure 6 of the rule sheet). Rings
    and r-helices are given downward, bracelets and l-helices to the right. Made for pictures: a search in
    plain Python, some milliseconds at size 8.

    Raises:
        ValueError: the winner has no such path.
    """
    board = _checked(cells, size)
    if winner not in (0, 1):
        raise ValueError(f"expected winner 0 (Black) or 1 (White), got {winner}")
    ours = _winning_groups(board, size, winner)
    if not ours:
        raise ValueError(f"{('Black', 'White')[winner]} has no closed path that wins on this board")
    edges = [[e for e in around if e.cell in ours] for around in neighbours(size)]
    # A winning path of Black crosses the bottom seam, one of White the right seam: start only there.
    axis = 2 if winner == 0 else 1
    best: list[Step] = []
    for start in sorted(ours):
        if any(edge[axis] > 0 for edge in edges[start]):
            found = _closed_path(edges, start, winner, len(best) - 2 if best else None)
            best = found or best
    right, down = best[-1][1:]
    if (right, down)[axis - 1] < 0:
        best = [(cell, x - right, y - down) for cell, x, y in reversed(best)]
    return best


def _closed_path(edges: Sequence[Sequence[Edge]], start: int, winner: int, limit: int | None) -> list[Step]:
    """A shortest winning path through `start` of at most `limit` steps, breadth first; empty if none is.

    Without a limit there has to be one: nothing else ends the search.
    """
    first = (start, 0, 0)
    came_from: dict[Step, Step] = {first: first}
    front, steps = [first], 0
    while front and (limit is None or steps < limit):
        ahead: list[Step] = []
        steps += 1
        for here in front:
            cell, x, y = here
            for other, right, down in edges[cell]:
                there = (other, x + right, y + down)
                if there in came_from:
                    continue
                came_from[there] = here
                if other == start and _wins(there[1], there[2], winner):
                    path = [there]
                    while path[-1] != first:
                        path.append(came_from[path[-1]])
                    return path[::-1]
                ahead.append(there)
        front = ahead
    return []


def _winning_groups(board: Sequence[int], size: int, winner: int) -> set[int]:
    """The winner's stones in all groups that hold a winning path.

    Each group is unrolled from one of its stones. An edge that leads to another copy of a stone than the
    unrolled one closes a path; all windings of the group are sums of such paths' windings. Two that are not
    parallel make up every kind of winding.
    """
    table, ours, seen = neighbours(size), set[int](), set[int]()
    for root, owner in enumerate(board):
        if owner != winner + 1 or root in seen:
            continue
        copy, stack, classes = {root: (0, 0)}, [root], set[tuple[int, int]]()
        while stack:
            cell = stack.pop()
            x, y = copy[cell]
            for other, right, down in table[cell]:
                if board[other] != owner:
                    continue
                x1, y1 = copy.setdefault(other, (x + right, y + down))
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
                classes.add((x + right - x1, y + down - y1))
        classes.discard((0, 0))
        if any(_wins(*h, winner) or h[0] * k[1] != h[1] * k[0] for h in classes for k in classes):
            ours |= copy.keys()
    return ours

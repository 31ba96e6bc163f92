"""Finds the stamps that a start of the Toroidal Cup is made of, for `toroidal_cup_starts`.

Flat cells are row * COLS + col; `x` is the column of a stamp's centre, `y` its row; teams are 0 and 1. Orientations
are numbered as in `envs/toroidal_cup/patterns/stamps.py`, but turned by code of their own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cellgames.envs.toroidal_cup.patterns.stamps import STAMPS

ROWS, COLS = 40, 280
Cells = NDArray[np.int64]
Start = tuple[Cells, Cells]
Seen = tuple[str, Hashable]
Points = frozenset[tuple[int, int]]
ALL, FLIPS, UPRIGHT = tuple(range(8)), (0, 2, 4, 6), (0, 6)


class Form(NamedTuple):
    """A stamp in one or more orientations that look alike; its first cell is the uppermost of its first column."""

    stamp: str
    orientation: int  # the least of those that look alike
    weight: int  # how many do
    height: int
    first: tuple[int, int]  # column and row of the first cell, counted from the centre
    size: int  # live cells
    mask: int  # bit 64 * col + row of every cell, counted from the first one


class Shape(NamedTuple):
    """A stamp on the board, by its centre."""

    team: int
    form: Form
    x: int
    y: int


def turned(points: Points, height: int, width: int, orientation: int) -> tuple[Points, int, int]:
    """(row, col) of a stamp's cells, mirrored left to right (4 to 7), then turned clockwise; its height and width."""
    if orientation >= 4:
        points = frozenset((row, width - 1 - col) for row, col in points)
    for _ in range(orientation % 4):
        points, height, width = frozenset((col, height - 1 - row) for row, col in points), width, height
    return points, height, width


@cache
def forms(stamp: str, orientations: tuple[int, ...]) -> tuple[Form, ...]:
    """All that a stamp looks like in these orientations."""
    drawing = STAMPS[stamp]
    points = frozenset((r, c) for r, row in enumerate(drawing) for c, cell in enumerate(row) if cell == "o")
    alike: dict[tuple[Points, int, int], list[int]] = {}
    for orientation in orientations:
        alike.setdefault(turned(points, len(drawing), len(drawing[0]), orientation), []).append(orientation)
    found = []
    for (cells, height, width), same in alike.items():
        col, row = min((c, r) for r, c in cells)
        mask = sum(1 << 64 * (c - col) + r - row for r, c in cells)
        first = (col - width // 2, row - height // 2)
        found.append(Form(stamp, min(same), len(same), height, first, len(cells), mask))
    return tuple(found)


def find(cells: Cells, team: int, looks: Sequence[Form], most: int | None = None) -> list[Shape]:
    """The shapes that a team's cells are made of; with `most`, at most so many, which may overlap."""
    board = np.zeros((COLS, 64), np.bool_)
    board[cells % COLS, cells // COLS] = True
    whole = int.from_bytes(np.packbits(board, bitorder="little").tobytes(), "little")
    shifts = {form: [bit for bit in range(form.mask.bit_length()) if form.mask >> bit & 1] for form in looks if most}

    def cover(left: int, found: tuple[Shape, ...]) -> tuple[Shape, ...] | None:
        if not left:
            return found
        if len(found) == most:
            return None
        start = (left & -left).bit_length() - 1
        around = whole >> start
        for form in looks:
            for shift in shifts.get(form, (0,)):
                first = start - shift
                if ((whole >> first) if shift else around) & form.mask == form.mask:
                    col, row = divmod(first, 64)
                    shape = Shape(team, form, col - form.first[0], row - form.first[1])
                    if (shapes := cover(left & ~(form.mask << first), (*found, shape))) is not None:
                        return shapes
        return None

    shapes = cover(whole, ())
    assert shapes is not None, f"team {team + 1} holds cells that no shapes explain"
    return list(shapes)


def shapes_of(start: Start, looks: Sequence[Form], most: int | None = None) -> list[Shape]:
    """The shapes of both teams (at most `most` of each), from left to right."""
    found = [shape for team, cells in enumerate(start) for shape in find(cells, team, looks, most)]
    return sorted(found, key=lambda shape: shape.x)


def one_team(shapes: Iterable[Shape]) -> tuple[int, ...]:
    """The numbers of the shapes that belong to team 0."""
    return tuple(number for number, shape in enumerate(shapes) if shape.team == 0)


def read_rows(start: Start, stamp: str, count: int, step: int, reach: int) -> Iterator[Seen]:
    for team, side in ((0, -1), (1, 1)):
        shapes = find(start[team], team, forms(stamp, FLIPS))
        assert len(shapes) == count
        off = sorted((side * (shape.x - 140), shape) for shape in shapes)
        for i, (distance, shape) in enumerate(off):
            yield "x", distance - (step * (i + 1) - reach)
            yield "y", shape.y - 20
            yield "orientation", shape.form.orientation


def read_fifths(start: Start, stamp: str) -> Iterator[Seen]:
    shapes = shapes_of(start, forms(stamp, ALL))
    assert len(shapes) == 4
    yield "team 1", one_team(shapes)
    for k, shape in enumerate(shapes, start=1):
        yield "x", shape.x - 56 * k
        yield "y", shape.y - 20
        yield "orientation", shape.form.orientation


def read_multums(start: Start) -> Iterator[Seen]:
    shapes = shapes_of(start, forms("multuminparvo", UPRIGHT), most=4)
    yield "shapes", len(shapes)
    if len(shapes) == 7:  # two of a team in one place
        return
    yield "team 1", one_team(shapes)
    for place, shape in zip((72, 89, 106, 123, 157, 174, 191, 208), shapes, strict=True):
        yield "x", shape.x - place
        yield "y", shape.y - 20
        yield "orientation", shape.form.orientation


def read_quadrants(start: Start, stamps: Sequence[str]) -> Iterator[Seen]:
    shapes = shapes_of(start, [form for stamp in stamps for form in forms(stamp, ALL)])
    counts = []
    for left, top in ((0, 0), (0, 20), (140, 0), (140, 20)):
        inside = [shape for shape in shapes if left <= shape.x < left + 140 and top <= shape.y < top + 20]
        counts.append(m := len(inside))
        for a, shape in enumerate(inside, start=1):
            yield f"x of {m}", shape.x - left - a * (140 // (m + 1))
            yield "y", shape.y - top - 10
            yield "stamp", shape.form.stamp
            yield shape.form.stamp, shape.form.orientation
    few, most = min(counts), max(counts)
    assert counts.count(few) in (2, 4)
    assert counts.count(most) in (2, 4)
    yield "counts", (few, most)
    if few < most:
        yield "pair", tuple(quadrant for quadrant in range(4) if counts[quadrant] == few)
    check_deal([(shape.form.size, shape.team) for shape in shapes])


def check_deal(things: Iterable[tuple[int, int]]) -> None:
    """Things (size, team) are dealt 1, 2, 2, 1, the largest first, those of one size in any order."""
    taken = 0
    for size, alike in groupby(sorted(things, reverse=True), key=lambda thing: thing[0]):
        teams = [team for _, team in alike]
        turns = [(0, 1, 1, 0)[turn % 4] for turn in range(taken, taken + len(teams))]
        assert sum(teams) == sum(turns), f"those of size {size} are not dealt 1, 2, 2, 1"
        taken += len(teams)


def read_time_bombs(start: Start, oscillators: Sequence[str]) -> Iterator[Seen]:
    looks = [form for stamp in oscillators for form in forms(stamp, (0,))]
    shapes = shapes_of(start, [*looks, *forms("timebomb", ALL)])
    bombs = [shape for shape in shapes if shape.form.stamp == "timebomb"]
    guards = [shape for shape in shapes if shape.form.stamp != "timebomb"]
    assert (len(guards), len(bombs)) == (6, 2)
    yield "team 1", one_team(guards)
    yield "team 1's bomb", one_team(bombs)
    for place, shape in zip((31, 62, 93, 155, 186, 217), guards, strict=True):
        yield "x", shape.x - place
        yield "y", shape.y - 20
        yield "stamp", shape.form.stamp
    # Mirrored top to bottom, the drawing turned by 90 degrees is orientation 5, by 270 degrees 7; as it is, 6.
    for place, shape, turn in zip((124, 248), bombs, (1, 3), strict=True):
        mirrored = {0: False, turn: False, 6: True, turn + 4: True}[shape.form.orientation]
        top = shape.y - shape.form.height // 2
        y = ROWS - top - shape.form.height + shape.form.height // 2 if mirrored else shape.y
        yield f"bomb at {place}", (shape.form.orientation % 2, mirrored)
        yield "x", shape.x - place
        yield "y", y - 20

"""What the starts of the Toroidal Cup's patterns look like, read back from their cells.

A reader takes the cells of both teams apart (stamps found by search, lines by counting) and returns what it saw as
pairs (what, value), such as ("x", -3) for a shape 3 columns left of its place; what no value can say it asserts.
Readers share no code with the arrangements, and do not know whether a start was generated or published. Flat cells
are row * COLS + col; teams are 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from toroidal_cup_shapes import (
    COLS,
    ROWS,
    Seen,
    Start,
    check_deal,
    read_fifths,
    read_multums,
    read_quadrants,
    read_rows,
    read_time_bombs,
)

METHUSELAHS = ("bheptomino", "cheptomino", "eheptomino", "piheptomino", "rabbit", "rpentomino")
OSCILLATORS = ("airforce", "koksgalaxy", "dinnertable", "vring64", "harbor")
MOST_GAP = {False: 0.04, True: 0.06}  # in mixed segments


def boards(start: Start) -> NDArray[np.bool_]:
    """bool [2, ROWS, COLS]."""
    board = np.zeros((2, ROWS * COLS), np.bool_)
    for team, cells in enumerate(start):
        board[team, cells] = True
    return board.reshape(2, ROWS, COLS)


def runs(lines: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Begin and end of what lies between lines and the board's edges."""
    cuts = [-1, *lines, size]
    return [(low + 1, high) for low, high in pairwise(cuts) if low + 1 < high]


def gap_range(pieces: Iterable[tuple[float, int]], most: float) -> tuple[float, float]:
    """The gaps up to `most` that leave floor((1 - gap) * length) cells alive in every piece (length, live)."""
    low, high = 0.0, most
    for length, live in pieces:
        low, high = max(low, 1 - (live + 1) / length), min(high, 1 - live / length)
    return low, high


class Segments(NamedTuple):
    """Rows and columns of lines, and what they show between crossings."""

    across: list[int]
    down: list[int]
    counts: list[tuple[int, int, int]]  # length, cells of team 0, cells of team 1, piece by piece
    pure: bool  # the pieces are each of one team, or, where they are mixed, of both alike
    gap: tuple[float, float]  # from, to; the wrong way round where no gap explains all pieces


def segments(start: Start, mixed: bool) -> Segments:
    """Find the lines of a start: they hold all cells, and none on crossings."""
    board = boards(start)
    live: NDArray[np.bool_] = board[0] | board[1]
    across = np.flatnonzero(live.sum(1) > 60).tolist()
    down = np.flatnonzero(live.sum(0) > 12).tolist()
    off = live.copy()
    off[across], off[:, down] = False, False
    assert not off.any(), "cells off the lines"
    assert not live[np.ix_(across, down)].any(), "cells on crossings"
    pieces = [board[:, low:high, col] for col in down for low, high in runs(across, ROWS)]
    pieces += [board[:, row, low:high] for row in across for low, high in runs(down, COLS)]
    counts = [(piece.shape[1], int(piece[0].sum()), int(piece[1].sum())) for piece in pieces]
    if mixed:
        pure = all(a == b for _, a, b in counts)
        gap = gap_range([(length / 2, a) for length, a, _ in counts], MOST_GAP[mixed])
    else:
        pure = all(a == 0 or b == 0 for _, a, b in counts)
        gap = gap_range([(length, a + b) for length, a, b in counts], MOST_GAP[mixed])
    return Segments(across, down, counts, pure, gap)


def read_segments(start: Start, mixed: bool) -> Iterator[Seen]:
    """Where two of three horizontal lines share a row, only the number of lines is seen."""
    across, down, counts, pure, (low, high) = segments(start, mixed)
    if not (pure and low <= high and len(across) in ((1, 2, 3) if mixed else (1, 3))):
        assert len(across) == 2, "a piece holds the wrong number of cells"
        assert 14 in across or 24 in across
        yield "lines", ("two in a row", len(down))
        return
    yield "lines", (len(across), len(down))
    if len(down) == 1:  # the longest pieces, which tell the gap best
        yield "gap", int(2 * (low + high) / MOST_GAP[mixed])
    for lines, size, key in ((across, ROWS, "y"), (down, COLS, "x")):
        for i, line in enumerate(lines):
            yield key, line - ((i + 1) * size // (len(lines) + 1) - 1)
    if not mixed:  # a piece of one cell shows no team where that is a gap; it is among the last that are dealt
        check_deal((length, int(b > 0)) for length, a, b in counts if a + b)


def read_lights(start: Start) -> Iterator[Seen]:
    tops = []
    for cells in start:
        live = boards((cells, cells[:0]))[0]
        strip = np.flatnonzero(live.all(1))
        top, thickness = int(strip[0]), len(strip)
        assert strip.tolist() == list(range(top, top + thickness))
        tops.append((top, thickness))
        blocks = []
        others = [row for row in np.flatnonzero(live.any(1)).tolist() if row not in strip]
        assert len(others) in (2, 4)
        for upper, lower in zip(others[::2], others[1::2], strict=True):
            assert lower == upper + 1
            assert (live[upper] == live[lower]).all()
            cols = np.flatnonzero(live[upper])
            assert (cols[1::2] == cols[::2] + 1).all(), "not blocks of 2 x 2"
            side = "above" if lower < top else "below"
            yield side, top - lower if side == "above" else upper - (top + thickness)
            blocks += [(col, side) for col in cols[::2].tolist()]
        blocks.sort()
        yield "first", blocks[0][0]
        for (col, _), (following, _) in pairwise(blocks):
            yield "step", following - col
        for _, side in blocks:
            yield "side", side
        assert blocks[-1][0] < COLS - 1
        assert blocks[-1][0] + 16 >= COLS - 1, "the lights end early"
    (one, thickness), (two, other) = tops
    assert thickness == other
    yield "thickness", thickness
    yield "upper team", int(one > two) + 1
    for place, top in zip((13, 26), sorted((one, two)), strict=True):
        yield "y", top + thickness // 2 - place


def read_gaussian(start: Start) -> Iterator[Seen]:
    """The clouds' middles, within 5 standard errors at the widest spread; rounding toward zero takes half a cell."""
    assert len(start[0]) == len(start[1])
    assert 560 <= len(start[0]) < 1008
    middles = [float((cells % COLS).mean()) for cells in start]
    yield "density", (len(start[0]) - 560) // 56
    yield "left team", int(middles[0] > middles[1]) + 1
    for place, middle in zip((93, 186), sorted(middles), strict=True):
        assert abs(middle + 0.5 - place) < 5 * 28 / 560**0.5
    for cells in start:
        assert abs(float((cells // COLS).mean()) + 0.5 - 20) < 5 * 13 / 560**0.5
        assert 14 < float((cells % COLS).std()) < 40


def read_uniform(start: Start) -> Iterator[Seen]:
    assert [len(set(cells.tolist())) for cells in start] == [672, 672]
    row, col = np.divmod(np.concatenate(start), COLS)
    yield "more above", bool((row < ROWS // 2).sum() >= 672)
    yield "more left", bool((col < COLS // 2).sum() >= 672)


@cache
def checkerboards() -> dict[tuple[int, int], NDArray[np.bool_]]:
    """Cells of team 1, by the numbers of blocks across and down."""
    row, col = np.indices((ROWS, COLS))
    return {
        (across, down): ((col // (COLS // across) % 2) == (row // (ROWS // down) % 2)).ravel()
        for across, down in product((8, 10, 12, 14, 16), (1, 2, 4))
    }


def read_partition(start: Start) -> Iterator[Seen]:
    one, two = start
    assert len(one) == len(two)
    assert 560 <= len(one) <= 839
    (blocks,) = [key for key, mine in checkerboards().items() if mine[one].all() and not mine[two].any()]
    yield "blocks", blocks
    yield "density", (len(one) - 560) // 56


@cache
def formulas() -> dict[bytes, tuple[str, float, int]]:
    """Name, chance and number of cells of every formula, by its cells; formulas that look alike share an entry."""
    prime = np.array([n in {2, 3, 5, 7} or (n > 1 and all(n % d for d in (2, 3, 5, 7))) for n in range(100)])
    y, x = np.indices((ROWS, COLS))
    moduli = (7, 11, 13, 19, 23, 25, 27, 32, 37, 47, 57, 77, 99)
    entries: dict[bytes, tuple[str, float, int]] = {}
    for kind, value, chosen in (("squares", x**2 & y**2, moduli), ("and", x & y, moduli), ("xor", x ^ y, moduli[6:])):
        for q in chosen:
            cells = np.flatnonzero(prime[value % q])
            name, chance, _ = entries.get(cells.tobytes(), ("", 0.0, 0))
            share = (0.34 if kind == "xor" else 0.33) / len(chosen)
            entries[cells.tobytes()] = (f"{name} {kind} mod {q}".strip(), chance + share, len(cells))
    return entries


def read_math(start: Start) -> Iterator[Seen]:
    cells = np.sort(np.concatenate(start))
    name, _, count = formulas()[cells.tobytes()]
    yield "formula", name
    assert len(start[0]) == sum((0, 1, 1, 0)[turn % 4] == 0 for turn in range(count))


READERS: dict[str, Callable[[Start], Iterator[Seen]]] = {
    "crabdonuts": partial(read_fifths, stamp="crabstretcher"),
    "quadjustyna": partial(read_fifths, stamp="justyna"),
    "randys": partial(read_rows, stamp="rpentomino", count=8, step=15, reach=7),
    "donutpi": partial(read_rows, stamp="piheptomino", count=13, step=10, reach=5),
    "donutmethuselahs": partial(read_quadrants, stamps=METHUSELAHS),
    "donutcore": partial(read_quadrants, stamps=("switchengine",)),
    "donutmultums": read_multums,
    "donuttimebomb": partial(read_time_bombs, oscillators=("quadrupleburloaferimeter",)),
    "donuttimebombredux": partial(read_time_bombs, oscillators=OSCILLATORS),
    "doublegaussian": read_gaussian,
    "donutrandom": read_uniform,
    "donutrandompartition": read_partition,
    "bigsegment": partial(read_segments, mixed=False),
    "randomsegment": partial(read_segments, mixed=True),
    "porchlights": read_lights,
    "donutmath": read_math,
}

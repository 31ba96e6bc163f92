"""The starts of the Toroidal Cup's 16 patterns for two teams, drawn slowly and plainly by the rules of golly.life.

It shares no code with what it checks, only the drawings of stamps. A start is the cells (row, col) of both teams,
before cells that both claim are taken away. `alike` compares many starts with others of the same pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import pairwise, product
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cellgames.envs.toroidal_cup.patterns.stamps import STAMPS

ROWS, COLS = 40, 280
METHUSELAHS = ("bheptomino", "cheptomino", "eheptomino", "piheptomino", "rabbit", "rpentomino")
OSCILLATORS = ("airforce", "koksgalaxy", "dinnertable", "vring64", "harbor")
ALL, FLIPS = tuple(range(8)), (0, 2, 4, 6)

Cells = list[tuple[int, int]]
Start = tuple[set[tuple[int, int]], set[tuple[int, int]]]


def laid(stamp: str, orientation: int, x: int, y: int, rows: int = ROWS, cols: int = COLS) -> Cells:
    """The cells of a stamp about column x and row y, mirrored left to right (4 to 7), then turned clockwise."""
    drawing = list(STAMPS[stamp])
    if orientation >= 4:
        drawing = [line[::-1] for line in drawing]
    for _ in range(orientation % 4):
        drawing = ["".join(column) for column in zip(*drawing[::-1], strict=True)]
    top, left = y - len(drawing) // 2, x - len(drawing[0]) // 2
    marks = [(r, c) for r, line in enumerate(drawing) for c, mark in enumerate(line) if mark == "o"]
    return [((top + r) % rows, (left + c) % cols) for r, c in marks]


def about(random: Random, middle: int, reach: int) -> int:
    return random.randint(middle - reach, middle + reach)


def owned(things: Sequence[Cells], teams: Sequence[int]) -> Start:
    one, two = (
        {cell for thing, team in zip(things, teams, strict=True) if team == own for cell in thing} for own in (0, 1)
    )
    return one, two


def dealt(random: Random, things: list[Cells], sizes: Sequence[int]) -> Start:
    """Deal things 1, 2, 2, 1, 1, 2 and so on, the largest first, those of one size in any order."""
    order = sorted(range(len(things)), key=lambda thing: (-sizes[thing], random.random()))
    return owned([things[thing] for thing in order], [(0, 1, 1, 0)[turn % 4] for turn in range(len(order))])


def shuffled(random: Random, teams: list[int]) -> list[int]:
    return random.sample(teams, len(teams))


def sides(random: Random, stamp: str, count: int, step: int, reach: int, jitter: int) -> Start:
    places = [(side, random.randint(step * i - reach, step * i)) for side in (-1, 1) for i in range(1, count + 1)]
    things = [laid(stamp, random.choice(FLIPS), 140 + side * off, about(random, 20, jitter)) for side, off in places]
    return owned(things, [0] * count + [1] * count)


def fifths(random: Random, stamp: str) -> Start:
    places = (56, 112, 168, 224)
    things = [laid(stamp, random.choice(ALL), about(random, x, 8), about(random, 20, 8)) for x in places]
    return owned(things, shuffled(random, [0, 0, 1, 1]))


def multums(random: Random) -> Start:
    places = [140 + side * 17 * i for side in (-1, 1) for i in (1, 2, 3, 4)]
    flips = [6 if random.random() < 0.25 else 0 for _ in places]
    spots = [(about(random, x, 10), about(random, 20, 8)) for x in places]
    things = [laid("multuminparvo", flip, *spot) for flip, spot in zip(flips, spots, strict=True)]
    return owned(things, shuffled(random, [0] * 4 + [1] * 4))


def quadrants(random: Random, stamps: Sequence[str]) -> Start:
    corners = random.sample([(0, 0), (0, 20), (140, 0), (140, 20)], 4)
    one, other = (random.choice((2, 4, 6)) for _ in range(2))
    things = []
    for (left, top), count in zip(corners, (one, one, other, other), strict=True):
        for i in range(1, count + 1):
            x, y = about(random, left + i * (140 // (count + 1)), 13 - count), about(random, top + 10, 3)
            things.append(laid(random.choice(stamps), random.choice(ALL), x, y))
    return dealt(random, things, list(map(len, things)))


def time_bombs(random: Random, oscillators: Sequence[str]) -> Start:
    guards, bombs = random.choice(([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])), random.choice(([0, 1], [1, 0]))
    guards = shuffled(random, guards) if random.random() < 0.5 else guards
    places = (31, 62, 93, 155, 186, 217)
    things = [laid(random.choice(oscillators), 0, about(random, x, 1), about(random, 20, 1)) for x in places]
    for x, quarters in ((124, 1), (248, 3)):
        cells = laid("timebomb", random.choice((0, quarters)), about(random, x, 1), about(random, 20, 1))
        mirrored = random.random() < 0.5  # its whole layer
        things.append([(39 - row if mirrored else row, col) for row, col in cells])
    return owned(things, [*guards, *bombs])


def pieces(random: Random, across: int, down: int, jitter: int) -> list[Cells]:
    """Lines cut at their crossings, which stay empty."""
    rows = sorted(about(random, i * ROWS // (across + 1) - 1, 5) for i in range(1, across + 1))
    cols = sorted(about(random, i * COLS // (down + 1) - 1, jitter) for i in range(1, down + 1))
    upright = [[(r, col) for r in range(a + 1, b)] for col in cols for a, b in pairwise([-1, *rows, ROWS])]
    return upright + [[(row, c) for c in range(a + 1, b)] for row in rows for a, b in pairwise([-1, *cols, COLS])]


def solid_segments(random: Random) -> Start:
    whole = pieces(random, random.choice((1, 3)), random.choice((1, 3, 5, 7, 9)), 8)
    kept = 1 - random.uniform(0, 0.04)
    return dealt(random, [random.sample(piece, int(kept * len(piece))) for piece in whole], list(map(len, whole)))


def mixed_segments(random: Random) -> Start:
    whole = pieces(random, random.randint(1, 3), random.randint(1, 7), 5)
    kept = (1 - random.uniform(0, 0.06)) / 2
    halves = [(random.sample(piece, 2 * int(kept * len(piece))), int(kept * len(piece))) for piece in whole]
    things = [part for cells, count in halves for part in (cells[:count], cells[count:])]
    return owned(things, [0, 1] * len(halves))


def lights(random: Random) -> Start:
    thickness, strings = random.randint(1, 3), []
    for middle in (13, 26):
        top = about(random, middle, 4) - thickness // 2
        string = [((top + row) % ROWS, col) for row in range(thickness) for col in range(COLS)]
        above, below, x = random.randint(2, 3), random.randint(2, 3), random.randint(4, 12)
        while x < COLS - 1:
            y = top - above - 1 if random.random() < 0.5 else top + thickness + below
            string += [((y + r) % ROWS, x + c) for r in (0, 1) for c in (0, 1)]
            x += random.randint(10, 12) + random.randint(-4, 4)
        strings.append(string)
    return owned(strings, shuffled(random, [0, 1]))


def gaussian(random: Random) -> Start:
    count, wide, high = (
        int(random.uniform(0.10, 0.18) * 11200 / 2),
        280 // random.randint(10, 16),
        40 // random.randint(3, 8),
    )
    clouds = []
    for middle in (93, 186):
        cloud: dict[tuple[int, int], None] = {}
        while len(cloud) < count:
            row, col = int(random.gauss(20, high)), int(random.gauss(middle, wide))  # rounded toward zero
            if 0 <= row < ROWS and 0 <= col < COLS:
                cloud[row, col] = None
        clouds.append(list(cloud))
    return owned(clouds, shuffled(random, [0, 1]))


BOARD = [(row, col) for row in range(ROWS) for col in range(COLS)]


def uniform(random: Random) -> Start:
    cells = random.sample(BOARD, 1344)
    return owned([cells[:672], cells[672:]], [0, 1])


@cache
def zone(wide: int, high: int, team: int) -> Cells:
    return [(r, c) for r, c in BOARD if (r // high + c // wide) % 2 == team]


def partition(random: Random) -> Start:
    wide, high = COLS // random.choice((8, 10, 12, 14, 16)), ROWS // random.choice((1, 2, 4))
    count = int(random.uniform(0.10, 0.15) * 11200 / 2)
    return owned([random.sample(zone(wide, high, team), count) for team in (0, 1)], [0, 1])


@cache
def formula(kind: str, modulus: int) -> Cells:
    value: Callable[[int, int], int]
    value = {"and": lambda x, y: x & y, "xor": lambda x, y: x ^ y, "squares": lambda x, y: x * x & y * y}[kind]
    primes = {n for n in range(2, modulus) if all(n % d for d in range(2, n))}
    return [(y, x) for y, x in BOARD if value(x, y) % modulus in primes]


def math(random: Random) -> Start:
    moduli = (7, 11, 13, 19, 23, 25, 27, 32, 37, 47, 57, 77, 99)
    (kind,) = random.choices(("squares", "and", "xor"), (33, 33, 34))
    cells = formula(kind, random.choice(moduli[6:] if kind == "xor" else moduli))
    return dealt(random, [[cell] for cell in cells], [1] * len(cells))


DRAWS: dict[str, Callable[[Random], Start]] = {
    "crabdonuts": partial(fifths, stamp="crabstretcher"),
    "quadjustyna": partial(fifths, stamp="justyna"),
    "randys": partial(sides, stamp="rpentomino", count=8, step=15, reach=7, jitter=12),
    "donutpi": partial(sides, stamp="piheptomino", count=13, step=10, reach=5, jitter=10),
    "donutmethuselahs": partial(quadrants, stamps=METHUSELAHS),
    "donutcore": partial(quadrants, stamps=("switchengine",)),
    "donutmultums": multums,
    "donuttimebomb": partial(time_bombs, oscillators=("quadrupleburloaferimeter",)),
    "donuttimebombredux": partial(time_bombs, oscillators=OSCILLATORS),
    "doublegaussian": gaussian,
    "donutrandom": uniform,
    "donutrandompartition": partition,
    "bigsegment": solid_segments,
    "randomsegment": mixed_segments,
    "porchlights": lights,
    "donutmath": math,
}


def boards(starts: Sequence[Sequence[NDArray[np.int64]]]) -> NDArray[np.bool_]:
    """Flat cells of both teams as bool [starts, 2, ROWS, COLS]."""
    found = np.zeros((len(starts), 2, ROWS * COLS), np.bool_)
    for start, teams in zip(found, starts, strict=True):
        for board, cells in zip(start, teams, strict=True):
            board[cells] = True
    return found.reshape(-1, 2, ROWS, COLS)


@cache
def drawn(pattern: str, count: int) -> NDArray[np.bool_]:
    """Starts of a pattern, bool [count, 2, ROWS, COLS], without cells that both teams claim."""
    starts = (DRAWS[pattern](Random(seed)) for seed in range(count))
    found = boards([tuple(np.array([row * COLS + col for row, col in cells]) for cells in start) for start in starts])
    return found & ~found.all(1, keepdims=True)


def numbers(starts: NDArray[np.bool_]) -> NDArray[np.float64]:
    """What each start looks like, [starts, numbers]: waves, their products, squares of 3 x 3 cells, edges and lines."""
    waves = np.fft.rfft2(starts)[..., [*range(-6, 7)], :41].reshape(len(starts), 2, -1)
    parts: list[NDArray[Any]] = [waves[:, one] * waves[:, two].conj() for one, two in ((0, 0), (1, 1), (0, 1))]
    parts += [waves[:, 0], waves[:, 1], waves.sum(1)]
    both = starts.any(1)
    for board in np.stack([starts[:, 0], starts[:, 1], both]):
        left = board & ~board.all(2, keepdims=True)  # whole lines have no edges
        rows, cols, count = left.any(2), left.any(1), board.sum((1, 2)) // 32
        parts.append(count[:, None] == np.arange(64))
        parts += [edge & (edge.cumsum(1) == 1) for edge in (rows, cols, rows[:, ::-1], cols[:, ::-1])]
        codes = np.zeros(board.shape, np.int16)
        for down, right in product((-1, 0, 1), repeat=2):
            codes = 2 * codes + np.roll(board, (down, right), (1, 2))
        parts.append(np.array([np.bincount(code.ravel(), minlength=512) for code in codes]))
    rows, cols = both.sum(2) > 60, both.sum(1) > 9
    for line, crossing, live in ((rows, cols, both.sum(2)), (cols, rows, both.sum(1))):
        size, count = line.shape[1], line.sum(1, keepdims=True)
        start, place = line.nonzero()
        shift = place - (line.cumsum(1) * size // (count + 1))[start, place]
        lost = crossing.shape[1] - crossing.sum(1)[start] - live[start, place]
        for values in (shift + 32, lost):
            found = np.zeros((len(starts), 64))
            np.add.at(found, (start, values.clip(0, 63)), 1)
            parts += [found, found @ np.arange(64) / found.sum(1).clip(1)]
    return np.concatenate([side.reshape(len(starts), -1) for part in parts for side in (part.real, part.imag)], 1)


def alike(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether the `numbers` have the same means, within 5 deviations (three starts may be as far out as any other).

    What is zero in all starts of one may be something else in 20 of the other.
    """
    spread = 5 * np.sqrt(one.var(0) / len(one) + other.var(0) / len(other))
    most = 3 * np.maximum(abs(one).max(0), abs(other).max(0)) / min(len(one), len(other))
    shares = (one != 0).mean(0), (other != 0).mean(0)
    new = (np.minimum(*shares) == 0) & (np.maximum(*shares) * min(len(one), len(other)) > 20)
    same: NDArray[np.bool_] = (abs(one.mean(0) - other.mean(0)) <= spread + most) & ~new
    return same

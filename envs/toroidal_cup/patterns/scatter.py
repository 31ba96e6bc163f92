"""Arrangements of scattered cells: random ones, and those that a formula picks.

Every arrangement draws from the generator it is given and returns the flat cells of all teams, int64 [n] each,
before cells that several hold are taken from them. `x` is a column, `y` a row. Rules: golly.life (golly-splorts).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from .stamped import Ints, Teams, deal, owned, shuffled
from .stamps import COLS, ROWS

BLOCKS = ((8, 10, 12, 14, 16), (1, 2, 4))  # numbers of blocks side by side, and above one another
_ALL = (7, 11, 13, 19, 23, 25, 27, 32, 37, 47, 57, 77, 99)
FORMULAS: dict[str, tuple[float, tuple[int, ...], Callable[[Ints, Ints], Ints]]] = {  # chance, moduli, value
    "x^2 & y^2": (0.33, _ALL, lambda x, y: x * x & y * y),
    "x & y": (0.33, _ALL, lambda x, y: x & y),
    "x xor y": (0.34, _ALL[-7:], lambda x, y: x ^ y),
}


def gaussian(generator: np.random.Generator, teams: int) -> Teams:
    """Return a cloud a team; the two of two teams are round a third and two thirds of the columns."""
    count = int(ROWS * COLS * generator.uniform(0.10, 0.18) // teams)
    spread_x = 3 * COLS // ((teams + 1) * int(generator.integers(10, 16, endpoint=True)))
    spread_y = ROWS // int(generator.integers(3, 8, endpoint=True))
    centres = [part * COLS // (teams + 1) for part in range(1, teams + 1)]
    return shuffled(generator, [_cloud(generator, count, centre, spread_x, spread_y) for centre in centres])


def _cloud(generator: np.random.Generator, count: int, centre: int, spread_x: int, spread_y: int) -> Ints:
    """Return the first `count` distinct cells of normal points about a column and the middle row, int64 [count]."""
    cells: dict[int, None] = {}
    while len(cells) < count:
        # Rounded toward zero, as the Cup does: row and column 0 also get what lies within one cell outside.
        x = generator.normal(centre, spread_x, 2 * count).astype(np.int64)
        y = generator.normal(ROWS // 2, spread_y, 2 * count).astype(np.int64)
        inside = (x >= 0) & (x < COLS) & (y >= 0) & (y < ROWS)
        cells |= dict.fromkeys((y * COLS + x)[inside].tolist())
    return np.array(list(cells)[:count])


def uniform(generator: np.random.Generator, teams: int) -> Teams:
    """Draw distinct cells anywhere, equally many for each team."""
    count = int(ROWS * COLS * 0.12)
    return tuple(generator.choice(ROWS * COLS, (teams, count // teams), replace=False))


def partition(generator: np.random.Generator, teams: int) -> Teams:
    """Draw random cells on a checkerboard of blocks, equally many for each team."""
    count = int(ROWS * COLS * generator.uniform(0.10, 0.15)) // teams
    across, down = (int(generator.choice(numbers)) for numbers in BLOCKS)
    return tuple(generator.choice(zone, count, replace=False) for zone in checkerboard(across, down, teams))


@cache
def checkerboard(across: int, down: int, teams: int) -> Teams:
    """Return the cells of each team's blocks, by the sum of a block's indices modulo the number of teams.

    Blocks are COLS // across wide; where that leaves a rest of the columns, it is a block of its own.
    """
    y, x = np.indices((ROWS, COLS))
    owner = (x // (COLS // across) + y // (ROWS // down)) % teams
    return tuple(np.flatnonzero(owner == team) for team in range(teams))


def math(generator: np.random.Generator, teams: int) -> Teams:
    """Return the cells of one formula, dealt."""
    names = list(FORMULAS)
    name = names[generator.choice(len(names), p=[chance for chance, *_ in FORMULAS.values()])]
    cells = formula(name, int(generator.choice(FORMULAS[name][1])))
    return owned(cells, deal(generator, np.ones_like(cells), teams), teams)


@cache
def formula(name: str, modulus: int) -> Ints:
    """Return the cells where a formula is prime, int64 [n]."""
    y, x = np.indices((ROWS, COLS))
    primes = [p for p in range(2, modulus) if all(p % divisor for divisor in range(2, p))]
    return np.flatnonzero(np.isin(FORMULAS[name][2](x, y) % modulus, primes))

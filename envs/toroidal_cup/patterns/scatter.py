"""Arrangements of scattered cells: random ones, and those that a formula picks.

Every arrangement draws from the generator it is given and returns the flat cells of both teams, int64 [n] each,
before cells that both hold are taken from both. `x` is a column, `y` a row. Rules: golly.life (golly-splorts).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from .stamped import Ints, Teams, deal
from .stamps import COLS, ROWS

__all__ = ["BLOCKS", "FORMULAS", "formula", "gaussian", "math", "partition", "uniform"]

BLOCKS = ((8, 10, 12, 14, 16), (1, 2, 4))  # numbers of blocks side by side, and above one another
_ALL = (7, 11, 13, 19, 23, 25, 27, 32, 37, 47, 57, 77, 99)
FORMULAS: dict[str, tuple[float, tuple[int, ...], Callable[[Ints, Ints], Ints]]] = {  # chance, moduli, value
    "x^2 & y^2": (0.33, _ALL, lambda x, y: x * x & y * y),
    "x & y": (0.33, _ALL, lambda x, y: x & y),
    "x xor y": (0.34, _ALL[-7:], lambda x, y: x ^ y),
}


def gaussian(generator: np.random.Generator) -> Teams:
    """Return two clouds, left and right, each round a third of the columns; the teams' sides by coin."""
    count = int(ROWS * COLS * generator.uniform(0.10, 0.18) // 2)
    spread_x = COLS // int(generator.integers(10, 16, endpoint=True))
    spread_y = ROWS // int(generator.integers(3, 8, endpoint=True))
    left, right = (_cloud(generator, count, third * COLS // 3, spread_x, spread_y) for third in (1, 2))
    return (left, right) if generator.random() < 0.5 else (right, left)


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


def uniform(generator: np.random.Generator) -> Teams:
    """Draw distinct cells anywhere, half to each team."""
    count = int(ROWS * COLS * 0.12)
    first, second = generator.choice(ROWS * COLS, (2, count // 2), replace=False)
    return first, second


def partition(generator: np.random.Generator) -> Teams:
    """Draw random cells on a checkerboard of blocks, equally many for each team."""
    count = int(ROWS * COLS * generator.uniform(0.10, 0.15)) // 2
    across, down = (int(generator.choice(numbers)) for numbers in BLOCKS)
    first, second = (generator.choice(zone, count, replace=False) for zone in checkerboard(across, down))
    return first, second


@cache
def checkerboard(across: int, down: int) -> Teams:
    """Return the cells of blocks whose indices have equal parity, and the others.

    Blocks are COLS // across wide; where that leaves a rest of the columns, it is a block of its own.
    """
    y, x = np.indices((ROWS, COLS))
    odd = (x // (COLS // across) + y // (ROWS // down)) % 2
    return np.flatnonzero(odd == 0), np.flatnonzero(odd)


def math(generator: np.random.Generator) -> Teams:
    """Return the cells of one formula, dealt."""
    names = list(FORMULAS)
    name = names[generator.choice(len(names), p=[chance for chance, *_ in FORMULAS.values()])]
    cells = formula(name, int(generator.choice(FORMULAS[name][1])))
    team = deal(generator, np.ones_like(cells))
    return cells[team == 0], cells[team == 1]


@cache
def formula(name: str, modulus: int) -> Ints:
    """Return the cells where a formula is prime, int64 [n]."""
    y, x = np.indices((ROWS, COLS))
    primes = [p for p in range(2, modulus) if all(p % divisor for divisor in range(2, p))]
    return np.flatnonzero(np.isin(FORMULAS[name][2](x, y) % modulus, primes))

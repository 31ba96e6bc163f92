"""Arrangements of lines: segments that cross each other, and strings of lights.

Every arrangement draws from the generator it is given and returns the flat cells of all teams, int64 [n] each,
before cells that several hold are taken from them. Rules: golly.life (golly-splorts).
"""

from __future__ import annotations

import numpy as np

from .stamped import Ints, Teams, deal, owned, shuffled
from .stamps import COLS, ROWS

BIG_LINES = ((1, 3), (1, 3, 5, 7, 9))  # numbers of horizontal and of vertical lines


def solid_segments(generator: np.random.Generator, teams: int) -> Teams:
    """Draw segments of one team each, dealt by their length, with few gaps; a team gets two at least."""
    pieces = 0
    while pieces < 2 * teams:  # two teams get four pieces of any two lines
        across, down = (int(generator.choice(numbers)) for numbers in BIG_LINES)
        pieces = (across + 1) * down + (down + 1) * across
    cells, piece, length = _pieces(_lines(generator, ROWS, across, 5), _lines(generator, COLS, down, 8))
    live = np.floor((1 - generator.uniform(0, 0.04)) * length)
    team = deal(generator, length, teams)[piece]
    kept = _rank(generator, piece, length) < live[piece]
    return owned(cells[kept], team[kept], teams)


def mixed_segments(generator: np.random.Generator, teams: int) -> Teams:
    """Draw segments whose cells belong to all teams in equal parts, with few gaps."""
    across, down = (int(generator.integers(1, most, endpoint=True)) for most in (3, 7))
    cells, piece, length = _pieces(_lines(generator, ROWS, across, 5), _lines(generator, COLS, down, 5))
    each = np.floor(1 / teams * (1 - generator.uniform(0, 0.06)) * length)[piece]
    rank = _rank(generator, piece, length)
    return tuple(cells[(team * each <= rank) & (rank < (team + 1) * each)] for team in range(teams))


def _lines(generator: np.random.Generator, size: int, count: int, jitter: int) -> Ints:
    """Return rows or columns of lines, ascending, int64 [count]; with three rows two may fall on the same one."""
    even = np.arange(1, count + 1) * size // (count + 1) - 1
    return even + generator.integers(-jitter, jitter, count, endpoint=True)


def _pieces(across: Ints, down: Ints) -> tuple[Ints, Ints, Ints]:
    """Cut lines (rows and columns, ascending) at their crossings, which stay empty, and at the board's edges.

    Returns:
        All cells and the piece each belongs to, int64 [n] both; the length of each piece, int64 [pieces], 0 where
        two lines have nothing between them.
    """
    rows, cols = np.delete(np.arange(ROWS), across), np.delete(np.arange(COLS), down)
    upright = np.searchsorted(across, rows)[:, None] * len(down) + np.arange(len(down))
    flat = np.searchsorted(down, cols) * len(across) + np.arange(len(across))[:, None]
    first = (len(across) + 1) * len(down)  # so many upright pieces, then the flat ones
    cells = np.concatenate(((rows[:, None] * COLS + down).ravel(), (across[:, None] * COLS + cols).ravel()))
    piece = np.concatenate((upright.ravel(), first + flat.ravel()))
    return cells, piece, np.bincount(piece, minlength=first + (len(down) + 1) * len(across))


def _rank(generator: np.random.Generator, piece: Ints, length: Ints) -> Ints:
    """Shuffle each piece: the place of every cell in its own piece, from 0; int64 [n]."""
    rank = np.empty_like(piece)
    rank[np.lexsort((generator.random(len(piece)), piece))] = np.arange(len(piece))
    return rank - (np.cumsum(length) - length)[piece]


def lights(generator: np.random.Generator, teams: int) -> Teams:
    """Return a strip as wide as the board for each team, with blocks of 2 x 2 along it."""
    thickness = int(generator.integers(1, 3, endpoint=True))
    reach = 12 // (teams + 1)  # 4 rows for two teams
    centres = np.arange(1, teams + 1) * ROWS // (teams + 1) + generator.integers(-reach, reach, teams, endpoint=True)
    return shuffled(generator, [_string(generator, int(centre) - thickness // 2, thickness) for centre in centres])


def _string(generator: np.random.Generator, top: int, thickness: int) -> Ints:
    """Return a strip and its blocks: flat cells, int64 [n]; rows wrap around."""
    strip = np.arange(top * COLS, (top + thickness) * COLS)
    steps = generator.integers(10, 12, COLS // 6, endpoint=True) + generator.integers(-4, 4, COLS // 6, endpoint=True)
    steps[0] = generator.integers(4, 12, endpoint=True)
    x = np.cumsum(steps)
    x = x[x < COLS - 1]
    # The Cup counts the gap from the strip's first row up, and from the row after its last one down: a block
    # begins 2 or 3 rows further, which leaves one empty row less above than below.
    gap_above, gap_below = generator.integers(2, 3, 2, endpoint=True)
    y = np.where(generator.random(len(x)) < 0.5, top - gap_above - 1, top + thickness + gap_below)
    corner = y * COLS + x
    return np.concatenate((strip, corner, corner + 1, corner + COLS, corner + COLS + 1)) % (ROWS * COLS)

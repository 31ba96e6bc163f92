"""Arrangements of stamps: the patterns whose shapes teams can place themselves, and the time bombs.

Every arrangement draws from the generator it is given and returns the flat cells of both teams, int64 [n] each,
before cells that both hold are taken from both; where shapes of one team overlap a cell is named twice.
`x` is the column of a stamp's centre, `y` its row. Rules: golly.life (golly-splorts).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from .stamps import COLS, ORIENTATIONS, ROWS, Ints, lay, offsets

Teams = tuple[Ints, Ints]

HALVES = np.array([[-1], [1]])  # of team 0 on the left, of team 1 on the right
QUADRANTS = np.array(list(product((0, COLS // 2), (0, ROWS // 2))))  # x, y of their upper left corners
VERTICAL_FLIP = 6  # an orientation, as are 0, 2, 4: all that flips alone can do
MULTUM_STEP = 17
TIME_BOMB = "timebomb"


@dataclass(frozen=True)
class Shapes:
    """The shapes that the teams of a pattern get, the same number each.

    Attributes:
        stamps: kinds of shapes; each shape is one of them, all equally likely.
        draws: numbers to draw from; a team's number of shapes is the sum of one from each of these, all equally likely.
    """

    stamps: tuple[str, ...]
    draws: tuple[tuple[int, ...], ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """The possible numbers of shapes of a team, ascending."""
        return tuple(sorted({sum(numbers) for numbers in product(*self.draws)}))

    def kinds(self, generator: np.random.Generator, count: int) -> list[str]:
        """Draw the kinds of `count` shapes."""
        return [self.stamps[kind] for kind in generator.integers(len(self.stamps), size=count)]


def deal(generator: np.random.Generator, sizes: Ints) -> Ints:
    """Deal things of these sizes (int64 [n]) to teams: shuffled, sorted by size descending, to 0, 1, 1, 0 and so on."""
    order = generator.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    team = np.empty(len(sizes), np.int64)
    team[order] = np.resize([0, 1, 1, 0], len(sizes))
    return team


def _jitter(generator: np.random.Generator, reach: int, size: int) -> Ints:
    """Return uniform numbers from -reach to reach."""
    return generator.integers(-reach, reach, size, endpoint=True)


def _flips(generator: np.random.Generator, size: int) -> Ints:
    """Return orientations by independent fair flips, horizontal and vertical."""
    return 2 * generator.integers(ORIENTATIONS // 2, size=size)


def _flips_and_rotation(generator: np.random.Generator, size: int) -> Ints:
    """Return orientations by fair flips and then one of four rotations: each of the eight in two of sixteen ways."""
    return generator.integers(ORIENTATIONS, size=size)


def _teams(names: Sequence[str], orientations: Ints, x: Ints, y: Ints, team: Ints) -> Teams:
    """Return the cells of stamps by the team that they belong to; all arguments have one entry a stamp."""
    row, col, stamp = lay(names, orientations, x, y)
    return owned(row * COLS + col, team[stamp])


def owned(cells: Ints, owner: Ints) -> Teams:
    """Return the cells (int64 [n]) by their owner, team 0 or 1 (int64 [n])."""
    return cells[owner == 0], cells[owner == 1]


def shuffled(generator: np.random.Generator, one: Ints, other: Ints) -> Teams:
    """Return two parts of a board (flat cells, int64 [n] each) in random order, one a team."""
    return (one, other) if generator.random() < 0.5 else (other, one)


def sides(generator: np.random.Generator, shapes: Shapes, *, step: int, reach: int, jitter: int) -> Teams:
    """Draw a row of shapes a team, from the middle outwards, the i-th `step * i` columns off or a bit nearer."""
    (count,) = shapes.counts
    far = step * np.arange(1, count + 1)
    x = COLS // 2 + HALVES * generator.integers(far - reach, far, (2, count), endpoint=True)
    y = ROWS // 2 + _jitter(generator, jitter, 2 * count)
    team = np.repeat((0, 1), count)
    return _teams(shapes.kinds(generator, 2 * count), _flips(generator, 2 * count), x.ravel(), y, team)


def fifths(generator: np.random.Generator, shapes: Shapes, *, jitter: int) -> Teams:
    """Return shapes in a row, about the lines that cut it into equal parts, dealt at random."""
    (each,) = shapes.counts
    count = 2 * each
    x = np.arange(1, count + 1) * COLS // (count + 1) + _jitter(generator, jitter, count)
    y = ROWS // 2 + _jitter(generator, jitter, count)
    team = generator.permutation(np.repeat((0, 1), each))
    return _teams(shapes.kinds(generator, count), _flips_and_rotation(generator, count), x, y, team)


def multums(generator: np.random.Generator, shapes: Shapes) -> Teams:
    """Return a row of shapes on both sides of the middle, a quarter of them flipped, dealt at random."""
    (each,) = shapes.counts
    count = 2 * each
    places = MULTUM_STEP * np.arange(1, count // 2 + 1)
    x = COLS // 2 + (HALVES * places).ravel() + _jitter(generator, 10, count)
    y = ROWS // 2 + _jitter(generator, 8, count)
    orientations = np.where(generator.random(count) < 0.25, VERTICAL_FLIP, 0)
    team = generator.permutation(np.repeat((0, 1), each))
    return _teams(shapes.kinds(generator, count), orientations, x, y, team)


def quadrants(generator: np.random.Generator, shapes: Shapes) -> Teams:
    """Draw a row of shapes in each quadrant; paired quadrants have the same number."""
    x, y = [], []
    corners = iter(generator.permutation(QUADRANTS))
    for numbers in shapes.draws:
        m = int(generator.choice(numbers))
        for left, top in (next(corners), next(corners)):
            x.append(left + np.arange(1, m + 1) * (COLS // 2 // (m + 1)) + _jitter(generator, max(0, 13 - m), m))
            y.append(top + ROWS // 4 + _jitter(generator, 3, m))
    count = sum(map(len, x))
    names, orientations = shapes.kinds(generator, count), _flips_and_rotation(generator, count)
    team = deal(generator, np.array([len(offsets(name, 0)[0]) for name in names]))
    return _teams(names, orientations, np.concatenate(x), np.concatenate(y), team)


def time_bombs(generator: np.random.Generator, *, oscillators: Sequence[str]) -> Teams:
    """Return three oscillators a team, of kinds from `oscillators`, and after each three of them a time bomb."""
    places = np.arange(1, 9) * COLS // 9
    x = np.concatenate((places[[0, 1, 2, 4, 5, 6]], places[[3, 7]])) + _jitter(generator, 1, 8)
    y = ROWS // 2 + _jitter(generator, 1, 8)
    guards, bombs = np.repeat((0, 1), 3), np.array((1, 0))
    names = [oscillators[kind] for kind in generator.integers(len(oscillators), size=6)] + 2 * [TIME_BOMB]
    reverse_guards, shuffle_guards, reverse_bombs = generator.random(3) < 0.5
    guards = guards[::-1] if reverse_guards else guards
    guards = generator.permutation(guards) if shuffle_guards else guards
    team = np.concatenate((guards, bombs[::-1] if reverse_bombs else bombs))
    turned, mirrored = generator.random((2, 2)) < 0.5
    orientations = np.concatenate((np.zeros(6, np.int64), turned * (1, 3)))  # by 90 and by 270 degrees
    row, col, stamp = lay(names, orientations, x, y)
    # The bomb's whole layer is mirrored, its jitter with it, so that its top row t becomes ROWS - t - h.
    flipped = np.concatenate((np.zeros(6, np.bool_), mirrored))[stamp]
    return owned(np.where(flipped, ROWS - 1 - row, row) * COLS + col, team[stamp])

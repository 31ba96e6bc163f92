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
import numpy.typing as npt

from .stamps import COLS, ORIENTATIONS, ROWS, lay, offsets

Ints = npt.NDArray[np.int64]
Teams = tuple[Ints, ...]

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


def snake(count: int, teams: int) -> Ints:
    """Return to which team each of `count` things is dealt, int64: 0, 1, 1, 0 over and over for two teams."""
    there = np.arange(teams)
    return np.resize(np.concatenate((there, there[::-1])), count)


def deal(generator: np.random.Generator, sizes: Ints, teams: int) -> Ints:
    """Deal things of these sizes (int64 [n]) to teams from 0 on: shuffled, sorted by size descending, by `snake`.

    Of more than two teams chance says who is first, since the largest things are worth more than the next ones.
    """
    order = generator.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    team = np.empty(len(sizes), np.int64)
    team[order] = snake(len(sizes), teams)
    return team if teams == 2 else generator.permutation(teams)[team]


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
    return owned(row * COLS + col, team[stamp], int(team.max()) + 1)


def owned(cells: Ints, owner: Ints, teams: int) -> Teams:
    """Return the cells (int64 [n]) by their owner, a team from 0 on (int64 [n])."""
    return tuple(cells[owner == team] for team in range(teams))


def shuffled(generator: np.random.Generator, parts: Sequence[Ints]) -> Teams:
    """Return parts of a board (flat cells, int64 [n] each) in random order, one a team; those of two teams by coin."""
    if len(parts) == 2:  # as the Cup draws it
        return tuple(parts) if generator.random() < 0.5 else tuple(parts[::-1])
    return tuple(parts[place] for place in generator.permutation(len(parts)))


def sides(generator: np.random.Generator, teams: int, shapes: Shapes, *, step: int, reach: int, jitter: int) -> Teams:
    """Draw a row of shapes a team, the i-th `step * i` columns off or a bit nearer.

    The rows of two teams begin in the middle and go outwards. Those of more begin where their bands of the board do and
    go to the right, in steps that are shorter as their bands are.
    """
    (count,) = shapes.counts
    step, reach = 2 * step // teams, 2 * reach // teams
    far = step * np.arange(1, count + 1)
    off = generator.integers(far - reach, far, (teams, count), endpoint=True)
    x = COLS // 2 + HALVES * off if teams == 2 else np.arange(teams)[:, None] * COLS // teams + off
    y = ROWS // 2 + _jitter(generator, jitter, teams * count)
    team = np.repeat(np.arange(teams), count)
    return _teams(shapes.kinds(generator, teams * count), _flips(generator, teams * count), x.ravel(), y, team)


def fifths(generator: np.random.Generator, teams: int, shapes: Shapes, *, jitter: int) -> Teams:
    """Return shapes in a row, dealt at random; the four of two teams lie about the lines that cut it into fifths."""
    (each,) = shapes.counts
    count = teams * each
    x = np.arange(1, count + 1) * COLS // (count + 1) + _jitter(generator, jitter, count)
    y = ROWS // 2 + _jitter(generator, jitter, count)
    team = generator.permutation(np.repeat(np.arange(teams), each))
    return _teams(shapes.kinds(generator, count), _flips_and_rotation(generator, count), x, y, team)


def multums(generator: np.random.Generator, teams: int, shapes: Shapes) -> Teams:
    """Return a row of shapes on both sides of the middle, a quarter of them flipped, dealt at random."""
    (each,) = shapes.counts
    count = teams * each
    places = 2 * MULTUM_STEP // teams * np.arange(1, count // 2 + 1)
    x = COLS // 2 + (HALVES * places).ravel() + _jitter(generator, 10, count)
    y = ROWS // 2 + _jitter(generator, 8, count)
    orientations = np.where(generator.random(count) < 0.25, VERTICAL_FLIP, 0)
    team = generator.permutation(np.repeat(np.arange(teams), each))
    return _teams(shapes.kinds(generator, count), orientations, x, y, team)


def quadrants(generator: np.random.Generator, teams: int, shapes: Shapes) -> Teams:
    """Draw a row of shapes in each quadrant; paired quadrants have the same number, which grows with the teams."""
    x, y = [], []
    corners = iter(generator.permutation(QUADRANTS))
    for numbers in shapes.draws:
        m = int(generator.choice(numbers)) * teams // 2
        for left, top in (next(corners), next(corners)):
            x.append(left + np.arange(1, m + 1) * (COLS // 2 // (m + 1)) + _jitter(generator, max(0, 13 - m), m))
            y.append(top + ROWS // 4 + _jitter(generator, 3, m))
    count = sum(map(len, x))
    names, orientations = shapes.kinds(generator, count), _flips_and_rotation(generator, count)
    team = deal(generator, np.array([len(offsets(name, 0)[0]) for name in names]), teams)
    return _teams(names, orientations, np.concatenate(x), np.concatenate(y), team)


def time_bombs(generator: np.random.Generator, teams: int, *, oscillators: Sequence[str]) -> Teams:
    """Return three oscillators a team, kinds drawn from `oscillators`, and a time bomb a team.

    They lie in one line, and those of four teams and more in two. A bomb follows three oscillators.
    """
    x, y, guard = _slots(teams)
    x = x + _jitter(generator, 1, len(x))
    y = y + _jitter(generator, 1, len(y))
    guards, bombs = np.repeat(np.arange(teams), 3), np.roll(np.arange(teams), -1)
    names = [oscillators[kind] for kind in generator.integers(len(oscillators), size=guard)] + teams * [TIME_BOMB]
    reverse_guards, shuffle_guards, reverse_bombs = generator.random(3) < 0.5
    guards = guards[::-1] if reverse_guards else guards
    guards = generator.permutation(guards) if shuffle_guards else guards
    team = np.concatenate((guards, bombs[::-1] if reverse_bombs else bombs))
    turned, mirrored = generator.random((2, teams)) < 0.5
    quarters = np.where(np.arange(teams) % 2, 3, 1)  # by 90 and by 270 degrees in turn
    orientations = np.concatenate((np.zeros(guard, np.int64), turned * quarters))
    row, col, stamp = lay(names, orientations, x, y)
    # The bomb's whole layer is mirrored, its jitter with it, so that its top row t becomes ROWS - t - h.
    flipped = np.concatenate((np.zeros(guard, np.bool_), mirrored))[stamp]
    return owned(np.where(flipped, ROWS - 1 - row, row) * COLS + col, team[stamp], teams)


def _slots(teams: int) -> tuple[Ints, Ints, int]:
    """Return columns and rows, of all oscillators and then of all bombs, and the number of oscillators."""
    lines = [teams] if teams < 4 else [teams - teams // 2, teams // 2]
    x = [np.arange(1, 4 * count + 1) * COLS // (4 * count + 1) for count in lines]
    y = [np.full(4 * count, (2 * line + 1) * ROWS // (2 * len(lines))) for line, count in enumerate(lines)]
    bomb = np.arange(4 * teams) % 4 == 3
    columns, rows = np.concatenate(x), np.concatenate(y)
    return (
        np.concatenate((columns[~bomb], columns[bomb])),
        np.concatenate((rows[~bomb], rows[bomb])),
        int((~bomb).sum()),
    )

"""Perks of still lifes: the count after a round, the points it earns, wards and bolts.

Letters: `B` games, `n` of them, `S, N` stored rows and words (see `boards.bitboards`), `K` kinds of still lifes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid, count
from cellgames.envs.boards.dilation import Footprint
from cellgames.envs.boards.rle import orientations, parse_cells
from cellgames.envs.native.operators import table

from .weather import SQUARE

LIVES = {
    "block": "oo/oo",
    "beehive": ".oo./o..o/.oo.",
    "loaf": ".oo./o..o/.o.o/..o.",
    "boat": "oo./o.o/.o.",
    "ship": "oo./o.o/.oo",
    "tub": ".o./o.o/.o.",
    "pond": ".oo./o..o/o..o/.oo.",
}
"""The still lifes that earn something, by kind."""

POINTS_A_UNIT, POINTS_OF_REACH, POINTS_A_SPELL = 4, 2, 2
"""Points for one more unit a turn, for one more cell of territory's radius, and for a bolt."""
MOST_REACH, MOST_SPELLS, WARD_DISTANCE, MOST_WIDER = 4, 3, 2, 2
"""The most cells of reach, the most bolts kept, how far a ward reaches from its still life, and the most further."""

_SUPPLY, _REACH, _WARDS, _SPELLS = ("block", "beehive"), ("loaf",), ("tub", "pond"), ("boat", "ship")

Cells = frozenset[tuple[int, int]]
Seen = Callable[[tuple[int, int]], Tensor]


class Count(NamedTuple):
    """The result of a count.

    Attributes:
        lives: int32 [n, 2, K], still lifes of each player by kind, whether they earn something or not.
        supply: int32 [n, 2], points; so `reach` and `spells`.
        reach: int32 [n, 2].
        spells: int32 [n, 2].
        wards: int64 [2, S, N, n], cells that are warded for each player.
    """

    lives: Tensor
    supply: Tensor
    reach: Tensor
    spells: Tensor
    wards: Tensor


@cache
def forms_of(kind: str) -> tuple[Cells, ...]:
    """Return the cells of a still life in all its orientations, each with its upper left corner at (0, 0)."""
    return tuple(dict.fromkeys(map(frozenset, orientations(parse_cells(LIVES[kind])))))


def count_still_lifes(
    grid: Grid, units: Tensor, neutral: Tensor, *, forest: Tensor, barren: Tensor, combinations: bool
) -> Count:
    """Return the still lifes on some boards and what they earn.

    A group of live cells that touch each other, all of one owner, counts where it equals a pattern. It earns a point;
    two if it stands wholly on forest that is not burnt, none with a cell on barren ground, rock and burnt cells. With
    `combinations` each set of one still life for each of the four perks, counted among those that earn a point, earns a
    point of supply, reach and spell, and widens wards by a cell, at most by `MOST_WIDER`.

    Units are bitboards int64 [2, S, N, n], all others [S, N, n].
    """
    lives, points, wards = _counted(grid, torch.stack((*units, neutral, forest, barren)))
    supply, reach, spells = (_sum_of(points, kinds) for kinds in (_SUPPLY, _REACH, _SPELLS))
    if combinations:
        # Without forest the points are the still lifes that earn any.
        number = _counted(grid, torch.stack((*units, neutral, torch.zeros_like(forest), barren)))[1]
        sets = torch.stack([_sum_of(number, kinds) for kinds in (_SUPPLY, _REACH, _WARDS, _SPELLS)]).amin(0)
        supply, reach, spells = supply + sets, reach + sets, spells + sets
        for wider in range(1, MOST_WIDER + 1):  # a square around a square is a wider one
            more = grid.trim(grid.dilate(wards, SQUARE))
            wards = torch.where((sets.t() >= wider)[:, None, None], more, wards)
    return Count(lives, supply, reach, spells, wards)


def _sum_of(numbers: Tensor, kinds: tuple[str, ...]) -> Tensor:
    """Return the sums of some kinds' numbers, int32 [n, 2], of numbers [n, 2, K]."""
    places = [list(LIVES).index(kind) for kind in kinds]
    return numbers[:, :, places].sum(2, dtype=torch.int32)


def _counted(grid: Grid, boards: Tensor) -> list[Tensor]:
    """Return still lifes and their points by player and kind, int32 [n, 2, K], and wards, int64 [2, S, N, n].

    Boards are int64 [5, S, N, n]: a's and b's units, neutral cells, forest, barren ground.
    """
    units = boards[:2]
    own, live = _shifted(grid, units), _shifted(grid, boards[0] | boards[1] | boards[2])
    rich, poor = _shifted(grid, boards[3]), _shifted(grid, boards[4])
    lives: list[Tensor] = []
    points: list[Tensor] = []
    wards = torch.zeros_like(units)
    for kind in LIVES:
        number = earned = torch.zeros_like(boards[:2, 0, 0])
        for form in forms_of(kind):
            found = _matches(own, live, form)
            number = number + count(found)
            for cell in form:
                found = found & ~poor(cell)
            twice = found
            for cell in form:
                twice = twice & rich(cell)
            earned = earned + count(found) + count(twice)
            if kind in _WARDS:
                wards |= grid.dilate(found, _warded(form))
        lives.append(number)
        points.append(earned)
    by_game = [torch.stack(x).movedim(-1, 0).transpose(1, 2).int().contiguous() for x in (lives, points)]
    return [*by_game, grid.trim(wards)]


@table
def squares(device: torch.device) -> Tensor:
    """Return all forms of still lifes as bits of a square of 4 x 4 cells, and their kinds: int64 [V, 2]."""
    forms = [
        (sum(1 << (4 * row + col) for row, col in form), kind)
        for kind, name in enumerate(LIVES)
        for form in forms_of(name)
    ]
    return torch.tensor(forms, device=device)


def allowance(max_units: int, supply: Tensor) -> Tensor:
    """Return the units of a turn by points of supply, int32 of their shape."""
    return (max_units + supply // POINTS_A_UNIT).clamp(max=2 * max_units)


def _shifted(grid: Grid, boards: Tensor) -> Seen:
    """Return a function from a step, rows down and columns right, to the boards seen from there; each is made once.

    A cell of its boards has the bit of the cell that is a step away, 0 beyond the edges.
    """
    return cache(lambda cell: grid.shift(boards, -cell[0], -cell[1]))


def _matches(own: Seen, live: Seen, form: Cells) -> Tensor:
    """Return the upper left corners of a form of one owner that no other live cell touches."""
    around = {(row + down, col + right) for row, col in form for down in (-1, 0, 1) for right in (-1, 0, 1)}
    first, *others = sorted(form)
    found = own(first)
    for cell in others:
        found = found & own(cell)
    for cell in sorted(around - form):
        found = found & ~live(cell)
    return found


@cache
def _warded(form: Cells) -> Footprint:
    """Return the cells that a form wards, seen from its upper left corner."""
    reach = range(-WARD_DISTANCE, WARD_DISTANCE + 1)
    return Footprint({(row + down, col + right) for row, col in form for down in reach for right in reach})

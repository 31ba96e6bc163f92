"""The rules of Cloth of Gold, as bit operations on whole boards and arithmetic on scores.

Boards are batches of bitboards, int64 [..., S, N, B] (see `boards.bitboards.Grid`).

Source: Adam Murray's prototype of Cloth of Gold and its README. Where the README's formulas leave a case open, what its
words say and the prototype does decides.
"""

from __future__ import annotations

from functools import cache

from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.dilation import Footprint

PLUS = Footprint(((-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)))
"""Where no unit may be placed around one of the opponent's: distance <= 1."""

ACTS_A_UNIT = 2
"""A turn has so many placements and take-backs for each unit that may be placed in it."""

ORDERS = {"fixed": 0b0000, "alternate": 0b1010, "paired": 0b0110}  # bit n % 4 is who places first in round n
NEUTRAL_BIRTHS, NEUTRAL_HOLD, NEUTRAL_ATTACK = 1, 2, 4
"""The bits of `neutral_rules`, the options of neutral cells: they are born, hold their cells, and attack."""

PERIOD = 24
"""A world that is the same after so many generations, a multiple of 1, 2, 3, 4, 6, 8 and 12, repeats for ever."""


@cache
def disk(radius: int) -> Footprint:
    """Return all cells at a Euclidean distance less than `radius`.

    A unit adds 2.0 to its owner's field there, and territory is where the field is more than 1.0: a single unit is
    enough, so territory is the union of the disks.
    """
    reach = range(1 - radius, radius)
    return Footprint((row, col) for row in reach for col in reach if row * row + col * col < radius * radius)


def generation(
    board: Grid, a: Tensor, b: Tensor, neutral: Tensor, killed: Tensor, neutral_rules: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the next generation of a's, b's, neutral and killed cells; no cell is in two of the four.

    An empty cell with three live neighbours takes the side that has more of them; a unit with two or three lives unless
    the other side has more of them, then it is killed; a neutral cell with two or three takes the side that has more; a
    killed cell lasts while it has two or three neighbours, all neutral. All others are empty. A killed cell counts as
    nobody's neighbour.

    `neutral_rules` is a sum of `NEUTRAL_BIRTHS` (three neutral neighbours and no other make a neutral cell),
    `NEUTRAL_HOLD` (a neutral cell with two or three stays neutral), and with it `NEUTRAL_ATTACK` (two or three neutral
    ones of at most three live neighbours kill a unit, and take the birth in an empty cell).
    """
    live = a | b | neutral
    ones, twos, fours = board.neighbour_counts(live)
    a1, a2 = board.neighbour_counts(a, 2)
    b1, b2 = board.neighbour_counts(b, 2)
    middle = board.trim(twos & ~fours)  # two or three live neighbours; what follows matters there only
    some_a, some_b = a1 | a2, b1 | b2
    more_a, more_b = a2 | (a1 & ~some_b), b2 | (b1 & ~some_a)  # who has two of three or fewer has more
    born, stays, free = middle & ones & ~(live | killed), middle & neutral, ~(some_a | some_b)
    beats_a, beats_b = more_b, more_a
    next_neutral = stays if neutral_rules & NEUTRAL_HOLD else stays & ~(more_a | more_b)
    if neutral_rules & NEUTRAL_BIRTHS:
        next_neutral = next_neutral | (born & free)
    if neutral_rules & NEUTRAL_ATTACK:
        more_neutral = free | (ones & ~(a2 | b2 | (a1 & b1)))  # two or three of two or three
        beats_a, beats_b = more_b | more_neutral, more_a | more_neutral
        next_neutral, born = next_neutral | (born & more_neutral), born & ~more_neutral
    turning = born if neutral_rules & NEUTRAL_HOLD else born | stays
    return (
        (turning & more_a) | (middle & a & ~beats_a),
        (turning & more_b) | (middle & b & ~beats_b),
        next_neutral,
        middle & ((a & beats_a) | (b & beats_b) | (killed & free)),
    )


def two_sided_generation(board: Grid, a: Tensor, b: Tensor, killed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return `generation` of a's, b's and killed cells in worlds without neutral ones, with a third less to count."""
    live = a | b
    ones, twos, fours = board.neighbour_counts(live)
    a1, more_a = board.neighbour_counts(a, 2)
    middle = board.trim(twos & ~fours)
    more_b = ~more_a & (ones | ~a1)  # at most one of three is a's, or none of two
    born = middle & ones & ~(live | killed)
    return (
        (born & more_a) | (middle & a & ~more_b),
        (born & more_b) | (middle & b & ~more_a),
        middle & ((a & more_b) | (b & more_a)),
    )


def placeable(
    board: Grid, own: Tensor, other: Tensor, rest: Tensor, territories: tuple[Tensor, Tensor], homeless: Tensor
) -> Tensor:
    """Return a mask of the cells on which a player may place a unit.

    Such a cell is empty (`rest` holds neutral and killed cells), at a distance of more than 1 from the opponent's
    units, and in one's own territory, the first of two, that is not the opponent's as well; for a player without a
    unit, where `homeless` has all bits set, territory plays no part.
    """
    home = homeless | (territories[0] & ~territories[1])
    return board.trim(home & ~(own | rest | board.dilate(other, PLUS)))


def choices(left: Tensor, acts: Tensor, max_units: int | Tensor, nowhere: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return three flags: the mover may place a unit, may take one back, may end its turn.

    After `ACTS_A_UNIT * max_units` placements and take-backs, `acts`, only the end of the turn is left, or, with
    nothing placed, one more placement. A turn must place a unit if it can. All arguments are integers or flags that
    broadcast.
    """
    some, rested = left < max_units, acts < ACTS_A_UNIT * max_units
    return (left > 0) & (rested | (left == max_units)), rested, some | nowhere


def verdict(before: Tensor, lead: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return three flags by a's lead in units in the last round and in this one: a has won, b has won, both have lost.

    Both lose at 0:0; a side that is ahead wins unless its lead has grown.
    """
    ahead, behind = lead > 0, lead < 0
    return ahead & (before >= lead), behind & (before <= lead), lead == 0


def verdict_extinction(units_a: Tensor, units_b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the same by units left, with `win_rule` "extinction": a side without any has lost."""
    none_a, none_b = units_a == 0, units_b == 0
    return none_b & (units_a != 0), none_a & (units_b != 0), none_a & none_b

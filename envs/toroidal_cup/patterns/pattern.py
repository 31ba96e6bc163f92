"""The 16 patterns of the Toroidal Cup: their names, and the random arrangement of a start.

Names, zones and rules are those of golly.life (golly-splorts, MIT); the zones' names have no effect on play. Every
arrangement draws from the generator it is given and returns the flat cells of all teams, int64 [n] each, before cells
that several hold are taken from them. Those of whole stamps are in `stamped`. `x` is a column, `y` a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import MappingProxyType

import numpy as np

from cellgames.utils.errors import InputError, check_one_of, shown

from . import stamped as shapes
from .stamped import Shapes, Teams, deal, owned, shuffled
from .stamps import COLS, ROWS, Ints

BIG_LINES = ((1, 3), (1, 3, 5, 7, 9))  # numbers of horizontal and of vertical lines


def solid_segments(generator: np.random.Generator) -> Teams:
    """Draw segments of one team each, dealt by their length, with few gaps."""
    across, down = (int(generator.choice(numbers)) for numbers in BIG_LINES)
    cells, piece, length = _pieces(_lines(generator, ROWS, across, 5), _lines(generator, COLS, down, 8))
    live = np.floor((1 - generator.uniform(0, 0.04)) * length)
    team = deal(generator, length)[piece]
    kept = _rank(generator, piece, length) < live[piece]
    return owned(cells[kept], team[kept])


def mixed_segments(generator: np.random.Generator) -> Teams:
    """Draw segments whose cells belong to both teams in equal parts, with few gaps."""
    across, down = (int(generator.integers(1, most, endpoint=True)) for most in (3, 7))
    cells, piece, length = _pieces(_lines(generator, ROWS, across, 5), _lines(generator, COLS, down, 5))
    each = np.floor(0.5 * (1 - generator.uniform(0, 0.06)) * length)[piece]
    rank = _rank(generator, piece, length)
    return cells[rank < each], cells[(each <= rank) & (rank < 2 * each)]


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


def lights(generator: np.random.Generator) -> Teams:
    """Return a strip as wide as the board for each team, with blocks of 2 x 2 along it."""
    thickness = int(generator.integers(1, 3, endpoint=True))
    centres = np.array((1, 2)) * ROWS // 3 + generator.integers(-4, 4, 2, endpoint=True)
    one, other = (_string(generator, int(centre) - thickness // 2, thickness) for centre in centres)
    return shuffled(generator, one, other)


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


BLOCKS = ((8, 10, 12, 14, 16), (1, 2, 4))  # numbers of blocks side by side, and above one another
_ALL = (7, 11, 13, 19, 23, 25, 27, 32, 37, 47, 57, 77, 99)
FORMULAS: dict[str, tuple[float, tuple[int, ...], Callable[[Ints, Ints], Ints]]] = {  # chance, moduli, value
    "x^2 & y^2": (0.33, _ALL, lambda x, y: x * x & y * y),
    "x & y": (0.33, _ALL, lambda x, y: x & y),
    "x xor y": (0.34, _ALL[-7:], lambda x, y: x ^ y),
}


def gaussian(generator: np.random.Generator) -> Teams:
    """Return a cloud a team, round a third and two thirds of the columns."""
    count = int(ROWS * COLS * generator.uniform(0.10, 0.18) // 2)
    spread_x = COLS // int(generator.integers(10, 16, endpoint=True))
    spread_y = ROWS // int(generator.integers(3, 8, endpoint=True))
    one, other = (_cloud(generator, count, part * COLS // 3, spread_x, spread_y) for part in (1, 2))
    return shuffled(generator, one, other)


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
    """Draw distinct cells anywhere, equally many for each team."""
    count = int(ROWS * COLS * 0.12)
    one, other = generator.choice(ROWS * COLS, (2, count // 2), replace=False)
    return one, other


def partition(generator: np.random.Generator) -> Teams:
    """Draw random cells on a checkerboard of blocks, equally many for each team."""
    count = int(ROWS * COLS * generator.uniform(0.10, 0.15)) // 2
    across, down = (int(generator.choice(numbers)) for numbers in BLOCKS)
    one, other = (generator.choice(zone, count, replace=False) for zone in checkerboard(across, down))
    return one, other


@cache
def checkerboard(across: int, down: int) -> Teams:
    """Return the cells of each team's blocks, by the sum of a block's indices modulo 2.

    Blocks are COLS // across wide; where that leaves a rest of the columns, it is a block of its own.
    """
    y, x = np.indices((ROWS, COLS))
    owner = (x // (COLS // across) + y // (ROWS // down)) % 2
    return np.flatnonzero(owner == 0), np.flatnonzero(owner == 1)


def math(generator: np.random.Generator) -> Teams:
    """Return the cells of one formula, dealt."""
    names = list(FORMULAS)
    name = names[generator.choice(len(names), p=[chance for chance, *_ in FORMULAS.values()])]
    cells = formula(name, int(generator.choice(FORMULAS[name][1])))
    return owned(cells, deal(generator, np.ones_like(cells)))


@cache
def formula(name: str, modulus: int) -> Ints:
    """Return the cells where a formula is prime, int64 [n]."""
    y, x = np.indices((ROWS, COLS))
    primes = [p for p in range(2, modulus) if all(p % divisor for divisor in range(2, p))]
    return np.flatnonzero(np.isin(FORMULAS[name][2](x, y) % modulus, primes))


Draw = Callable[[np.random.Generator], Teams]

MOST_TEAMS = 8
"""The most teams of a game."""

BY_QUADRANT = ((2, 4, 6), (2, 4, 6))  # shapes of two teams in each quadrant of the one pair, and of the other
METHUSELAHS = ("bheptomino", "cheptomino", "eheptomino", "piheptomino", "rabbit", "rpentomino")
OSCILLATORS = ("airforce", "koksgalaxy", "dinnertable", "vring64", "harbor")


@dataclass(frozen=True)
class Pattern:
    """The arrangement that teams start from.

    name: as `arrange` takes it. title: the Cup's name of the map. zones: its quadrants' names, 1 to 4.
    draw: the arrangement of two teams: flat cells of each, int64 [n], before `arrange` takes shared ones away.
    shapes: the shapes of the teams where they can be placed one by one, else None.
    """

    name: str
    title: str
    zones: tuple[str, ...]
    description: str
    draw: Draw
    shapes: Shapes | None = None


def arrange(pattern: str, generator: np.random.Generator) -> tuple[list[int], list[int]]:
    """Draw a start of two teams on the Cup's torus of `ROWS` x `COLS`.

    Args:
        pattern: one of `PATTERNS`.
        generator: consumed; the same state of it gives the same start.

    Returns:
        The flat cells (row * COLS + col) of each team, ascending. A cell that shapes of both would share is given
        to none of them.

    Raises:
        ValueError: an unknown pattern, or something else than a generator.
    """
    check_one_of("pattern", pattern, PATTERNS)
    if not isinstance(generator, np.random.Generator):
        cause = "is it a seed? Then pass numpy.random.default_rng(seed)"
        raise InputError("generator", "a numpy.random.Generator", shown(generator), cause)
    claims = np.zeros(ROWS * COLS, np.uint8)  # a bit a team
    for bit, cells in zip((1, 2), PATTERNS[pattern].draw(generator), strict=True):
        claims[cells] |= bit
    return np.flatnonzero(claims == 1).tolist(), np.flatnonzero(claims == 2).tolist()


def _placed(
    rule: Callable[..., Teams], stamps: tuple[str, ...], draws: tuple[tuple[int, ...], ...], **numbers: int
) -> tuple[Draw, Shapes]:
    """Return `Pattern.draw` and `Pattern.shapes` of shapes laid by a rule of `stamped`."""
    drawn = Shapes(stamps, draws)
    return partial(rule, shapes=drawn, **numbers), drawn


_DRAWN: dict[str, tuple[Draw, Shapes | None]] = {
    "crabdonuts": _placed(shapes.fifths, ("crabstretcher",), ((2,),), jitter=8),
    "randys": _placed(shapes.sides, ("rpentomino",), ((8,),), step=15, reach=7, jitter=12),
    "porchlights": (lights, None),
    "donutmethuselahs": _placed(shapes.quadrants, METHUSELAHS, BY_QUADRANT),
    "donutpi": _placed(shapes.sides, ("piheptomino",), ((13,),), step=10, reach=5, jitter=10),
    "doublegaussian": (gaussian, None),
    "donutcore": _placed(shapes.quadrants, ("switchengine",), BY_QUADRANT),
    "quadjustyna": _placed(shapes.fifths, ("justyna",), ((2,),), jitter=8),
    "donutrandom": (uniform, None),
    "donutrandompartition": (partition, None),
    "donuttimebomb": (partial(shapes.time_bombs, oscillators=("quadrupleburloaferimeter",)), None),
    "donuttimebombredux": (partial(shapes.time_bombs, oscillators=OSCILLATORS), None),
    "donutmultums": _placed(shapes.multums, ("multuminparvo",), ((4,),)),
    "bigsegment": (solid_segments, None),
    "randomsegment": (mixed_segments, None),
    "donutmath": (math, None),
}
# Of each pattern its title, the names of its zones, and its description.
_WORDS = """
Crab Donuts: big crabs, little crabs, little donuts, big donuts
Four crabstretchers, turned at random.
Randy's Donuts: 3rd and Western, 8th and Grove, Barnes and Main, Lilac and Manchester
Eight r-pentominoes a team in a row, one team to each side.
Donut Hot Tub: turn up jets, turn on jets, turn up heat, turn on lights
A string of porch lights for each team, all around the torus.
Donut Fisticuffs: cha-cha, scuffle, kerfuffle, tussle
Small methuselahs that grow fast, in all four quadrants.
Donut Pie: pie squared, square root of pie, 1 over pie, pie thirds
Thirteen pi-heptominoes a team in a row, one team to each side.
Double Rainbow: rainbow rainbow, double double, double rainbow, double rainbow
Two clouds of random cells, one a team.
Donut Core: 75 RPM DEFAULT, 420 RPM NICE, 800 RPM WARNING, 10000 RPM DANGER
Switch engines in all four quadrants.
Justyna Donut: one cream two sugars, two creams one sugar, cream and sugar, no sugar no cream
Four justynas, turned at random.
East Donut Desert: northwest dirt pile, northeast dirt pile, southeast dirt pile, southwest dirt pile
Random cells all over, half to each team.
East Donut Dessert: radioactive creampuff, praline tailings, toxic macarons, flaming brioche
Random cells in blocks that belong to the teams by turns.
West Donut Desert: rock, rocks, more rocks, rock rock
Six burloaferimeters and two time bombs in one line.
West Donut Dessert: chocolate river, custard sinkhole, frosting pond, sprinkles pile
Six large oscillators and two time bombs in one line.
Donut Cave: cave fish, cave bats, cave crickets, cave spiders
Eight multums in parvo in a row, mixed.
Donut Frame: A Train, F Train, 1 Train, 3 Train
Lines that cross each other, every piece of one team.
Donut Candy: goobiechews, bubblespocks, crinklets, snarkaroni
Lines that cross each other, every piece shared by both teams.
Because Math: XOR, AND XOR, NOT OR, NOT AND
Cells where a bitwise formula of row and column is prime.
"""

_LINES = iter(_WORDS.strip().splitlines())

PATTERNS: Mapping[str, Pattern] = MappingProxyType(
    {
        name: Pattern(name, title, tuple(zones.split(", ")), description, *drawn)
        for (name, drawn), line, description in zip(_DRAWN.items(), _LINES, _LINES, strict=True)
        for title, _, zones in [line.partition(": ")]
    }
)
"""The Cup's patterns by name."""

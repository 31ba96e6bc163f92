"""The 16 patterns of the Toroidal Cup: their names, and the random arrangement of a start.

Names, zones and rules are those of golly.life (golly-splorts, MIT); the zones' names have no effect on play. The
arrangements themselves are in `shapes.py` (stamps), `lines.py` (segments, strips) and `scatter.py` (loose cells).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np

from cellgames.utils.errors import InputError, shown

from . import lines, scatter
from . import stamped as shapes
from .stamped import Shapes, Teams
from .stamps import COLS, ROWS, look_up

Draw = Callable[[np.random.Generator, int], Teams]

MOST_TEAMS = 8
"""The most teams of a game."""

BY_QUADRANT = ((2, 4, 6), (2, 4, 6))  # shapes of two teams in each quadrant of the one pair, and of the other
METHUSELAHS = ("bheptomino", "cheptomino", "eheptomino", "piheptomino", "rabbit", "rpentomino")
OSCILLATORS = ("airforce", "koksgalaxy", "dinnertable", "vring64", "harbor")


@dataclass(frozen=True)
class Pattern:
    """The arrangement that teams start from.

    name: as `arrange` takes it. title: the Cup's name of the map. zones: its quadrants' names, 1 to 4.
    draw: the arrangement for a number of teams: flat cells of each, int64 [n], before `arrange` takes shared ones away.
    shapes: the shapes of the teams where they can be placed one by one, else None.
    """

    name: str
    title: str
    zones: tuple[str, str, str, str]
    description: str
    draw: Draw
    shapes: Shapes | None = None

    @property
    def stamps(self) -> tuple[str, ...]:
        """The kinds of shapes that teams can place, all equally likely; none where there are no such shapes."""
        return self.shapes.stamps if self.shapes else ()

    @property
    def counts(self) -> tuple[int, ...]:
        """The possible numbers of shapes of a team, ascending; see `Shapes.draws` for how likely they are."""
        return self.shapes.counts if self.shapes else ()


def arrange(pattern: str, generator: np.random.Generator, teams: int = 2) -> tuple[list[int], ...]:
    """Draw a start on the Cup's torus of `ROWS` x `COLS`.

    Args:
        pattern: one of `PATTERNS`.
        generator: consumed; the same state of it gives the same start.
        teams: 2, as the Cup plays, to 8.

    Returns:
        The flat cells (row * COLS + col) of each team, ascending. A cell that shapes of several teams would share is
        given to none of them.

    Raises:
        ValueError: an unknown pattern, another number of teams, or something else than a generator.
    """
    draw = look_up("pattern", pattern, PATTERNS).draw
    if not isinstance(generator, np.random.Generator):
        cause = "is it a seed? Then pass numpy.random.default_rng(seed)"
        raise InputError("generator", "a numpy.random.Generator", shown(generator), cause)
    if isinstance(teams, bool) or not isinstance(teams, int) or not 2 <= teams <= MOST_TEAMS:
        raise InputError("teams", f"a whole number from 2 to {MOST_TEAMS}", shown(teams))
    claims = np.zeros(ROWS * COLS, np.uint8)  # a bit a team
    for team, cells in enumerate(draw(generator, teams)):
        claims[cells] |= 1 << team
    return tuple(np.flatnonzero(claims == 1 << team).tolist() for team in range(teams))


def _placed(
    rule: Callable[..., Teams], stamps: tuple[str, ...], draws: tuple[tuple[int, ...], ...], **numbers: int
) -> tuple[Draw, Shapes]:
    """Return `Pattern.draw` and `Pattern.shapes` of shapes laid by a rule of `shapes.py`."""
    drawn = Shapes(stamps, draws)
    return partial(rule, shapes=drawn, **numbers), drawn


_TABLE = (
    Pattern(
        "crabdonuts",
        "Crab Donuts",
        ("big crabs", "little crabs", "little donuts", "big donuts"),
        "Four crabstretchers, turned at random.",
        *_placed(shapes.fifths, ("crabstretcher",), ((2,),), jitter=8),
    ),
    Pattern(
        "randys",
        "Randy's Donuts",
        ("3rd and Western", "8th and Grove", "Barnes and Main", "Lilac and Manchester"),
        "Eight r-pentominoes a team in a row, one team to each side.",
        *_placed(shapes.sides, ("rpentomino",), ((8,),), step=15, reach=7, jitter=12),
    ),
    Pattern(
        "porchlights",
        "Donut Hot Tub",
        ("turn up jets", "turn on jets", "turn up heat", "turn on lights"),
        "A string of porch lights for each team, all around the torus.",
        lines.lights,
    ),
    Pattern(
        "donutmethuselahs",
        "Donut Fisticuffs",
        ("cha-cha", "scuffle", "kerfuffle", "tussle"),
        "Small methuselahs that grow fast, in all four quadrants.",
        *_placed(shapes.quadrants, METHUSELAHS, BY_QUADRANT),
    ),
    Pattern(
        "donutpi",
        "Donut Pie",
        ("pie squared", "square root of pie", "1 over pie", "pie thirds"),
        "Thirteen pi-heptominoes a team in a row, one team to each side.",
        *_placed(shapes.sides, ("piheptomino",), ((13,),), step=10, reach=5, jitter=10),
    ),
    Pattern(
        "doublegaussian",
        "Double Rainbow",
        ("rainbow rainbow", "double double", "double rainbow", "double rainbow"),
        "Two clouds of random cells, one a team.",
        scatter.gaussian,
    ),
    Pattern(
        "donutcore",
        "Donut Core",
        ("75 RPM DEFAULT", "420 RPM NICE", "800 RPM WARNING", "10000 RPM DANGER"),
        "Switch engines in all four quadrants.",
        *_placed(shapes.quadrants, ("switchengine",), BY_QUADRANT),
    ),
    Pattern(
        "quadjustyna",
        "Justyna Donut",
        ("one cream two sugars", "two creams one sugar", "cream and sugar", "no sugar no cream"),
        "Four justynas, turned at random.",
        *_placed(shapes.fifths, ("justyna",), ((2,),), jitter=8),
    ),
    Pattern(
        "donutrandom",
        "East Donut Desert",
        ("northwest dirt pile", "northeast dirt pile", "southeast dirt pile", "southwest dirt pile"),
        "Random cells all over, half to each team.",
        scatter.uniform,
    ),
    Pattern(
        "donutrandompartition",
        "East Donut Dessert",
        ("radioactive creampuff", "praline tailings", "toxic macarons", "flaming brioche"),
        "Random cells in blocks that belong to the teams by turns.",
        scatter.partition,
    ),
    Pattern(
        "donuttimebomb",
        "West Donut Desert",
        ("rock", "rocks", "more rocks", "rock rock"),
        "Six burloaferimeters and two time bombs in one line.",
        partial(shapes.time_bombs, oscillators=("quadrupleburloaferimeter",)),
    ),
    Pattern(
        "donuttimebombredux",
        "West Donut Dessert",
        ("chocolate river", "custard sinkhole", "frosting pond", "sprinkles pile"),
        "Six large oscillators and two time bombs in one line.",
        partial(shapes.time_bombs, oscillators=OSCILLATORS),
    ),
    Pattern(
        "donutmultums",
        "Donut Cave",
        ("cave fish", "cave bats", "cave crickets", "cave spiders"),
        "Eight multums in parvo in a row, mixed.",
        *_placed(shapes.multums, ("multuminparvo",), ((4,),)),
    ),
    Pattern(
        "bigsegment",
        "Donut Frame",
        ("A Train", "F Train", "1 Train", "3 Train"),
        "Lines that cross each other, every piece of one team.",
        lines.solid_segments,
    ),
    Pattern(
        "randomsegment",
        "Donut Candy",
        ("goobiechews", "bubblespocks", "crinklets", "snarkaroni"),
        "Lines that cross each other, every piece shared by both teams.",
        lines.mixed_segments,
    ),
    Pattern(
        "donutmath",
        "Because Math",
        ("XOR", "AND XOR", "NOT OR", "NOT AND"),
        "Cells where a bitwise formula of row and column is prime.",
        scatter.math,
    ),
)

PATTERNS: Mapping[str, Pattern] = MappingProxyType({pattern.name: pattern for pattern in _TABLE})
"""The Cup's patterns by name."""

"""The stamps of the Toroidal Cup's patterns, their orientations, and where they lie on its board.

Names and drawings are those of golly.life (golly-splorts, MIT). The board is a torus of `ROWS` x `COLS` cells;
a flat cell is row * COLS + col. Letters: `h, w` a stamp's height and width, `n` live cells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from cellgames.utils.errors import check_one_of

Ints = npt.NDArray[np.int64]
Grid = npt.NDArray[np.bool_]

ROWS = 40
"""The height of the Cup's board in cells."""
COLS = 280
"""The width of the Cup's board in cells."""

USUAL_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **{f"{letter.lower()}heptomino": f"{letter}-heptomino" for letter in "BCE"},
        "piheptomino": "Pi-heptomino",
        "rpentomino": "R-pentomino",
        "switchengine": "switch engine",
        "justyna": "Justyna",
        "timebomb": "time bomb",
        "quadrupleburloaferimeter": "quadruple burloaferimeter",
        "koksgalaxy": "Kok's galaxy",
        "dinnertable": "dinner table",
        "vring64": "V-ring 64",
        "multuminparvo": "multum in parvo",
    }
)
"""The names that people use for stamps, where they differ from the ids."""


def usual_name(stamp: str) -> str:
    """Return the name that people use for a stamp, such as R-pentomino for rpentomino."""
    return USUAL_NAMES.get(stamp, stamp)


# In runs, as Golly writes patterns: 3o is three live cells, 2. two empty ones, $ the end of a row.
_DRAWINGS = {
    "crabstretcher": "8.2o$7.2o$9.o$11.2o$10.o2$9.o2.o$.2o5.2o$2o5.o$2.o4.o.o$4.2o2.o$4.2o$8.o$7.o.o$8.o",
    "rpentomino": ".2o$2o$.o",
    "bheptomino": "o.2o$3o$.o",
    "cheptomino": ".3o$3o$.o",
    "eheptomino": ".3o$2o$.2o",
    "piheptomino": "3o$o.o$o.o",
    "rabbit": "o3.3o$3o2.o$.o",
    "switchengine": ".o.o$o$.o2.o$3.3o",
    "justyna": "17.o$16.o2.o$17.3o$17.o2.o2$2o16.o$.o16.o$18.o8$19.3o$11.3o",
    "timebomb": ".o11.2o$o.o4.o6.o$7.o4.o$2.o2.o3.o2.o$2.2o6.o$3.o",
    "quadrupleburloaferimeter": (
        "6.o2.o$6.4o2$4.8o$3.o8.o$3.o3.3o2.o$2o.o.o2.o3.o.2o$.o.o.2o3.o.o.o$.o.o.o3.2o.o.o$"
        "2o.o3.o2.o.o.2o$3.o2.3o3.o$3.o8.o$4.8o2$6.4o$6.o2.o"
    ),
    "airforce": "7.o$6.o.o$7.o2$5.5o$4.o5.o.2o$3.o.2o3.o.2o$3.o.o2.o.o$2o.o3.2o.o$2o.o5.o$4.5o2$6.o$5.o.o$6.o",
    "koksgalaxy": "2.o2.o.o$2o.o.3o$.o6.o$2o5.o2$.o5.2o$o6.o$.3o.o.2o$.o.o2.o",
    "dinnertable": ".o$.3o7.2o$4.o6.o$3.2o4.o.o$9.2o$6.o$4.2o.o2$2.o3.o2.o$.o.2o4.o$.o6.o$2o7.3o$11.o",
    "vring64": (
        "5.o.o$6.o$3.2o.o.2o$2.o3.o3.o$2.o7.o$o11.o$.3o5.3o$o11.o$2.o7.o$.o9.o$3.o5.o$3o7.3o$3.o5.o$"
        ".o9.o$2.o7.o$o11.o$.3o5.3o$o11.o$2.o7.o$2.o3.o3.o$3.2o.o.2o$6.o$5.o.o"
    ),
    "harbor": (
        "5.2o3.2o$5.o.o.o.o$6.o3.o2$5.2o3.2o$2o2.o.o3.o.o2.2o$o.o.2o5.2o.o.o$.o13.o2$.o13.o$"
        "o.o.2o5.2o.o.o$2o2.o.o3.o.o2.2o$5.2o3.2o2$6.o3.o$5.o.o.o.o$5.2o3.2o"
    ),
    "multuminparvo": "3.3o$2.o2.o$.o$o",
}


def _rows(runs: str) -> tuple[str, ...]:
    """Return the rows of a drawing, filled up with `.` to its width."""
    lines = re.sub(r"(\d+)(.)", lambda run: run[2] * int(run[1]), runs).split("$")
    return tuple(line.ljust(max(map(len, lines)), ".") for line in lines)


STAMPS: Mapping[str, tuple[str, ...]] = MappingProxyType({name: _rows(runs) for name, runs in _DRAWINGS.items()})
"""Rows of `o` (live) and `.` by name."""

# Orientations of a stamp, all eight symmetries of the square:
#     0 1 2 3    turned clockwise by 0, 90, 180, 270 degrees
#     4 5 6 7    mirrored left to right, then turned by as much
# so 2 is both flips, 4 the horizontal and 6 the vertical one; the odd ones have h and w swapped.
ORIENTATIONS = 8
MIRRORED = 4


@cache
def grid(name: str) -> Grid:
    """Return a stamp as bool [h, w], read-only; a `ValueError` names the known ones."""
    check_one_of("stamp", name, STAMPS)
    array = np.array([[cell == "o" for cell in row] for row in STAMPS[name]])
    array.flags.writeable = False
    return array


def orient(array: Grid, orientation: int) -> Grid:
    """Return a stamp (bool [h, w]) in one of the `ORIENTATIONS`: 0 to 3 turned clockwise, 4 to 7 mirrored first."""
    return np.rot90(array[:, ::-1] if orientation >= MIRRORED else array, -orientation)


@cache
def offsets(name: str, orientation: int) -> tuple[Ints, Ints]:
    """Return rows and columns of a stamp's live cells from its centre (h // 2, w // 2), int64 [n], to read only."""
    array = orient(grid(name), orientation)
    rows, cols = array.nonzero()
    return rows - array.shape[0] // 2, cols - array.shape[1] // 2


def lay(names: Sequence[str], orientations: Ints, x: Ints, y: Ints) -> tuple[Ints, Ints, Ints]:
    """Lay stamps on the torus, the centre of stamp s in column `x[s]` and row `y[s]`.

    Returns:
        Rows, columns and stamp numbers s of all their live cells, int64 [n] each, stamp after stamp.
    """
    shapes = [offsets(*shape) for shape in zip(names, orientations.tolist(), strict=True)]
    stamp = np.repeat(np.arange(len(shapes)), [len(rows) for rows, _ in shapes])
    rows = (y[stamp] + np.concatenate([rows for rows, _ in shapes])) % ROWS
    cols = (x[stamp] + np.concatenate([cols for _, cols in shapes])) % COLS
    return rows, cols, stamp

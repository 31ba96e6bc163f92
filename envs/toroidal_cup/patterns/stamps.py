"""The stamps of the Toroidal Cup's patterns, their orientations, and where they lie on its board.

Names and drawings are those of golly.life (golly-splorts, MIT). The board is a torus of `ROWS` x `COLS` cells;
a flat cell is row * COLS + col. Letters: `h, w` a stamp's height and width, `n` live cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from cellgames.utils.errors import InputError, check_one_of, shown

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


_DRAWINGS = {
    "crabstretcher": """
        ........oo...
        .......oo....
        .........o...
        ...........oo
        ..........o..
        .............
        .........o..o
        .oo.....oo...
        oo.....o.....
        ..o....o.o...
        ....oo..o....
        ....oo.......
        ........o....
        .......o.o...
        ........o....
    """,
    "rpentomino": """
        .oo
        oo.
        .o.
    """,
    "bheptomino": """
        o.oo
        ooo.
        .o..
    """,
    "cheptomino": """
        .ooo
        ooo.
        .o..
    """,
    "eheptomino": """
        .ooo
        oo..
        .oo.
    """,
    "piheptomino": """
        ooo
        o.o
        o.o
    """,
    "rabbit": """
        o...ooo
        ooo..o.
        .o.....
    """,
    "switchengine": """
        .o.o..
        o.....
        .o..o.
        ...ooo
    """,
    "justyna": """
        .................o....
        ................o..o..
        .................ooo..
        .................o..o.
        ......................
        oo................o...
        .o................o...
        ..................o...
        ......................
        ......................
        ......................
        ......................
        ......................
        ......................
        ......................
        ...................ooo
        ...........ooo........
    """,
    "timebomb": """
        .o...........oo
        o.o....o......o
        .......o....o..
        ..o..o...o..o..
        ..oo......o....
        ...o...........
    """,
    "quadrupleburloaferimeter": """
        ......o..o......
        ......oooo......
        ................
        ....oooooooo....
        ...o........o...
        ...o...ooo..o...
        oo.o.o..o...o.oo
        .o.o.oo...o.o.o.
        .o.o.o...oo.o.o.
        oo.o...o..o.o.oo
        ...o..ooo...o...
        ...o........o...
        ....oooooooo....
        ................
        ......oooo......
        ......o..o......
    """,
    "airforce": """
        .......o......
        ......o.o.....
        .......o......
        ..............
        .....ooooo....
        ....o.....o.oo
        ...o.oo...o.oo
        ...o.o..o.o...
        oo.o...oo.o...
        oo.o.....o....
        ....ooooo.....
        ..............
        ......o.......
        .....o.o......
        ......o.......
    """,
    "koksgalaxy": """
        ..o..o.o.
        oo.o.ooo.
        .o......o
        oo.....o.
        .........
        .o.....oo
        o......o.
        .ooo.o.oo
        .o.o..o..
    """,
    "dinnertable": """
        .o...........
        .ooo.......oo
        ....o......o.
        ...oo....o.o.
        .........oo..
        ......o......
        ....oo.o.....
        .............
        ..o...o..o...
        .o.oo....o...
        .o......o....
        oo.......ooo.
        ...........o.
    """,
    "vring64": """
        .....o.o.....
        ......o......
        ...oo.o.oo...
        ..o...o...o..
        ..o.......o..
        o...........o
        .ooo.....ooo.
        o...........o
        ..o.......o..
        .o.........o.
        ...o.....o...
        ooo.......ooo
        ...o.....o...
        .o.........o.
        ..o.......o..
        o...........o
        .ooo.....ooo.
        o...........o
        ..o.......o..
        ..o...o...o..
        ...oo.o.oo...
        ......o......
        .....o.o.....
    """,
    "harbor": """
        .....oo...oo.....
        .....o.o.o.o.....
        ......o...o......
        .................
        .....oo...oo.....
        oo..o.o...o.o..oo
        o.o.oo.....oo.o.o
        .o.............o.
        .................
        .o.............o.
        o.o.oo.....oo.o.o
        oo..o.o...o.o..oo
        .....oo...oo.....
        .................
        ......o...o......
        .....o.o.o.o.....
        .....oo...oo.....
    """,
    "multuminparvo": """
        ...ooo
        ..o..o
        .o....
        o.....
    """,
}

STAMPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {name: tuple(drawing.split()) for name, drawing in _DRAWINGS.items()}
)
"""Rows of `o` (live) and `.` by name."""

# Orientations of a stamp, all eight symmetries of the square:
#     0 1 2 3    turned clockwise by 0, 90, 180, 270 degrees
#     4 5 6 7    mirrored left to right, then turned by as much
# so 2 is both flips, 4 the horizontal and 6 the vertical one; the odd ones have h and w swapped.
ORIENTATIONS = 8
MIRRORED = 4


def look_up(kind: str, name: str, known: Mapping[str, Any]) -> Any:
    """Return `known[name]`; a `ValueError` names the known ones and the likely one."""
    check_one_of(kind, name, known)
    return known[name]


@cache
def grid(name: str) -> Grid:
    """Return a stamp as bool [h, w], read-only; a `ValueError` names the known ones."""
    array = np.array([[cell == "o" for cell in row] for row in look_up("stamp", name, STAMPS)])
    array.flags.writeable = False
    return array


def orient(array: Grid, orientation: int) -> Grid:
    """Return a stamp (bool [h, w]) in one of the `ORIENTATIONS`: 0 to 3 turned clockwise, 4 to 7 mirrored first."""
    if not 0 <= orientation < ORIENTATIONS:
        raise InputError("orientation", f"0 to {ORIENTATIONS - 1}", shown(orientation))
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

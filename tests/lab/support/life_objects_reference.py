"""A slow, plain census of Life, to test the fast one against.

It shares no code and few ideas with what it checks: a board is a set of live cells, islands are followed for many
generations with every live cell knowing which island it comes from, and islands are one object as soon as a cell is
what it is because of several of them. Names come from drawings, not from codes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator

from life_reference import OFFSETS

Cell = tuple[int, int]
Shape = tuple[Cell, ...]
"""Cells in order, the least of all phases and orientations: equal for equal objects."""

LONGEST = 60
ACTIVE: Shape = ((-1, -1),)

DRAWINGS = {
    "block": "OO/OO",
    "beehive": ".OO./O..O/.OO.",
    "loaf": ".OO./O..O/.O.O/..O.",
    "boat": "OO./O.O/.O.",
    "ship": "OO./O.O/.OO",
    "tub": ".O./O.O/.O.",
    "pond": ".OO./O..O/O..O/.OO.",
    "long boat": "OO../O.O./.O.O/..O.",
    "ship-tie": "OO..../O.O.../.OO.../...OO./...O.O/....OO",
    "barge": ".O../O.O./.O.O/..O.",
    "half-bakery": "....OO./...O..O/...O.O./.OO.O../O..O.../O.O..../.O.....",
    "mango": ".OO../O..O./.O..O/..OO.",
    "eater 1": "OO../O.O./..O./..OO",
    "long barge": ".O.../O.O../.O.O./..O.O/...O.",
    "aircraft carrier": "OO../O..O/..OO",
    "paperclip": "..OO./.O..O/.O.OO/OO.O./O..O./.OO..",
    "long ship": "OO../O.O./.O.O/..OO",
    "integral sign": "...OO/..O.O/..O../O.O../OO...",
    "shillelagh": "OO.../O..OO/.OO.O",
    "boat-tie": ".O..../O.O.../.OO.../...OO./...O.O/....O.",
    "snake": "OO.O/O.OO",
    "big S": "....OO./...O..O/...O.OO/OO.O.../O..O.../.OO....",
    "bi-pond": ".OO..../O..O.../O..O.../.OO.OO./...O..O/...O..O/....OO.",
    "boat tie ship": "OO..../O.O.../.OO.../...OO./...O.O/....O.",
    "hat": "..O../.O.O./.O.O./OO.OO",
    "very long ship": "OO.../O.O../.O.O./..O.O/...OO",
    "very long boat": "OO.../O.O../.O.O./..O.O/...O.",
    "mirrored table": "OO.OO/.O.O./.O.O./OO.OO",
    "dead spark coil": "OO...OO/O.O.O.O/..O.O../O.O.O.O/OO...OO",
    "canoe": "...OO/....O/...O./O.O../OO...",
    "long snake": "OO./O../.O./..O/.OO",
    "block on table": "OO../OO../..../OOOO/O..O",
    "loop": ".OO../O..O./.O.O./OO.OO",
    "blinker": "OOO",
    "toad": ".OOO/OOO.",
    "beacon": "OO../OO../..OO/..OO",
    "pulsar": (
        "..OOO...OOO../............./O....O.O....O/O....O.O....O/O....O.O....O/..OOO...OOO../............./"
        "..OOO...OOO../O....O.O....O/O....O.O....O/O....O.O....O/............./..OOO...OOO.."
    ),
    "pentadecathlon": "..O....O../OO.OOOO.OO/..O....O..",
    "clock": "..O./O.O./.O.O/.O..",
    "figure eight": "OOO.../OOO.../OOO.../...OOO/...OOO/...OOO",
    "bipole": "OO.../O.O../...../..O.O/...OO",
    "tripole": "OO..../O.O.../....../..O.O./.....O/....OO",
    "mold": "...OO./..O..O/O..O.O/....O./O.OO../.O....",
    "tumbler": ".O.....O./O.O...O.O/O..O.O..O/..O...O../..OO.OO..",
    "octagon 2": "...OO.../..O..O../.O....O./O......O/O......O/.O....O./..O..O../...OO...",
    "glider": ".O./..O/OOO",
    "lightweight spaceship": ".O..O/O..../O...O/OOOO.",
    "middleweight spaceship": "...O../.O...O/O...../O....O/OOOOO.",
    "heavyweight spaceship": "...OO../.O....O/O....../O.....O/OOOOOO.",
}


def drawn(picture: str) -> set[Cell]:
    """The cells that are O, of rows split by slashes."""
    return {(row, col) for row, line in enumerate(picture.split("/")) for col, mark in enumerate(line) if mark == "O"}


def near(cell: Cell, size: tuple[int, int] | None) -> Iterator[Cell]:
    """The neighbours, on a torus of a size or the plane."""
    for down, right in OFFSETS:
        row, col = cell[0] + down, cell[1] + right
        yield (row, col) if size is None else (row % size[0], col % size[1])


def next_set(live: Collection[Cell], size: tuple[int, int] | None = None) -> set[Cell]:
    """One generation."""
    counts = Counter(other for cell in live for other in near(cell, size))
    return {cell for cell, count in counts.items() if count == 3 or (count == 2 and cell in live)}


def at_corner(cells: Iterable[Cell]) -> Shape:
    """Moved to rows and columns from 0."""
    some = list(cells)
    top, left = min(row for row, _ in some), min(col for _, col in some)
    return tuple(sorted((row - top, col - left) for row, col in some))


def canonical(cells: Collection[Cell]) -> Shape:
    """The object that cells of the plane are by themselves; `ACTIVE` if they do not come back."""
    first, phases, now = at_corner(cells), [], set(cells)
    for _ in range(LONGEST):
        phases.append(now)
        now = next_set(now)
        if len(now) == len(cells) and at_corner(now) == first:
            turned = (
                [(down * row, right * col) for row, col in some]
                for phase in phases
                for some in (phase, [(col, row) for row, col in phase])
                for down in (1, -1)
                for right in (1, -1)
            )
            return min((len(shape), shape) for shape in map(at_corner, turned))[1]
        if not now:
            break
    return ACTIVE


NAMED = {canonical(drawn(picture)): name for name, picture in DRAWINGS.items()}


def named(shape: Shape) -> str:
    """The name of a drawing, or "" without one."""
    return "active" if shape == ACTIVE else NAMED.get(shape, "")


def find(live: Collection[Cell], size: tuple[int, int], generations: int = 2 * LONGEST) -> Counter[Shape]:
    """The objects of a torus: islands that have had to do with each other in so many generations are one."""
    head = {cell: cell for cell in live}

    def root(cell: Cell) -> Cell:
        while head[cell] != cell:
            cell = head[cell]
        return cell

    for cell in live:
        for other in near(cell, size):
            if other in head:
                head[root(other)] = root(cell)
    while met := _first_meeting({cell: root(cell) for cell in live}, size, generations):
        first, *others = sorted(met)
        for other in others:
            head[root(other)] = root(first)
    objects = defaultdict(list)
    for cell in live:
        objects[root(cell)].append(cell)
    return Counter(canonical(rolled_out(cells, size)) for cells in objects.values())


def _first_meeting(owner: dict[Cell, Cell], size: tuple[int, int], generations: int) -> set[Cell]:
    """Owners of cells, all of which a cell needs to become what it does; none if there is no such cell.

    What dies out beside something else, as sparks do, belongs to that as well.
    """
    first = owner
    for _ in range(generations):
        if owner is not first and owner == first:
            return set()  # from here on all repeats
        votes: dict[Cell, Counter[Cell]] = defaultdict(Counter)
        for cell, whose in owner.items():
            for other in near(cell, size):
                votes[other][whose] += 1
        after = {}
        for cell in votes.keys() | owner.keys():
            counts, mine = votes[cell], owner.get(cell)
            total = counts.total()
            lives = total == 3 or (total == 2 and mine is not None)
            alone = [
                whose
                for whose in counts.keys() | ({mine} if mine else set())
                if counts[whose] == 3 or (counts[whose] == 2 and mine == whose)
            ]
            if lives != bool(alone) or len(alone) > 1:
                return set(counts) | ({mine} if mine else set())
            if lives:
                after[cell] = alone[0]
        owner = after
    for gone in sorted(set(first.values()) - set(owner.values())):
        wide = {
            far for cell, whose in first.items() if whose == gone for by in near(cell, size) for far in near(by, size)
        }
        if beside := {whose for cell, whose in first.items() if cell in wide} - {gone}:
            return beside | {gone}
    return set()


def rolled_out(cells: Collection[Cell], size: tuple[int, int]) -> list[Cell]:
    """Cells of a torus on the plane: cut where the widest run of rows, and of columns, is empty."""
    moved = list(cells)
    for axis, length in enumerate(size):
        used = sorted({cell[axis] for cell in moved})
        gaps = [((used[(i + 1) % len(used)] - place - 1) % length, place) for i, place in enumerate(used)]
        cut = (max(gaps)[1] + 1) % length
        moved = [tuple((v - cut) % length if a == axis else v for a, v in enumerate(cell)) for cell in moved]  # type: ignore[misc]
    return moved


def cells_of(code: str) -> frozenset[tuple[int, int]]:
    """The cells of the phase that an apgcode holds."""
    cells, text, strip, col = set(), iter(code.partition("_")[2]), 0, 0
    for character in text:
        if character == "z":
            strip, col = strip + 5, 0
        elif character in "wx":
            col += 2 + (character == "x")
        elif character == "y":
            col += 4 + int(next(text), 36)
        else:
            cells |= {(strip + bit, col) for bit in range(5) if int(character, 36) >> bit & 1}
            col += 1
    return frozenset(cells)

"""What a group of live cells is, left alone: still lifes, oscillators and spaceships, apart from each other.

A group that comes back to itself within 60 generations, in its place or another one, is made of objects: of the ways
to part its islands (cells joined by sides or corners) so that each part comes back by itself and all together live as
the whole does, the one with most parts counts. So two blocks with one empty column between them are two blocks, a
traffic light is four blinkers, and a table with a block, which needs it, is one object. What does not come back, and
cannot be parted into what does, is active.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .apgcode import Cell, apgcode
from .life_worlds import Board, Plane, World
from .object_names import name_of

__all__ = ["ACTIVE", "LONGEST", "Form", "Kind", "Piece", "recognise"]

LONGEST = 60
"""Generations of a period."""

Form: TypeAlias = Literal["still life", "oscillator", "spaceship", "bound", "active"]
"""`bound` is what comes back only thanks to its board: it winds round the torus, or leans on an edge."""

_SOON = 4  # most patterns have such a period, or none
_MOST_PARTED = 9  # islands in all ways
_MOST_PASSING = 6  # the same of what does not come back as a whole, as a spaceship may pass something
_MOST_PEELED = 64  # islands taken away one by one


@dataclass(frozen=True)
class Kind:
    """A sort of objects.

    name:   the usual one, else the code.
    code:   its apgcode; for what is bound to its board or active a word of our own.
    form:   what sort of thing it is.
    period: 0 if it has none.
    cells:  the fewest live cells in a generation; 0 of what is active.
    """

    name: str
    code: str
    form: Form
    period: int
    cells: int


ACTIVE = Kind("active", "active", "active", 0, 0)


@dataclass(frozen=True)
class Piece:
    """An object of a group.

    cells: live ones now.
    reach: all that are live at some time in a period; of what is active, now and in the next generation.
    """

    kind: Kind
    cells: frozenset[Cell]
    reach: frozenset[Cell]


# ---------------------------------------------------------------- what comes back


@dataclass(frozen=True)
class _Course:
    """A pattern that comes back: boards of a period, and how far it is moved then."""

    boards: tuple[int, ...]
    moved: Cell

    def at(self, world: World, generations: int) -> list[int]:
        """Boards of generations 0 to `generations`."""
        if self.moved == (0, 0):
            return [self.boards[number % len(self.boards)] for number in range(generations + 1)]
        return _life(world, self.boards[0], generations)


def _life(world: World, board: int, generations: int) -> list[int]:
    boards = [board]
    for _ in range(generations):
        boards.append(world.after(boards[-1]))
    return boards


def _course(world: World, board: int, longest: int) -> _Course | None:
    boards = [board]
    while len(boards) <= longest:
        later = world.after(boards[-1])
        if (moved := world.moved(board, later)) is not None:
            return _Course(tuple(boards), moved)
        if not later:
            break
        boards.append(later)
    return None


def recognise(cells: frozenset[Cell], world: Board | None = None) -> tuple[Piece, ...]:
    """The objects of a group of cells that live alone, in no order that means anything.

    Args:
        cells: some; on a torus each once.
        world: of which board the edges matter; None for the endless plane.
    """
    if world is not None:
        return _recognised(world, world.cells(world.pack(cells)), LONGEST, world)
    for longest in (_SOON, LONGEST):
        plane = Plane(cells, 2 * longest)
        pieces = _recognised(plane, cells, longest, None)
        if longest == LONGEST or all(piece.kind is not ACTIVE for piece in pieces):
            return pieces
    raise AssertionError("the last round returns")


def _recognised(world: World, cells: frozenset[Cell], longest: int, board: Board | None) -> tuple[Piece, ...]:
    whole = world.pack(cells)
    course = _course(world, whole, longest)
    after = world.after(whole)
    found = None
    if course is not None or longest == _SOON:
        parts = [world.pack(island) for island in _islands(cells, world.cells(after & ~whole), board)]
        found = _parted(world, whole, course, parts, longest) if len(parts) > 1 else None
    if found is None:
        if course is None:
            return (Piece(ACTIVE, cells, cells | world.cells(after)),)
        found = [course]
    return tuple(_piece(world, part) for part in found)


def _piece(world: World, course: _Course) -> Piece:
    phases = [world.cells(board) for board in course.boards]
    reach = frozenset().union(*phases)
    if world.bound:
        period, fewest = len(phases), min(map(len, phases))
        name = f"bound p{period}, {fewest} cells"
        return Piece(Kind(name, name, "bound", period, fewest), phases[0], reach)
    if course.moved != (0, 0):
        reach |= world.cells(world.after(course.boards[-1]))
    return Piece(_kind(phases, course.moved != (0, 0)), phases[0], reach)


_KINDS: dict[frozenset[Cell], Kind] = {}
_MOST_KINDS = 1 << 16


def _kind(phases: Sequence[frozenset[Cell]], moves: bool) -> Kind:
    """Remembered by the first phase, as most groups are made of the same few objects."""
    top, left = min(row for row, _ in phases[0]), min(col for _, col in phases[0])
    key = frozenset((row - top, col - left) for row, col in phases[0])
    if key not in _KINDS:
        if len(_KINDS) >= _MOST_KINDS:
            _KINDS.clear()
        period, code = len(phases), apgcode(phases, moves)
        form: Form = "spaceship" if moves else "still life" if period == 1 else "oscillator"
        _KINDS[key] = Kind(name_of(code), code, form, period, min(map(len, phases)))
    return _KINDS[key]


def _islands(cells: frozenset[Cell], born: Iterable[Cell], board: Board | None) -> list[set[Cell]]:
    """Cells joined by sides and corners; those of which a cell is born are put together, as it needs all three."""
    number: dict[Cell, int] = {}
    islands: list[set[Cell]] = []
    for first in cells:
        if first in number:
            continue
        island, fresh = {first}, [first]
        while fresh:
            near = (_neighbours(fresh.pop(), board) & cells) - island
            island |= near
            fresh += near
        number |= dict.fromkeys(island, len(islands))
        islands.append(island)
    for cell in born:
        kept, *others = sorted({number[parent] for parent in _neighbours(cell, board) & cells})
        for other in others:
            number |= dict.fromkeys(islands[other], kept)
            islands[kept] |= islands[other]
            islands[other] = set()
    return [island for island in islands if island]


def _neighbours(cell: Cell, board: Board | None) -> set[Cell]:
    row, col = cell
    around = {(row + down, col + right) for down in (-1, 0, 1) for right in (-1, 0, 1)}
    if board is None or board.torus is None:
        return around
    rows, cols = board.torus
    return {(row % rows, col % cols) for row, col in around}


# ---------------------------------------------------------------- apart


def _parted(
    world: World, whole: int, course: _Course | None, parts: Sequence[int], longest: int
) -> list[_Course] | None:
    """The finest way to part what is more than one object; None if there is none."""
    if len(parts) > (_MOST_PARTED if course else _MOST_PASSING):
        return _peeled(world, parts, longest) if course and len(parts) <= _MOST_PEELED else None
    full = (1 << len(parts)) - 1
    courses: dict[int, _Course] = {}
    for mask in range(1, full + (course is not None)):
        board = sum(part for number, part in enumerate(parts) if mask >> number & 1)
        if (found := course if mask == full else _course(world, board, longest)) is not None:
            courses[mask] = found
    search = _Search(world, whole, course, courses)
    search.cover(full, [])
    return search.best


class _Search:
    """For the finest way to cover all parts, each once, by patterns that come back and together live as the whole.

    Args:
        world: where they live.
        whole: all cells.
        course: of the whole, if it comes back.
        courses: of those sets of parts that do, by their bits.
    """

    def __init__(self, world: World, whole: int, course: _Course | None, courses: dict[int, _Course]) -> None:
        self.world, self.whole, self.course, self.courses = world, whole, course, courses
        self.masks = sorted(courses, key=int.bit_count)
        self.best: list[_Course] | None = None
        self._codes: list[str] = []

    def cover(self, left: int, chosen: list[int]) -> None:
        """Cover the parts that are left, in all ways that may be as fine as the best one."""
        if self.best is not None and len(chosen) + left.bit_count() < len(self.best):
            return
        if not left:
            self._try([self.courses[mask] for mask in chosen])
            return
        lowest = left & -left
        for mask in self.masks:
            if mask & lowest and mask & left == mask:
                self.cover(left ^ mask, [*chosen, mask])

    def _try(self, parts: list[_Course]) -> None:
        if len(parts) > 1 and not _independent(self.world, self.whole, self.course, parts):
            return
        # Where two ways are as fine, names decide: they do not depend on how the group is turned.
        codes = sorted(_piece(self.world, part).kind.code for part in parts)
        if self.best is None or len(parts) > len(self.best) or codes < self._codes:
            self.best, self._codes = parts, codes


def _independent(world: World, whole: int, course: _Course | None, parts: Sequence[_Course]) -> bool:
    """Whether the parts together live as the whole does, for a period of the whole or of all parts."""
    if course is not None:
        generations = len(course.boards)
    else:
        periods = [len(part.boards) for part in parts]
        settled = [len(part.boards) for part in parts if part.moved == (0, 0)]
        generations = max(*periods, min(math.lcm(*settled), LONGEST))
    lives = [part.at(world, generations) for part in parts]
    expected = course.at(world, generations) if course is not None else _life(world, whole, generations)
    return all(board == functools.reduce(int.__or__, now) for board, *now in zip(expected, *lives, strict=True))


def _peeled(world: World, parts: Sequence[int], longest: int) -> list[_Course] | None:
    """For many parts: those that single parts can be taken away from, and what is left."""
    left, found = list(parts), []
    for part in parts:
        rest = sum(other for other in left if other != part)
        one, others = _course(world, part, longest), _course(world, rest, longest) if rest else None
        if one is not None and others is not None and _independent(world, part | rest, None, [one, others]):
            found.append(one)
            left.remove(part)
            if len(left) <= _MOST_PARTED:
                break
    if not found:
        return None
    rest = sum(left)
    remaining = _course(world, rest, longest)
    if remaining is None:
        return None
    finer = _parted(world, rest, remaining, left, longest) if 1 < len(left) <= _MOST_PARTED else None
    return found + (finer or [remaining])

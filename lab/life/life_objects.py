"""Objects of Life in a group of live cells: still lifes, oscillators and spaceships, told apart from each other.

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

from cellgames.envs.boards.rle import Cell

from .apgcode import apgcode
from .object_names import name_of
from .universes import Board, Plane, Universe

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
    """A kind of objects.

    Attributes:
        name: The usual one, else the code.
        code: Its apgcode; for what is bound to its board or active a word of our own.
        form: What sort of thing it is.
        period: 0 if it has none.
        cells: The fewest live cells in a generation; 0 of what is active.
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

    Attributes:
        cells: Live ones now.
        reach: All that are live at some time in a period; of what is active, now and in the next generation.
    """

    kind: Kind
    cells: frozenset[Cell]
    reach: frozenset[Cell]


# ---------------------------------------------------------------- what comes back


@dataclass(frozen=True)
class _Orbit:
    """A pattern that comes back: its boards of a period, and how far it has moved by then."""

    boards: tuple[int, ...]
    offset: Cell

    def at(self, universe: Universe, generations: int) -> list[int]:
        """Return the boards of generations 0 to `generations`."""
        if self.offset == (0, 0):
            return [self.boards[number % len(self.boards)] for number in range(generations + 1)]
        return _life(universe, self.boards[0], generations)


def _life(universe: Universe, board: int, generations: int) -> list[int]:
    boards = [board]
    for _ in range(generations):
        boards.append(universe.next_board(boards[-1]))
    return boards


def _orbit(universe: Universe, board: int, longest: int) -> _Orbit | None:
    boards = [board]
    while len(boards) <= longest:
        later = universe.next_board(boards[-1])
        if (moved := universe.offset(board, later)) is not None:
            return _Orbit(tuple(boards), moved)
        if not later:
            break
        boards.append(later)
    return None


def recognise(cells: frozenset[Cell], universe: Board | None = None) -> tuple[Piece, ...]:
    """Return the objects of a group of cells without others around it, in no particular order.

    Args:
        cells: Some; on a torus each once.
        universe: The board whose edges matter; None for the endless plane.
    """
    if universe is not None:
        return _recognise_within(universe, universe.cells(universe.pack(cells)), LONGEST, universe)
    for longest in (_SOON, LONGEST):
        plane = Plane(cells, 2 * longest)
        pieces = _recognise_within(plane, cells, longest, None)
        if longest == LONGEST or all(piece.kind is not ACTIVE for piece in pieces):
            return pieces
    raise AssertionError("the last round returns")


def _recognise_within(
    universe: Universe, cells: frozenset[Cell], longest: int, board: Board | None
) -> tuple[Piece, ...]:
    whole = universe.pack(cells)
    orbit = _orbit(universe, whole, longest)
    after = universe.next_board(whole)
    found = None
    if orbit is not None or longest == _SOON:
        parts = [universe.pack(island) for island in _islands(cells, universe.cells(after & ~whole), board)]
        found = _separate(universe, whole, orbit, parts, longest) if len(parts) > 1 else None
    if found is None:
        if orbit is None:
            return (Piece(ACTIVE, cells, cells | universe.cells(after)),)
        found = [orbit]
    return tuple(_piece(universe, part) for part in found)


def _piece(universe: Universe, orbit: _Orbit) -> Piece:
    phases = [universe.cells(board) for board in orbit.boards]
    reach = frozenset().union(*phases)
    if universe.bounded:
        period, fewest = len(phases), min(map(len, phases))
        name = f"bound p{period}, {fewest} cells"
        return Piece(Kind(name, name, "bound", period, fewest), phases[0], reach)
    if orbit.offset != (0, 0):
        reach |= universe.cells(universe.next_board(orbit.boards[-1]))
    return Piece(_kind(phases, orbit.offset != (0, 0)), phases[0], reach)


_KINDS: dict[frozenset[Cell], Kind] = {}
_MOST_KINDS = 1 << 16


def _kind(phases: Sequence[frozenset[Cell]], moves: bool) -> Kind:
    """Return the kind of an object; it is kept by the first phase, as most groups consist of the same few objects."""
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
    """Return sets of cells joined by sides and corners; the three parents of a newborn cell are one set."""
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


def _separate(
    universe: Universe, whole: int, orbit: _Orbit | None, parts: Sequence[int], longest: int
) -> list[_Orbit] | None:
    """Return the finest separation of several objects; None for a single object."""
    if len(parts) > (_MOST_PARTED if orbit else _MOST_PASSING):
        return _peel(universe, parts, longest) if orbit and len(parts) <= _MOST_PEELED else None
    full = (1 << len(parts)) - 1
    orbits: dict[int, _Orbit] = {}
    for mask in range(1, full + (orbit is not None)):
        board = sum(part for number, part in enumerate(parts) if mask >> number & 1)
        if (found := orbit if mask == full else _orbit(universe, board, longest)) is not None:
            orbits[mask] = found
    search = _Search(universe, whole, orbit, orbits)
    search.cover(full, [])
    return search.best


class _Search:
    """A search for the finest separation: parts that come back, each used once, and live together as the whole does.

    Args:
        universe: Where the cells live.
        whole: All cells.
        orbit: Orbit of the whole, if it comes back.
        orbits: Orbits of the sets of parts that come back, by their bits.
    """

    def __init__(self, universe: Universe, whole: int, orbit: _Orbit | None, orbits: dict[int, _Orbit]) -> None:
        self.universe, self.whole, self.orbit, self.orbits = universe, whole, orbit, orbits
        self.masks = sorted(orbits, key=int.bit_count)
        self.best: list[_Orbit] | None = None
        self._codes: list[str] = []

    def cover(self, left: int, chosen: list[int]) -> None:
        """Cover the parts that are left, in all ways that may be as fine as the best one."""
        if self.best is not None and len(chosen) + left.bit_count() < len(self.best):
            return
        if not left:
            self._try([self.orbits[mask] for mask in chosen])
            return
        lowest = left & -left
        for mask in self.masks:
            if mask & lowest and mask & left == mask:
                self.cover(left ^ mask, [*chosen, mask])

    def _try(self, parts: list[_Orbit]) -> None:
        if len(parts) > 1 and not _independent(self.universe, self.whole, self.orbit, parts):
            return
        # Where two ways are as fine, names decide: they do not depend on how the group is turned.
        codes = sorted(_piece(self.universe, part).kind.code for part in parts)
        if self.best is None or len(parts) > len(self.best) or codes < self._codes:
            self.best, self._codes = parts, codes


def _independent(universe: Universe, whole: int, orbit: _Orbit | None, parts: Sequence[_Orbit]) -> bool:
    """Return True if the parts together live as the whole does, for a period of the whole or of all parts."""
    if orbit is not None:
        generations = len(orbit.boards)
    else:
        periods = [len(part.boards) for part in parts]
        settled = [len(part.boards) for part in parts if part.offset == (0, 0)]
        generations = max(*periods, min(math.lcm(*settled), LONGEST))
    lives = [part.at(universe, generations) for part in parts]
    expected = orbit.at(universe, generations) if orbit is not None else _life(universe, whole, generations)
    return all(board == functools.reduce(int.__or__, now) for board, *now in zip(expected, *lives, strict=True))


def _peel(universe: Universe, parts: Sequence[int], longest: int) -> list[_Orbit] | None:
    """Return single parts that can be taken away from many, and the rest; None without such parts."""
    left, found = list(parts), []
    for part in parts:
        rest = sum(other for other in left if other != part)
        one, others = _orbit(universe, part, longest), _orbit(universe, rest, longest) if rest else None
        if one is not None and others is not None and _independent(universe, part | rest, None, [one, others]):
            found.append(one)
            left.remove(part)
            if len(left) <= _MOST_PARTED:
                break
    if not found:
        return None
    rest = sum(left)
    remaining = _orbit(universe, rest, longest)
    if remaining is None:
        return None
    finer = _separate(universe, rest, remaining, left, longest) if 1 < len(left) <= _MOST_PARTED else None
    return found + (finer or [remaining])

"""A cache of recognised patterns, so that each is looked at once: ash has few different ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cellgames.envs.boards.orientations import Cell

from .cell_groups import Groups
from .life_objects import ACTIVE, Kind, Piece, recognise

__all__ = ["PatternCache", "PatternTable", "bounding_box"]

Ints: TypeAlias = npt.NDArray[np.int64]

_SHORT_PERIOD = 2  # a period up to which all that an object reaches is live now or in the next generation
_MOST = 1 << 18  # patterns; what is active hardly ever comes again


@dataclass(frozen=True)
class PatternTable:
    """Patterns as arrays, `N` of them with `Q` pieces and `C` cells in all.

    Attributes:
        careful: Bool [N], whether what happens later or elsewhere on the board may matter.
        reach: int64 [N, 4], first and last row and column, from its box, that it comes to.
        first: int64 [N + 1], where its pieces begin.
        kind: int64 [Q], of a piece.
        box: int64 [Q, 4], its first row and column, from the pattern's box, its rows and columns.
        cells: int64 [Q], live ones.
        begin: int64 [N + 1], where its cells begin.
        part: int64 [C], which of its pieces each cell belongs to, by rows and columns.
    """

    careful: npt.NDArray[np.bool_]
    reach: Ints
    first: Ints
    kind: Ints
    box: Ints
    cells: Ints
    begin: Ints
    part: Ints


def bounding_box(cells: Sequence[Cell] | frozenset[Cell]) -> tuple[int, int, int, int]:
    """Return first row and column, rows and columns of the bounding box of cells."""
    rows, cols = zip(*cells, strict=True)
    top, left = min(rows), min(cols)
    return top, left, max(rows) - top + 1, max(cols) - left + 1


class PatternCache:
    """Kinds of objects by number, and patterns by key; a cache with very many patterns drops them all."""

    def __init__(self) -> None:
        self.kinds: list[Kind] = []
        self._numbers: dict[Kind, int] = {}
        self._clear()

    def _clear(self) -> None:
        self._by_key: dict[int, int] = {}
        self._pieces: list[tuple[Piece, ...]] = []
        self._rows: dict[str, list[Any]] = {name: [] for name in PatternTable.__annotations__}
        self._rows["first"].append(0)
        self._rows["begin"].append(0)
        self._table: PatternTable | None = None

    def kind_number(self, kind: Kind) -> int:
        """Return the number of a kind; a new kind gets the next one."""
        if kind not in self._numbers:
            self._numbers[kind] = len(self.kinds)
            self.kinds.append(kind)
        return self._numbers[kind]

    def look_up(self, groups: Groups) -> tuple[Ints, PatternTable]:
        """Return the pattern of each group, int64 [G], and all patterns; entries of tangled groups mean nothing."""
        if len(self._pieces) > _MOST:
            self._clear()
        keys, examples, whose = np.unique(groups.key, return_index=True, return_inverse=True)
        rows, cols = groups.live.shape[1:]
        known = np.empty(len(keys), dtype=np.int64)
        for place, (key, example) in enumerate(zip(keys.tolist(), examples.tolist(), strict=True)):
            if key not in self._by_key:
                if groups.tangled[example]:
                    known[place] = 0
                    continue
                row, col = int(groups.row[example]), int(groups.col[example])
                cells = frozenset(((r - row) % rows, (c - col) % cols) for r, c in groups.cells(example))
                self._by_key[key] = self._add(cells, recognise(cells))
            known[place] = self._by_key[key]
        if not self._pieces and len(keys):  # nothing but tangled groups
            self._add(frozenset({(0, 0)}), recognise(frozenset({(0, 0)})))
        return known[whose.reshape(-1)], self.table

    def pieces(self, pattern: int) -> tuple[Piece, ...]:
        """Return the pieces of a pattern, from its box."""
        return self._pieces[pattern]

    def _add(self, cells: frozenset[Cell], pieces: tuple[Piece, ...]) -> int:
        rows = self._rows
        whose = {cell: number for number, piece in enumerate(pieces) for cell in piece.cells}
        rows["careful"].append(any(piece.kind is ACTIVE or piece.kind.period > _SHORT_PERIOD for piece in pieces))
        top, left, high, wide = bounding_box(frozenset().union(*(piece.reach for piece in pieces)))
        rows["reach"].append((top, top + high - 1, left, left + wide - 1))
        for piece in pieces:
            rows["kind"].append(self.kind_number(piece.kind))
            rows["box"].append(bounding_box(piece.cells))
            rows["cells"].append(len(piece.cells))
        rows["part"].extend(whose[cell] for cell in sorted(cells))
        rows["first"].append(len(rows["kind"]))
        rows["begin"].append(len(rows["part"]))
        self._pieces.append(pieces)
        self._table = None
        return len(self._pieces) - 1

    @property
    def table(self) -> PatternTable:
        """All patterns as arrays."""
        if self._table is None:
            arrays = {name: np.array(values, dtype=np.int64) for name, values in self._rows.items()}
            careful = arrays.pop("careful").astype(bool)
            reach, box = arrays.pop("reach").reshape(-1, 4), arrays.pop("box").reshape(-1, 4)
            self._table = PatternTable(careful=careful, reach=reach, box=box, **arrays)
        return self._table

"""A census of Life: still lifes, oscillators and spaceships on boards, with their places and owners.

What an object is, `life_objects` says; it has its usual name where it has one, and Adam P. Goucher's apgcode. Boards
may still be in motion: what comes back to itself within 60 generations, undisturbed by the rest of its board for as
long as its period, is an object; everything else is counted as active. What repeats only because it winds round a
torus or leans on an edge is called bound and has no apgcode.

Needs SciPy: `pip install "cellgames[research]"`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from torch import Tensor

from cellgames.utils.errors import InputError
from cellgames.utils.report.model import Cell as TableCell
from cellgames.utils.report.model import Table

from .cell_groups import MOST
from .interactions import PatternCache
from .life_objects import Kind
from .object_arrays import COLUMNS, ObjectArrays, find_objects

Ints: TypeAlias = npt.NDArray[np.int64]

_CHUNK = 1 << 20  # cells at a time
_CACHE = PatternCache()


class CensusObject(NamedTuple):
    """An object of a census; see `Census`."""

    board: int
    row: int
    col: int
    rows: int
    cols: int
    cells: int
    kind: Kind
    owner: int
    share: float


@dataclass(frozen=True)
class Census:
    """The objects of `B` boards, `N` of them, by boards, and by rows and columns of their boxes.

    Attributes:
        boards: `B`.
        kinds: All that were found, the most frequent first.
        board: int64 [N].
        box: int64 [N, 4], first row and column, rows and columns of its box now; on a torus it may go on across a seam.
        cells: int64 [N], live now.
        kind: int64 [N], which of `kinds`.
        owner: int64 [N], player with most of its cells, the lowest number of several; 0 for nobody.
        share: float64 [N], of its cells that are the owner's.
        place: int64 [C], the live cells of all objects, counted by board, row and column; only with owners.
        whose: int64 [C], the object of each of these cells.
    """

    boards: int
    kinds: tuple[Kind, ...]
    board: Ints
    box: Ints
    cells: Ints
    kind: Ints
    owner: Ints
    share: npt.NDArray[np.float64]
    place: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    whose: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)

    def __len__(self) -> int:
        return len(self.board)

    def __iter__(self) -> Iterator[CensusObject]:
        columns = (self.board, self.box, self.cells, self.kind, self.owner, self.share)
        for board, (row, col, rows, cols), cells, kind, owner, share in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            yield CensusObject(board, row, col, rows, cols, cells, self.kinds[kind], owner, share)

    def counts(self) -> dict[str, int]:
        """Return the number of objects by name, the most frequent first."""
        return {kind.name: total for kind, total in zip(self.kinds, self.totals(), strict=True)}

    def totals(self) -> list[int]:
        """Return the number of objects of each of `kinds`."""
        found: list[int] = np.bincount(self.kind, minlength=len(self.kinds)).tolist()
        return found

    def by_board(self) -> Ints:
        """Return the number of objects of each kind on each board, int64 [B, kinds]."""
        return self._counted(self.board, self.boards)

    def by_owner(self, owners: int) -> Ints:
        """Return the number of objects of each kind that nobody and each owner has, int64 [owners + 1, kinds]."""
        return self._counted(self.owner, owners + 1)

    def _counted(self, rows: Ints, count: int) -> Ints:
        if len(rows) and int(rows.max()) >= count:
            raise InputError("count", f"at least {int(rows.max())} owners", count - 1)
        places = rows * len(self.kinds) + self.kind
        return np.bincount(places, minlength=count * len(self.kinds)).reshape(count, len(self.kinds))

    def table(self, name: str = "census", owners: Sequence[str] = ()) -> Table:
        """Return a table of the kinds: how many there are in all, a board, and of each owner.

        Args:
            name: Name of the table.
            owners: Names of owners 1, 2, ...; empty for no columns of owners.
        """
        totals = self.totals()
        each = self.by_owner(len(owners)).T.tolist() if owners else [[]] * len(self.kinds)
        rows: list[tuple[TableCell, ...]] = [
            (
                *(kind.name, kind.code, kind.form, kind.period or None, kind.cells or None),
                *(total, total / self.boards),
                *of_owner[1:],
            )
            for kind, total, of_owner in zip(self.kinds, totals, each, strict=True)
        ]
        titles = ("object", "apgcode", "form", "period", "cells", "count", "a board")
        return Table(name, (*titles, *owners), rows)


def census(
    boards: Tensor | npt.NDArray[np.generic],
    *,
    wrap: bool = True,
    owners: Tensor | npt.NDArray[np.generic] | None = None,
) -> Census:
    """Return the objects of boards.

    Args:
        boards: Bool [B, H, W], or any numbers, live where not zero; `H` and `W` from 3 to 4,096.
        wrap: On tori; otherwise nothing lies beyond the edges.
        owners: Integers [B, H, W], to whom live cells belong, from 1, and 0 for nobody. None: all to nobody.

    Raises:
        ValueError: Other shapes or numbers.
        ImportError: SciPy is not installed.
    """
    try:
        import scipy.sparse.csgraph  # noqa: F401
    except ImportError:
        raise ImportError('the census needs SciPy: pip install "cellgames[research]"') from None
    live = _array(boards) != 0
    if live.ndim != 3 or not all(3 <= size <= MOST for size in live.shape[1:]):
        cause = "is it one board without a batch?"
        raise InputError("boards", f"shape [B, H, W] with 3 to {MOST:,} rows and columns", list(live.shape), cause)
    whose = None if owners is None else _owners(_array(owners), live)
    step = max(1, _CHUNK // (live.shape[1] * live.shape[2]))
    parts: list[ObjectArrays] = []
    for start in range(0, len(live), step):
        chunk = slice(start, start + step)
        part = find_objects(live[chunk], wrap, _CACHE, None if whose is None else whose[chunk])
        part.objects[:, 0] += start
        part.place[:] += start * live.shape[1] * live.shape[2]
        part.whose[:] += sum(len(earlier.objects) for earlier in parts)
        parts.append(part)
    return _joined(len(live), parts)


def _array(values: Tensor | npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    return np.ascontiguousarray(values.numpy(force=True) if isinstance(values, Tensor) else values)


def _owners(owners: npt.NDArray[np.generic], live: npt.NDArray[np.bool_]) -> Ints:
    if owners.shape != live.shape or not np.issubdtype(owners.dtype, np.integer):
        got = f"{owners.dtype} {list(owners.shape)}"
        raise InputError("owners", f"integers of the boards' shape {list(live.shape)}", got)
    whose = owners.astype(np.int64)
    if whose.size and not 0 <= int(whose.min()) <= int(whose.max()) < 1 << 15:
        raise InputError("owners", f"from 0 to {(1 << 15) - 1}", f"{int(whose.min())} to {int(whose.max())}")
    return whose


def _joined(boards: int, parts: Sequence[ObjectArrays]) -> Census:
    objects = np.concatenate([part.objects for part in parts] or [np.zeros((0, len(COLUMNS)), dtype=np.int64)])
    nothing = np.zeros(0, dtype=np.int64)
    owner, place_of, whose = (
        np.concatenate([getattr(part, name) for part in parts] or [nothing]) for name in ("owner", "place", "whose")
    )
    share = np.concatenate([part.share for part in parts] or [np.zeros(0)])
    board, row, col, high, wide, cells, number = objects.T
    totals = np.bincount(number, minlength=len(_CACHE.kinds))
    present = np.flatnonzero(totals).tolist()
    present.sort(key=lambda kind: (-int(totals[kind]), _CACHE.kinds[kind].code))
    place = np.zeros(len(_CACHE.kinds), dtype=np.int64)
    place[present] = np.arange(len(present))
    order = np.lexsort((col, row, board))
    kind = place[number] if len(number) else number
    box = np.stack((row, col, high, wide), 1)
    columns = (column[order] for column in (board, box, cells, kind, owner, share))
    number_of = np.argsort(order)  # the number of each object in that order
    whose = number_of[whose] if len(whose) else whose
    found = Census(boards, tuple(_CACHE.kinds[kind] for kind in present), *columns)
    return replace(found, place=place_of, whose=whose)

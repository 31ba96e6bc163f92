"""Objects of a few boards as arrays: known patterns all at once, others one by one.

Letters: `B` boards, `H, W` rows and columns, `N` objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .cell_groups import Groups, group
from .interactions import Interaction, PatternCache, PatternTable, bounding_box, interactions

Ints: TypeAlias = npt.NDArray[np.int64]

COLUMNS = ("board", "row", "col", "rows", "cols", "cells", "kind")
"""Columns of `ObjectArrays.objects`."""


@dataclass(frozen=True)
class ObjectArrays:
    """Objects in no particular order.

    Attributes:
        objects: int64 [N, 7], `COLUMNS`; kinds are numbers of the cache.
        owner: int64 [N], player with most of its cells, the lowest number of several.
        share: float64 [N], of its cells that are the owner's.
        place: int64 [C], the live cells of all objects, by board, row and column; empty without owners.
        whose: int64 [C], the object of each of these cells.
    """

    objects: Ints
    owner: Ints
    share: npt.NDArray[np.float64]
    place: Ints
    whose: Ints


def find_objects(live: npt.NDArray[np.bool_], wrap: bool, cache: PatternCache, owners: Ints | None) -> ObjectArrays:
    """Return the objects of boards, bool [B, H, W], and whose they are by owners, int64 [B, H, W]."""
    groups = group(live, wrap)
    pattern, table = cache.look_up(groups)
    careful = groups.tangled | table.careful[pattern] | ~_alone(groups, table.reach[pattern])
    met = interactions(groups, careful, pattern, cache) if careful.any() else []
    for interaction in met:
        careful[list(interaction.groups)] = True
    plain = _of_patterns(groups, pattern, table, np.flatnonzero(~careful), owners is not None)
    others = _of_interactions(met, groups, cache, len(plain[0]))
    objects, place, whose = (np.concatenate(pair) for pair in zip(plain, others, strict=True))
    if owners is None or not len(objects):
        return ObjectArrays(objects, np.zeros(len(objects), dtype=np.int64), np.ones(len(objects)), place, whose)
    values = owners.reshape(-1)[place]
    count = int(values.max()) + 1
    held = np.bincount(whose * count + values, minlength=len(objects) * count).reshape(len(objects), count)
    return ObjectArrays(objects, held.argmax(1), held.max(1) / objects[:, COLUMNS.index("cells")], place, whose)


def _alone(groups: Groups, reach: Ints) -> npt.NDArray[np.bool_]:
    """Return for each group, bool [G], if its reach, int64 [G, 4], keeps off the edges or, on a torus, its own back."""
    rows, cols = groups.live.shape[1:]
    top, bottom, left, right = reach.T
    if groups.wrap:
        fits: npt.NDArray[np.bool_] = (bottom - top < rows - 2) & (right - left < cols - 2)
        return fits
    inside: npt.NDArray[np.bool_] = (groups.row + top >= 0) & (groups.row + bottom < rows)
    inside &= (groups.col + left >= 0) & (groups.col + right < cols)
    return inside


def _of_patterns(
    groups: Groups, pattern: Ints, table: PatternTable, chosen: Ints, with_cells: bool
) -> tuple[Ints, Ints, Ints]:
    """Return the objects of groups whose patterns are known, and if asked for the places of cells and their objects."""
    rows, cols = groups.live.shape[1:]
    pattern = pattern[chosen]
    first = table.first[pattern]
    pieces = table.first[pattern + 1] - first
    begin = np.cumsum(pieces) - pieces  # the number of each group's first object
    source = np.repeat(first - begin, pieces) + np.arange(int(pieces.sum()))
    of = np.repeat(chosen, pieces)
    box = table.box[source]
    objects = np.stack(
        (
            groups.board[of],
            (box[:, 0] + groups.row[of]) % rows,
            (box[:, 1] + groups.col[of]) % cols,
            box[:, 2],
            box[:, 3],
            table.cells[source],
            table.kind[source],
        ),
        1,
    )
    if not with_cells:
        return objects, chosen[:0], chosen[:0]
    sizes = table.begin[pattern + 1] - table.begin[pattern]
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    place = groups.place[np.repeat(groups.start[chosen], sizes) + within]
    part = table.part[np.repeat(table.begin[pattern], sizes) + within]
    return objects, place, np.repeat(begin, sizes) + part


def _of_interactions(
    met: Sequence[Interaction], groups: Groups, cache: PatternCache, number: int
) -> tuple[Ints, Ints, Ints]:
    """Return the same for groups that were looked at one by one; `number` is that of the first object."""
    rows, cols = groups.live.shape[1:]
    objects: list[tuple[int, ...]] = []
    place: list[int] = []
    whose: list[int] = []
    for interaction in met:
        board = int(groups.board[interaction.groups[0]])
        for piece in interaction.pieces:
            top, left, high, wide = bounding_box(piece.cells)
            place += [(board * rows + row % rows) * cols + col % cols for row, col in piece.cells]
            whose += [number + len(objects)] * len(piece.cells)
            objects.append(
                (board, top % rows, left % cols, high, wide, len(piece.cells), cache.kind_number(piece.kind))
            )
    table = np.array(objects, dtype=np.int64).reshape(-1, len(COLUMNS))
    return table, np.array(place, dtype=np.int64), np.array(whose, dtype=np.int64)

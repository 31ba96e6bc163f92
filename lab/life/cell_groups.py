"""Groups of live cells that can interact within two generations, for many boards at once.

Cells one of which may see what the other does share a neighbour: they are at most two rows and two columns apart. A
group is what is joined so over two generations, so a group and the rest of its board do not meet in between.

Letters: `B` boards, `H, W` rows and columns, `n` cells that are live now or in the next generation, `G` groups,
`m` cells that are live now.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.boards.life import advance
from cellgames.envs.boards.rle import Cell

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

MOST = 1 << 12
"""Rows and columns of the largest board."""

_NEAR = [(down, right) for down in range(3) for right in range(-2, 3) if down or right > 0]


@dataclass(frozen=True)
class Groups:
    """The groups of a batch of boards, in order of their boards.

    Attributes:
        live: Bool [B, H, W], now.
        wrap: True if the boards are tori.
        window: int64 [n], places (board * H * W + row * W + column) of cells live now or in the next generation.
        label: int64 [n], the group of each of them.
        place: int64 [m], of cells live now, by groups, within each by rows and columns of its box.
        start: int64 [G + 1], where the cells of each group begin in `place`.
        board: int64 [G].
        row: int64 [G], of the box of its live cells; the box may go on across a seam.
        col: int64 [G].
        key: uint64 [G], equal for equal patterns.
        tangled: Bool [G], whether a group is so large that rows and columns of its box say nothing, nor does its key.
    """

    live: Bools
    wrap: bool
    window: Ints
    label: Ints
    place: Ints
    start: Ints
    board: Ints
    row: Ints
    col: Ints
    key: npt.NDArray[np.uint64]
    tangled: Bools

    def __len__(self) -> int:
        return len(self.board)

    def cells(self, number: int) -> list[Cell]:
        """Return the live cells of a group, on the board."""
        return self.on_board(self.place[self.start[number] : self.start[number + 1]])

    def on_board(self, places: Ints) -> list[Cell]:
        """Return rows and columns of places."""
        rows, cols = self.live.shape[1:]
        within = places % (rows * cols)
        return list(zip((within // cols).tolist(), (within % cols).tolist(), strict=True))


def next_boards(live: Bools, grid: Grid) -> Bools:
    """Return the next generation of `live`, bool [B, H, W]."""
    packed = grid.pack(torch.from_numpy(live))
    return grid.unpack(advance(grid, packed, 1)).numpy()


def group(live: Bools, wrap: bool) -> Groups:
    """Return the groups of boards, bool [B, H, W]."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    boards, rows, cols = live.shape
    window = np.flatnonzero(live | next_boards(live, Grid(rows, cols, wrap)))
    row, col = window // cols % rows, window % cols
    here, there, down, right = _pairs(window, (boards, rows, cols), wrap)
    links = coo_array((np.ones(len(here), dtype=np.int8), (here, there)), shape=(len(window), len(window)))
    count, label = connected_components(links, directed=False)
    label = label.astype(np.int64)
    shifts, tangled = [], np.zeros(count, dtype=bool)
    for place, step, size in ((row, down, rows), (col, right, cols)):
        half = size // 2
        crosses, crosses_half = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        crosses[label[here[place[there] - place[here] != step]]] = True
        moved = (place + half) % size
        crosses_half[label[here[moved[there] - moved[here] != step]]] = True
        tangled |= crosses & crosses_half
        shifts.append(np.where(crosses, half, 0))
    now = live.reshape(-1)[window]
    whose, window_now = label[now], window[now]
    frame_row, frame_col = ((row[now] + shifts[0][whose]) % rows, (col[now] + shifts[1][whose]) % cols)
    order = np.argsort((whose * MOST + frame_row) * MOST + frame_col)
    whose, frame_row, frame_col = whose[order], frame_row[order], frame_col[order]
    start = np.searchsorted(whose, np.arange(count + 1))
    top, left = (np.minimum.reduceat(place, start[:-1]) if count else place[:0] for place in (frame_row, frame_col))
    bits = _scrambled((frame_row - top[whose]) * MOST + frame_col - left[whose])
    return Groups(
        live=live,
        wrap=wrap,
        window=window,
        label=label,
        place=window_now[order],
        start=start,
        board=window_now[order[start[:-1]]] // (rows * cols),
        row=(top - shifts[0]) % rows,
        col=(left - shifts[1]) % cols,
        key=np.add.reduceat(bits, start[:-1]) if count else bits[:0],
        tangled=tangled,
    )


def _pairs(window: Ints, shape: tuple[int, int, int], wrap: bool) -> tuple[Ints, Ints, Ints, Ints]:
    """Return numbers of cells that are near each other, and how far the second is below and right of the first."""
    boards, rows, cols = shape
    number = np.full(boards * rows * cols, -1, dtype=np.int32)
    number[window] = np.arange(len(window), dtype=np.int32)
    wide = cols + 4
    framed = np.full((boards, rows + 2, wide), -1, dtype=np.int32)
    framed[:, :rows, 2:-2] = number.reshape(shape)
    if wrap:
        framed[:, rows:, 2:-2] = framed[:, :2, 2:-2]
        framed[:, :, :2], framed[:, :, -2:] = framed[:, :, cols : cols + 2], framed[:, :, 2:4]
    flat = framed.reshape(-1)
    board, within = np.divmod(window, rows * cols)
    base = (board * (rows + 2) + within // cols) * wide + within % cols + 2
    here, there, steps = [], [], []
    for down, right in _NEAR:
        near = flat[base + (down * wide + right)]
        found = np.flatnonzero(near >= 0)
        here.append(found)
        there.append(near[found].astype(np.int64))
        steps.append((down, right))
    lengths = list(map(len, here))
    down_right = np.repeat(np.array(steps), lengths, axis=0)
    return np.concatenate(here), np.concatenate(there), down_right[:, 0], down_right[:, 1]


def _scrambled(values: Ints) -> npt.NDArray[np.uint64]:
    """Return 64 bits that look random, different for each value (splitmix64, Steele, Lea, Flood, OOPSLA 2014)."""
    bits = (values.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def unwrapped(cells: list[Cell], rows: int, cols: int) -> dict[Cell, Cell] | None:
    """Return the places of a group's cells on the unrolled torus, by cell; None if the group winds round the torus."""
    left, rolled = set(cells), {cells[0]: cells[0]}
    fresh = [cells[0]]
    while fresh:
        at = fresh.pop()
        base = rolled[at]
        for down in range(-2, 3):
            for right in range(-2, 3):
                near = ((at[0] + down) % rows, (at[1] + right) % cols)
                if near in left:
                    flat = (base[0] + down, base[1] + right)
                    if near not in rolled:
                        rolled[near] = flat
                        fresh.append(near)
                    elif rolled[near] != flat:
                        return None
    return rolled if len(rolled) == len(left) else None

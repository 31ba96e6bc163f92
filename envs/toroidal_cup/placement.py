"""The places for a team's shapes: the lattice of its band, eight orientations, what would overlap.

Letters: `N` boards of one team, `A` actions (8 a position), `K` stamps, `L` live cells of the largest one.

A band is `rows` high, and its rows wrap; it is `band` wide, and a shape may not leave it. Positions stand every
`stride` cells from `stride // 2` on, row by row; action = position * 8 + orientation (see `stamps`). A shape's
centre is the cell (h // 2, w // 2) of its h x w stamp in that orientation, as in the Cup's patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cellgames.envs.native.operators import table
from cellgames.envs.toroidal_cup.patterns.stamps import ORIENTATIONS, offsets

X = TypeVar("X", int, npt.NDArray[np.int64], Tensor)


@dataclass(frozen=True)
class Lattice:
    """The positions of one band."""

    rows: int
    band: int
    stride: int

    @property
    def down(self) -> int:
        """Positions from top to bottom."""
        return self.rows // self.stride

    @property
    def across(self) -> int:
        """Positions from left to right."""
        return self.band // self.stride

    @property
    def actions(self) -> int:
        """The number of actions, `A`."""
        return self.down * self.across * ORIENTATIONS

    def centre(self, actions: X) -> tuple[X, X, X]:
        """Return rows and columns, in the band, and orientations of actions."""
        first = self.stride // 2
        row, col, orientation = self.parts(actions)
        return first + row * self.stride, first + col * self.stride, orientation

    def action(self, row: int, col: int, orientation: int) -> int | None:
        """Return the inverse of `centre`; None off the lattice."""
        down, row = divmod(row - self.stride // 2, self.stride)
        across, col = divmod(col - self.stride // 2, self.stride)
        inside = 0 <= down < self.down and 0 <= across < self.across and 0 <= orientation < ORIENTATIONS
        if row or col or not inside:
            return None
        return self.joined(down, across, orientation)

    def parts(self, actions: X) -> tuple[X, X, X]:
        """Return rows and columns of the lattice, and orientations, of actions."""
        position = actions // ORIENTATIONS
        return position // self.across, position % self.across, actions % ORIENTATIONS

    def joined(self, row: X, col: X, orientation: X) -> X:
        """Return the inverse of `parts`."""
        return (row * self.across + col) * ORIENTATIONS + orientation


@table
def cells(stamps: tuple[str, ...], device: torch.device) -> Tensor:
    """Return row and column of every live cell from the centre, filled up with the last one: int64 [K, 8, L, 2]."""
    around = [[np.stack(offsets(name, orientation), 1) for orientation in range(ORIENTATIONS)] for name in stamps]
    longest = max(len(turned[0]) for turned in around)
    filled = [[np.pad(one, ((0, longest - len(one)), (0, 0)), "edge") for one in turned] for turned in around]
    return torch.from_numpy(np.array(filled)).to(device)


@table
def sizes(stamps: tuple[str, ...], device: torch.device) -> Tensor:
    """Return live cells of the stamps: float32 [K]."""
    return torch.tensor([float(len(offsets(name, 0)[0])) for name in stamps], dtype=torch.float32, device=device)


def footprint(lattice: Lattice, stamps: tuple[str, ...], stamp: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cells of placed shapes, for stamps, which index `stamps`, and actions, int64 [...] both.

    Row (wrapped) and column (in the band if the action is legal) are int64 [..., L]; cells may be repeated.
    """
    row, col, orientation = lattice.centre(action)
    around = cells(stamps, stamp.device)[stamp, orientation]
    return (row[..., None] + around[..., 0]) % lattice.rows, col[..., None] + around[..., 1]


@table
def fits(lattice: Lattice, stamps: tuple[str, ...], device: torch.device) -> Tensor:
    """Return a mask of actions that keep a shape in an empty band, and off itself where the rows wrap: bool [K, A]."""
    side = cells(stamps, torch.device("cpu"))[:, None, :, :, 1]  # [K, 1, 8, L]
    col = lattice.stride // 2 + lattice.stride * torch.arange(lattice.across, device="cpu")[:, None]
    inside = (col + side.amin(3) >= 0) & (col + side.amax(3) < lattice.band)  # [K, across, 8], in every row
    own = [[offsets(name, turn) for turn in range(ORIENTATIONS)] for name in stamps]
    alone = [[len({*zip(row % lattice.rows, col, strict=True)}) == len(row) for row, col in turns] for turns in own]
    return (inside & torch.tensor(alone, device="cpu")[:, None]).flatten(1).repeat(1, lattice.down).to(device)


@table
def _kernels(name: str, device: torch.device) -> Tensor:
    """Return the orientations of a stamp, centres at (D // 2, D // 2): float32 [8, 1, D, D]."""
    row, col = cells((name,), torch.device("cpu"))[0].unbind(2)
    reach = int(torch.stack((row, col)).abs().max())
    kernels = torch.zeros(ORIENTATIONS, 1, 2 * reach + 1, 2 * reach + 1, dtype=torch.float32, device="cpu")
    kernels[torch.arange(ORIENTATIONS, device="cpu")[:, None], 0, row + reach, col + reach] = 1
    return kernels.to(device)


def _meets(lattice: Lattice, own: Tensor, name: str) -> Tensor:
    """Return a mask, bool [N, A]: a stamp meets live cells of `own`, bool [N, rows, band]; the sides do not wrap."""
    kernels = _kernels(name, own.device)
    size = kernels.shape[2]
    first = lattice.stride // 2 - size // 2
    high = (lattice.down - 1) * lattice.stride + size  # what the windows of all positions span
    wide = (lattice.across - 1) * lattice.stride + size
    rows = torch.arange(first, first + high, device=own.device) % lattice.rows
    seen = torch.nn.functional.pad(own.index_select(1, rows).float(), (-first, first + wide - lattice.band))
    met = torch.conv2d(seen[:, None], kernels, stride=lattice.stride) > 0.5  # [N, 8, down, across]
    return met.permute(0, 2, 3, 1).flatten(1)


def legal(lattice: Lattice, stamps: tuple[str, ...], own: Tensor, stamp: Tensor) -> Tensor:
    """Return the masks of bands, bool [N, A], all true for a band without a shape to place.

    A team's live cells are bool [N, rows, band], its shape to place int64 [N], an index of `stamps`, or below 0.
    """
    mask = own.new_ones(len(own), lattice.actions)
    room = fits(lattice, stamps, own.device)
    for index in stamp.unique().tolist():  # over kinds of shapes, however many games there are
        if index >= 0:
            bands = (stamp == index).nonzero().squeeze(1)
            mask[bands] = room[index] & ~_meets(lattice, own[bands], stamps[index])
    return mask


@lru_cache(maxsize=64)
def blocked_at_most(lattice: Lattice, stamps: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the largest number of actions of a stamp, the second index, that one of the first can make illegal.

    The most over all orientations and rows of the first, in a band so wide that its sides leave no position out: in
    any real band the number is the same or smaller.
    """
    return tuple(tuple(_meets_at_most(lattice, first, second) for second in stamps) for first in stamps)


def _meets_at_most(lattice: Lattice, first: str, second: str) -> int:
    """Return one entry of `blocked_at_most`.

    Two shapes meet if their positions are as far apart as a cell of the first is from a cell of the second, each seen
    from its own centre: so the distinct differences of their cells are counted, not the boards on which they lie.
    """
    one, other = (cells((name,), torch.device("cpu"))[0] for name in (first, second))
    row, col = (one[:, None, :, None] - other[:, None]).unbind(4)  # [8, 8, L, L] both, the first one's turns first
    reach = int(col.abs().max())
    apart = torch.zeros(ORIENTATIONS, ORIENTATIONS, lattice.rows, 2 * reach + 1, dtype=torch.bool, device="cpu")
    turns = torch.arange(ORIENTATIONS, device="cpu")[:, None, None]
    apart[turns[..., None], turns, row % lattice.rows, col + reach] = True
    lower = apart[..., reach % lattice.stride :: lattice.stride].sum((1, 3))  # [8, rows], by rows from first to second
    # From lattice row i to all others it is -i to down - 1 - i steps. If the stride does not divide the rows, those
    # steps reach other rows for every i, as the lattice has a seam: hence the most over all windows of `down` steps.
    steps = torch.arange(1 - lattice.down, lattice.down, device="cpu") * lattice.stride % lattice.rows
    total = torch.nn.functional.pad(lower[:, steps].cumsum(1), (1, 0))
    return int((total[:, lattice.down :] - total[:, : -lattice.down]).max())


def always_room(lattice: Lattice, stamps: tuple[str, ...], own: Tensor, names: Sequence[str]) -> bool:
    """Return True if each of some shapes, in this order, will find a place, wherever the ones before it are put.

    Counts the actions open to a shape now, and the most of them that the shapes before can block; so it may be False
    where a closer look would find room, but never True where there may be no room. It stays True when the first is put.
    The team's live cells are bool [rows, band].
    """
    indices = [stamps.index(name) for name in names]
    kinds = sorted(set(indices))
    stamp = torch.tensor(kinds, dtype=torch.int64, device=own.device)
    room = dict(zip(kinds, legal(lattice, stamps, own.expand(len(kinds), -1, -1), stamp).sum(1).tolist(), strict=True))
    counts = blocked_at_most(lattice, stamps)
    return all(
        room[index] > sum(counts[earlier][index] for earlier in indices[:place]) for place, index in enumerate(indices)
    )

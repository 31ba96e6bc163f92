"""Arrangements of one team in the Toroidal Cup, decoded from wanted placements many at a time.

A wanted placement that is illegal gives way to the nearest legal one, so every plan is legal on every board.

Letters: `N` arrangements, `S` shapes of each, `K` stamps, `A` actions of a band, `L` cells of the largest stamp.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
import torch

from cellgames.envs.toroidal_cup import placement

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_TURNED = 1  # distance of another orientation at the same position
_STEP = 4  # distance of the next position, squared steps count
_ROWS_AT_ONCE = 256  # of masks, which bounds the memory


@dataclass(frozen=True)
class Band:
    """One team's band, and what stamps cover on it.

    Attributes:
        lattice: positions.
        stamps: names, which kinds of shapes count.
    """

    lattice: placement.Lattice
    stamps: tuple[str, ...]

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.lattice.rows * self.lattice.band

    @cached_property
    def fits(self) -> Bools:
        """The actions that keep a stamp in the empty band, bool [K, A]."""
        return placement.fits(self.lattice, self.stamps, torch.device("cpu")).numpy()

    @cached_property
    def cells(self) -> Ints:
        """The flat cells (row * band + column) of every placement, int64 [K, A, L]; some are repeated.

        Where a placement leaves the band, its cells are of no meaning.
        """
        kind = torch.arange(len(self.stamps), device="cpu")[:, None].expand(-1, self.lattice.actions)
        action = torch.arange(self.lattice.actions, device="cpu").expand_as(kind)
        row, col = placement.footprint(self.lattice, self.stamps, kind, action)
        return (row * self.lattice.band + col.clamp(0, self.lattice.band - 1)).numpy()

    def legal(self, live: Bools, kind: Ints) -> Bools:
        """Return the masks of stamps [N] beside live cells [N, size]: bool [N, A]."""
        mask = self.fits[kind]
        for some in np.array_split(np.arange(len(live)), -(-len(live) // _ROWS_AT_ONCE)):
            cells = self.cells[kind[some]]
            mask[some] &= ~live[some[:, None, None], cells].any(2)
        return mask

    def nearest(self, wanted: Ints, mask: Bools) -> Ints:
        """Return the legal actions nearest to wanted ones [N], the first among equals: int64 [N].

        The squared distance of the positions counts most; rows wrap. Among placements at one position the wanted
        orientation is nearest, then the others that are not mirrored against it, then those that are.
        """
        row, col, turn = self.lattice.parts(np.arange(self.lattice.actions))
        row_wanted, col_wanted, turn_wanted = self.lattice.parts(wanted[:, None])
        down = np.abs(row - row_wanted)
        down = np.minimum(down, self.lattice.down - down)
        turned = np.where(turn == turn_wanted, 0, np.where(turn // 4 == turn_wanted // 4, _TURNED, 2 * _TURNED))
        far = np.where(mask, _STEP * (down**2 + (col - col_wanted) ** 2) + turned, np.iinfo(np.int64).max)
        return np.asarray(far.argmin(1))

    def place(self, wanted: Ints, kinds: Ints, live: Bools | None = None) -> tuple[Bools, Ints]:
        """Place shapes one after the other, each at its wanted placement, int64 [N, S], or the nearest legal one.

        The stamps are int64 [N, S], -1 for none, and `live`, bool [N, size], are cells that are there before. The
        results are the live cells, bool [N, size], and the actions that were played, int64 [N, S].
        """
        rows = np.arange(len(wanted))
        live = np.zeros((len(wanted), self.size), dtype=np.bool_) if live is None else live.copy()
        played = wanted.copy()
        for step in range(wanted.shape[1]):
            some = rows[kinds[:, step] >= 0]
            kind, action = kinds[some, step], played[some, step]
            met = live[some[:, None], self.cells[kind, action]].any(1) | ~self.fits[kind, action]
            if met.any():
                mask = self.legal(live[some[met]], kind[met])
                action[met] = self.nearest(action[met], mask)
            played[some, step] = action
            live[some[:, None], self.cells[kind, action]] = True
        return live, played


@lru_cache(maxsize=16)
def band_of(lattice: placement.Lattice, stamps: tuple[str, ...]) -> Band:
    """Return the band, whose tables are made once."""
    return Band(lattice, stamps)

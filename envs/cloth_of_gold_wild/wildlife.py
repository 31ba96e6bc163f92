"""Wildlife: grazers, hunters and guards, which stand on cells and are no part of Life.

Letters: `n` games, `A` animals of a game, `H, W` the world. Animals are numbered by kind, grazers first.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.core import chance
from cellgames.envs.native.operators import table

from .terrain import ANIMALS, LATTICE, NOISE, noise_at, noise_lattice

KINDS = ("grazers", "hunters", "guards")
"""The kinds of animals, in their order."""
GRAZER, HUNTER, GUARD = range(3)

GONE = -1
"""The place of an animal that is dead or tamed."""

EVERY = 4
"""Animals act in every generation that this divides."""

_PERIOD, _MOVES = 16, 8  # of the noise: cells, and moves until it is seeded anew
_WORTH = 64  # of a cell of distance
_FAR_GRAZER, _FAR = 6, 12
_SEEN = 3  # the distance at which a guard is woken
_CROWD, _TAMERS = 4, 2  # units
_WINDOW = _FAR + 1  # cells around an animal that its worths depend on


def kinds_of(numbers: tuple[int, int, int]) -> list[int]:
    """Return the kind of each animal."""
    return [kind for kind, number in enumerate(numbers) for _ in range(number)]


def place_animals(seed: Tensor, free: Tensor, animals: int) -> Tensor:
    """Return cells of new games' animals, int32 [n, A], each drawn evenly from what is free; `GONE` where nothing is.

    Seeds are int64 [n], `free` is bool [n, H * W], the empty land cells.
    """
    ranks = free.cumsum(1, dtype=torch.int32)
    places: list[Tensor] = []
    taken = torch.zeros((len(seed), 0), dtype=torch.int64, device=seed.device)  # ranks among all free cells, ascending
    lots = chance.draw(seed[:, None], ANIMALS, torch.arange(animals, device=seed.device))
    for number, lot in enumerate(lots.unbind(1)):
        left = (ranks[:, -1] - number).clamp(min=0)
        rank = chance.uniform_int(lot, left)
        for other in taken.unbind(1):
            rank = rank + (other <= rank)
        rank = torch.where(left > 0, rank, free.shape[1] + number)
        places.append(rank)
        taken = torch.stack(places, 1).sort(1)[0]
    if not animals:
        return taken.int()
    cells = torch.searchsorted(ranks, torch.stack(places, 1).int(), right=True)
    return torch.where(cells < free.shape[1], cells, GONE).int()


class Wildlife:
    """The animals of some games within a round.

    Args:
        kinds: kinds of the animals, as by `kinds_of`.
        size: `H, W`.
        seed: int64 [n], seeds of the games.
        move: integers [n], the number of the round's first move since the start of the game.
        places: integers [n, A], cells by rows, or `GONE`.

    Attributes:
        seed: int64 [n].
        move: int64 [n], the number of the next move.
        places: int64 [n, A].
        tamed: int64 [n, 2], grazers that each player has tamed in the round.
    """

    def __init__(self, kinds: list[int], size: tuple[int, int], seed: Tensor, move: Tensor, places: Tensor) -> None:
        self.kinds, self.size, self.places = kinds, size, places.long()
        self.seed, self.move = seed, move.long()
        self.tamed = seed.new_zeros((len(seed), 2))

    def act(self, units: Tensor, closed: Tensor) -> Tensor:
        """Let all animals act and return the units that are left, bool [n, 2, H, W].

        They enter no cell of `closed`, bool [n, H, W], water and burning cells.
        """
        lattice = noise_lattice(self.seed, NOISE, self.move // _MOVES * LATTICE, self.size, _PERIOD)
        self.move = self.move + 1
        units = units.clone()
        shut = closed.flatten(1)
        sums: Tensor | None = None  # made anew after a bite
        for number, kind in enumerate(self.kinds):
            if sums is None:
                sums = _integral(units.any(1))
            woken = self._moved(number, kind, lattice, shut, sums)
            if kind == GRAZER:
                self._tame(number, units)
            elif self._bite(number, woken, units):
                sums = None
        return units

    def _moved(self, number: int, kind: int, lattice: Tensor, shut: Tensor, sums: Tensor) -> Tensor:
        """Move an animal and return where it will bite, bool [n]."""
        height, width = self.size
        place = self.places[:, number]
        alive = place != GONE
        at = place.clamp(min=0)
        down, right = _offsets(place.device)
        row, col = at[:, None] // width + down, at[:, None] % width + right
        inside = (row >= 0) & (row < height) & (col >= 0) & (col < width)
        row, col = row.clamp(0, height - 1), col.clamp(0, width - 1)
        cell = row * width + col
        others = torch.cat((self.places[:, :number], self.places[:, number + 1 :]), 1)
        free = inside & ~shut.gather(1, cell) & (cell[..., None] != others[:, None]).all(2)
        worth = noise_at(lattice, _PERIOD, row, col)
        far = _distance(sums, row, col, _FAR)
        if kind == GRAZER:
            worth, woken = worth + _WORTH * far.clamp(max=_FAR_GRAZER), torch.zeros_like(alive)
        else:
            woken = alive & (far[:, 4] <= _SEEN) if kind == GUARD else alive
            worth = torch.where(woken[:, None], worth - _WORTH * far, worth)
        worth = torch.where(free, worth, -(1 << 20))
        best = (worth == worth.amax(1, keepdim=True)).int().argmax(1, keepdim=True)  # the first of equals
        new = torch.where(free.any(1), cell.gather(1, best).squeeze(1), at)
        self.places = self.places.index_copy(
            1, torch.tensor([number], device=place.device), torch.where(alive, new, GONE)[:, None]
        )
        return woken

    def _around(self, number: int, units: Tensor) -> tuple[Tensor, Tensor]:
        """Return both players' units in an animal's 3 x 3, int64 [n, 2], and its cells as a mask, bool [n, H, W]."""
        height, width = self.size
        place = self.places[:, number, None]
        row, col = place.clamp(min=0) // width, place.clamp(min=0) % width
        near_row = (torch.arange(height, device=row.device) - row).abs() <= 1
        near_col = (torch.arange(width, device=row.device) - col).abs() <= 1
        square = near_row[:, :, None] & near_col[:, None, :] & (place >= 0)[:, :, None]
        return (units & square[:, None]).flatten(2).sum(2), square

    def _tame(self, number: int, units: Tensor) -> None:
        around, _ = self._around(number, units)
        tamer = (around >= _TAMERS) & (around.flip(1) == 0)
        self.tamed = self.tamed + tamer
        self._remove(number, tamer.any(1))

    def _bite(self, number: int, woken: Tensor, units: Tensor) -> bool:
        """Let an animal bite in some games, or die of a crowd; return whether a unit has died."""
        around, square = self._around(number, units)
        total = around.sum(1)
        overrun = woken & (total >= _CROWD)
        self._remove(number, overrun)
        biting = woken & ~overrun & (total > 0)
        if not biting.any():
            return False
        units &= ~(square & biting[:, None, None])[:, None]
        return True

    def _remove(self, number: int, which: Tensor) -> None:
        self.places[:, number] = self.places[:, number].masked_fill(which, GONE)


def _integral(live: Tensor) -> Tensor:
    """Return the number of units above and left of each corner, int32, of units bool [n, H, W] with a margin."""
    margin = torch.nn.functional.pad(live.int(), (_WINDOW + 1, _WINDOW, _WINDOW + 1, _WINDOW))
    return margin.cumsum(1, dtype=torch.int32).cumsum(2, dtype=torch.int32)


def _distance(sums: Tensor, row: Tensor, col: Tensor, most: int) -> Tensor:
    """Return the Chebyshev distance to the nearest unit, at most `most`, for cells int64 [n, k]."""
    stride = sums.shape[2]
    flat = sums.flatten(1)
    reach = torch.arange(most, device=row.device)
    first = (row + _WINDOW + 1)[..., None], (col + _WINDOW + 1)[..., None]  # places in `sums`

    def upto(row: Tensor, col: Tensor) -> Tensor:
        return flat.gather(1, (row * stride + col).flatten(1)).view_as(row)

    top, bottom = first[0] - reach - 1, first[0] + reach
    left, right = first[1] - reach - 1, first[1] + reach
    inside = upto(bottom, right) - upto(top, right) - upto(bottom, left) + upto(top, left)
    return (inside == 0).sum(2)


@table
def _offsets(device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the nine cells around an animal, by rows: rows down and columns right, int64 [9] each."""
    number = torch.arange(9, device=device)
    return number // 3 - 1, number % 3 - 1

"""The random bits of the wild options, and value noise: random bytes on a lattice, interpolated between them.

Terrain, animals and their noise are functions of the env's seed. What happens in a round is a function of the round's
own seed, so that its counters stay small. A probability is k/256: a fresh byte less than k.

Letters: `n` games, `H, W` rows and columns of the world, `k` points.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.core import chance

HEIGHTS, MOISTURE, ANIMALS, NOISE, _ROUNDS = range(chance.USER + 1, chance.USER + 6)  # of an env's seed
WEATHER, STRIKES, FIRE, REGROWTH = range(chance.USER, chance.USER + 4)  # of a round's seed

LATTICE = 1 << 12
"""More points than the lattice of any world has: counters of two lattices lie at least so far apart."""

_OCTAVES = ((32, 4), (16, 2), (8, 1))  # periods and weights


def round_seed(seed: Tensor, number: Tensor) -> Tensor:
    """Return the seeds of rounds, int64 [B], of the envs' seeds and the numbers of the rounds, integers [B]."""
    return chance.draw(seed, _ROUNDS, number.long())


def draw_byte(seed: Tensor, purpose: int, counter: Tensor) -> Tensor:
    """Return random bytes, int64 of the broadcast shape of `seed` and `counter`."""
    return chance.draw(seed, purpose, counter) & 0xFF


def noise_lattice(seed: Tensor, purpose: int, first: Tensor, size: tuple[int, int], period: int) -> Tensor:
    """Return the random bytes of a lattice, int64 [n, rows, columns]: one every `period` cells, and beyond the edges.

    Seeds are int64 [n], `size` is `H, W`; bytes follow by rows from the counter `first`, int64 [n] or [].
    """
    rows, cols = ((side - 1) // period + 2 for side in size)
    counter = first.unsqueeze(-1) + torch.arange(rows * cols, device=seed.device)
    return draw_byte(seed[:, None], purpose, counter).view(len(seed), rows, cols)


def noise_at(lattice: Tensor, period: int, row: Tensor, col: Tensor) -> Tensor:
    """Return the noise, 0 to 255, at cells of the world: int64 [n, k] for rows and columns int64 [n, k].

    The weights of the four bytes around a cell have eight fractional bits each, and the sum is rounded down once.
    """
    cols = lattice.shape[2]
    corner = row // period * cols + col // period
    down, right = row % period * 256 // period, col % period * 256 // period
    flat = lattice.flatten(1)

    def byte(offset: int) -> Tensor:
        return flat.gather(1, corner + offset)

    upper = byte(0) * (256 - right) + byte(1) * right
    lower = byte(cols) * (256 - right) + byte(cols + 1) * right
    return (upper * (256 - down) + lower * down) >> 16


def noise_map(seed: Tensor, purpose: int, size: tuple[int, int]) -> Tensor:
    """Return a map of three octaves that is its own image under a half turn, stretched to 0 to 255: int32 [n, H, W]."""
    cells = size[0] * size[1]
    rows = (size[0] + 1) // 2  # which hold the first half of the cells
    total = torch.zeros((len(seed), rows, size[1]), dtype=torch.int32, device=seed.device)
    for number, (period, weight) in enumerate(_OCTAVES):
        first = torch.tensor(number * LATTICE, device=seed.device)
        lattice = noise_lattice(seed, purpose, first, size, period).int()
        total += weight * (_between(_between(lattice, 2, period, size[1]), 1, period, rows) >> 16)
    half = (total // sum(weight for _, weight in _OCTAVES)).flatten(1)[:, : (cells + 1) // 2]
    low, high = (extreme.unsqueeze(1) for extreme in half.aminmax(dim=1))
    half = (half - low) * 255 // (high - low).clamp(min=1)
    return torch.cat((half, half[:, : cells // 2].flip(1)), 1).view(len(seed), *size)


def _between(lattice: Tensor, axis: int, period: int, size: int) -> Tensor:
    """Return a lattice interpolated along an axis to `size` cells, times 256."""
    cell = torch.arange(size, device=lattice.device)
    part = (cell % period * 256 // period).int().view(-1, *[1] * (lattice.ndim - 1 - axis))
    low, high = (lattice.index_select(axis, cell // period + step) for step in (0, 1))
    return low * (256 - part) + high * part

"""Terrain: water, rock, forest and plain, and the random bits that they and the other wild options come from.

Terrain, animals and their noise (random bytes on a lattice, interpolated between them) are functions of the env's seed.
What happens in a round is a function of the round's own seed, so that its counters stay small. A probability is k/256:
a fresh byte less than k.

A cell's ground is a code that says all that any rule asks of its height and moisture, at any water level: 0 is always
under water; 1 to 14 are bands of eight heights from 48 on, and a seventh up to 207, each without and with forest; 15
is rock.

Letters: `n` games, `H, W` rows and columns of the world, `k` points, `S, N` stored rows and words (see
`boards.bitboards`).
"""

from __future__ import annotations

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import Grid
from cellgames.envs.core import chance

HEIGHTS, MOISTURE, ANIMALS, NOISE, _ROUNDS = range(chance.USER + 1, chance.USER + 6)  # of an env's seed
WEATHER, STRIKES, FIRE, REGROWTH = range(chance.USER, chance.USER + 4)  # of a round's seed

LATTICE = 1 << 12
"""More points than the lattice of any world has: counters of two lattices lie at least so far apart."""

_OCTAVES = ((32, 4), (16, 2), (8, 1))  # periods and weights

LOWEST, LEVEL, HIGHEST, LEVEL_STEP = 48, 64, 96, 8
"""The lowest water level, the one at the start, the highest, and the change of a round."""

ROCK = 15
"""The code of rock."""

_ROCK_HEIGHT, _FOREST_MOISTURE = 208, 140
_BANDS = (HIGHEST - LOWEST) // LEVEL_STEP + 1  # above the lowest level; the last one is never under water


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


def make_ground(seed: Tensor, size: tuple[int, int]) -> Tensor:
    """Return the codes of new worlds' ground, uint8 [n, H, W], of seeds int64 [n]."""
    height, moisture = (noise_map(seed, purpose, size) for purpose in (HEIGHTS, MOISTURE))
    band = ((height - LOWEST) // LEVEL_STEP + 1).clamp(0, _BANDS)
    code = torch.where(band > 0, 2 * band - 1 + (moisture >= _FOREST_MOISTURE).int(), 0)
    return torch.where(height >= _ROCK_HEIGHT, ROCK, code).to(torch.uint8)


def water_on(grid: Grid, ground: Tensor, level: Tensor) -> Tensor:
    """Return bitboards of water, int64 [S, N, n], for codes uint8 [n, H, W] and levels, integers [n]."""
    under = 2 * ((level.long() - LOWEST) // LEVEL_STEP)  # the highest code that is under water
    return _cells(grid, ground, (2 << under) - 1)


def land_on(grid: Grid, ground: Tensor) -> Tensor:
    """Return bitboards of forest while it is not under water, burnt or not, and of rock: int64 [2, S, N, n]."""
    forest = sum(1 << code for code in range(2, ROCK, 2))
    codes = torch.tensor([[forest], [1 << ROCK]], device=ground.device).expand(-1, len(ground))
    return torch.stack([_cells(grid, ground, some) for some in codes])


def _cells(grid: Grid, ground: Tensor, codes: Tensor) -> Tensor:
    """Return bitboards, int64 [S, N, n], of the cells whose code is among those of the world, bits of int64 [n]."""
    return grid.pack((codes.int()[:, None, None] >> ground & 1).bool())

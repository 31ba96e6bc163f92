"""Chance that is counted, not consumed: random bits as a function of (seed, purpose, counter).

An env of a batch carries its own seed, so its game does not depend on the batch around it, on the device or on
the compiler, and a record (seed, actions) replays. The function is Threefry-2x32 with 20 rounds (Salmon et
al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), the generator that JAX uses.
"""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor

from cellgames.envs.native import Library, Operator
from cellgames.utils.errors import InputError

# Purposes: each names one stream of a seed. Games number theirs from USER on.
_SPREAD = 0  # seeds of envs out of one seed
USER = 16

_MASK = 0xFFFFFFFF
_MASK_61 = (1 << 61) - 1
_WEYL = 0x1E3779B97F4A7C15  # odd, below 2^61
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
Seed = TypeVar("Seed", int, Tensor)


def _threefry(key_low: Seed, key_high: Seed, x: Seed, y: Seed) -> tuple[Seed, Seed]:
    """Return Threefry-2x32-20 of 32-bit values held in int64 or plain integers, so that no operation overflows."""
    keys = (key_low, key_high, key_low ^ key_high ^ 0x1BD11BDA)
    x, y = (x + keys[0]) & _MASK, (y + keys[1]) & _MASK
    for block in range(5):
        for turn in _ROTATIONS[block % 2]:
            x = (x + y) & _MASK
            y = (((y << turn) & _MASK) | (y >> (32 - turn))) ^ x
        x = (x + keys[(block + 1) % 3]) & _MASK
        y = (y + keys[(block + 2) % 3] + block + 1) & _MASK
    return x, y


@Operator
def draw(seed: Tensor, purpose: int, counter: Tensor) -> Tensor:
    """Return 63 random bits for each element.

    Args:
        seed: int64 [...], an env's seed.
        purpose: number of a stream of the seed, 0 to 2^32 - 1.
        counter: int64, broadcastable with `seed`, 0 to 2^32 - 1; the place in the stream.

    Returns:
        int64, the broadcast shape, uniform over 0 to 2^63 - 1.
    """
    seed, counter = torch.broadcast_tensors(seed, counter)
    purposes = torch.full_like(counter, purpose)
    low, high = _threefry(seed & _MASK, (seed >> 32) & _MASK, counter, purposes)
    return ((high & 0x7FFFFFFF) << 32) | low


@draw.native
def _native_draw(native: Library, seed: Tensor, purpose: int, counter: Tensor) -> Tensor:
    seed, counter = torch.broadcast_tensors(seed, counter)
    out = torch.empty_like(seed, memory_format=torch.contiguous_format)
    native.cellgames_draw(out.numel(), purpose, seed, counter, out)
    return out


def draw_one(seed: int, purpose: int, counter: int) -> int:
    """Return `draw` of a single seed and counter, in plain integers, which take a tenth of the time."""
    low, high = _threefry(seed & _MASK, seed >> 32 & _MASK, counter, purpose)
    return (high & 0x7FFFFFFF) << 32 | low


def uniform_int(bits: Tensor, high: Tensor | int) -> Tensor:
    """Return whole numbers from 0 to `high` - 1, at most 2^31, of `draw`'s bits (bias below 2^-31 * high)."""
    return ((bits & 0xFFFFFFFF) * high) >> 32


def next_seed(seed: Seed) -> Seed:
    """Return the seed of the game that follows in the same env: a Weyl sequence of period 2^61.

    Seeds are keys of Threefry, for which neighbouring keys are as good as random ones. A plain integer may stand
    for a tensor of one.
    """
    return (seed & _MASK_61) + _WEYL


def seeds(seed: int, count: int, device: torch.device | str = "cpu") -> Tensor:
    """Return seeds for `count` envs of one seed: int64 [count]. The first k are the same for every count >= k."""
    if count < 0:
        raise InputError("count", "a count of at least 0", count)
    root = torch.tensor(
        (int(seed) + (1 << 63)) % (1 << 64) - (1 << 63), dtype=torch.int64, device=device
    )  # any integer, folded
    return draw(root, _SPREAD, torch.arange(count, dtype=torch.int64, device=device))

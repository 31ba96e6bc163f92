"""Chance that is counted, not consumed: random bits as a function of (seed, purpose, counter).

An env of a batch carries its own seed, so its game does not depend on the batch around it, on the device or on
the compiler, and a record (seed, actions) replays. Uniformly random legal actions are drawn from masks by such
bits, or by those of a generator. The function is Threefry-2x32 with 20 rounds (Salmon et
al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), the generator that JAX uses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Tensor

from cellgames.envs.native import Library, Operator
from cellgames.envs.native.native_library import threads
from cellgames.utils.errors import InputError

# Purposes: each names one stream of a seed. Games number theirs from USER on.
_SPREAD = 0  # seeds of envs out of one seed
USER = 16

_MASK = 0xFFFFFFFF
_MASK_61 = (1 << 61) - 1
_WEYL = 0x1E3779B97F4A7C15  # odd, below 2^61
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
Seed = TypeVar("Seed", int, Tensor)

MANY = 1 << 15  # numbers that take a generator longer than spreading them
_CHOICES_A_THREAD = 1 << 18  # of masks: starting a thread takes as long as reading some of them


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
    folded = (int(seed) + (1 << 63)) % (1 << 64) - (1 << 63)  # any integer
    root = torch.tensor(folded, dtype=torch.int64, device=device)
    return draw(root, _SPREAD, torch.arange(count, dtype=torch.int64, device=device))


# ---------------------------------------------------------------- legal actions at random


def random_bits(count: int, generator: torch.Generator, device: torch.device | str = "cpu") -> Tensor:
    """Return bits for `random_legal`, int64 [count], 0 to 2^31 - 1, from a generator on any device.

    Many are spread out of a single number of the generator's, which is about as good and much quicker.
    """
    if count >= MANY:
        return spread(random_root(generator, device), count)
    bits = torch.randint(1 << 31, (count,), generator=generator, device=generator.device)
    return bits.to(device)


def random_root(generator: torch.Generator, device: torch.device | str = "cpu") -> Tensor:
    """Return the number that `random_bits` spreads many bits out of, int64 [1]."""
    return torch.randint(1 << 62, (1,), generator=generator, device=generator.device).to(device)


@Operator
def spread(root: Tensor, count: int) -> Tensor:
    """Return random bits, int64 [count], 0 to 2^31 - 1, of one number, int64 [1]: the upper bits of SplitMix64."""
    state = root + torch.arange(1, count + 1, device=root.device) * -0x61C8864680B583EB
    state = (state ^ (state >> 30 & (1 << 34) - 1)) * -0x40A7B892E31B1A47
    state = (state ^ (state >> 27 & (1 << 37) - 1)) * -0x6B2FB644ECCEEE15
    return (state ^ (state >> 31 & (1 << 33) - 1)) >> 33 & 0x7FFFFFFF


@spread.native
def _native_spread(native: Library, root: Tensor, count: int) -> Tensor:
    """Return `spread`, by `sources/sampling.cpp`."""
    out = root.new_empty(count)
    native.cellgames_spread_bits(root, count, threads(count, MANY), out)
    return out


def envs_innermost(numbers: Tensor, shape: Sequence[int]) -> Tensor:
    """Return numbers, [count], as a shape [B, ...] in which the games lie next to each other in memory."""
    return numbers.view(*shape[1:], shape[0]).movedim(-1, 0) if len(shape) > 1 else numbers


@Operator
def random_legal(mask: Tensor, bits: Tensor) -> Tensor:
    """Return one legal action for each row of a mask, all equally likely (bias below 2^-31 a choice): int64 [B].

    A row of bool [B, A] without a legal action gives action 0. Bits are int64 [B], 0 to 2^31 - 1, from `random_bits` or
    `chance.draw(...) & 0x7FFFFFFF`.
    """
    upto = mask.cumsum(1, dtype=torch.int32)
    total = upto[:, -1]
    rank = (bits * total) >> 31
    return torch.where(total > 0, (upto <= rank[:, None]).sum(1), 0)


@random_legal.native
def _native_legal(native: Library, mask: Tensor, bits: Tensor) -> Tensor:
    """Return `random_legal`, by `sources/sampling.cpp`."""
    rows, width = mask.shape
    mask = mask if mask.stride(1) == 1 else mask.contiguous()
    found = torch.empty_like(bits, memory_format=torch.contiguous_format)
    sizes = rows, threads(rows * width, _CHOICES_A_THREAD), width, mask.stride(0)
    native.cellgames_random_legal(*sizes, mask.data_ptr(), bits, found)
    return found


def random_parts(mask: Tensor, nvec: Sequence[int], bits: Tensor) -> Tensor:
    """Return uniformly random legal choices of each component for itself: int64 [B, K], as the bits are.

    The mask, bool [B, A], has the components, of `nvec` choices, one after the other.
    """
    parts = zip(mask.split(list(nvec), 1), bits.unbind(1), strict=True)
    return torch.stack([random_legal(part, lot) for part, lot in parts], 1)

"""Random bits, and uniformly random legal actions drawn from masks by them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from cellgames.envs.native import Library, Operator
from cellgames.envs.native.native_library import threads

MANY = 1 << 15  # numbers that take a generator longer than spreading them
_CHOICES_A_THREAD = 1 << 18  # of masks: starting a thread takes as long as reading some of them


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

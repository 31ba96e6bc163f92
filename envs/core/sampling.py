"""Packed masks, and uniformly random legal actions drawn from them.

A packed mask has `W = ceil(A / 32)` int64 words a game; bit j of word w is action 32 w + j. Only the lower half
of a word is used, so that no sum of bit counts can touch the sign. In memory the batch may be the innermost
axis (strides (1, B)), which lets the compiler work on many games at once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from operator import or_

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import GATHER
from cellgames.envs.kernels.lookup_tables import table
from cellgames.envs.native import Library, Operator, pointer

MANY = 1 << 15  # numbers that take a generator longer than spreading them
WORD_SHIFT = 5
WORD = 1 << WORD_SHIFT


def pack(mask: Tensor) -> Tensor:
    """Return a mask, bool [B, A], as bits, int64 [B, W]."""
    if torch.compiler.is_compiling() or (mask.t().is_contiguous() and not mask.is_contiguous()):
        return _pack_envs(mask)
    words = max(1, -(-mask.shape[1] // WORD))  # torch looks at no memory as other numbers
    flags = torch.nn.functional.pad(mask.view(torch.uint8), (0, words * WORD - mask.shape[1])).contiguous()
    octets = flags.view(torch.int64).mul_(GATHER).bitwise_right_shift_(56).to(torch.uint8)
    return octets.view(torch.int32).long() & 0xFFFFFFFF


def _pack_envs(mask: Tensor) -> Tensor:
    """Pack a mask whose batch is innermost without turning it; also for the compiler, which wants one size."""
    batch, actions = mask.shape
    words = -(-actions // WORD)
    flags = torch.nn.functional.pad(mask.view(torch.uint8).t(), (0, 0, 0, words * WORD - actions))
    octets = _joined(flags.view(words, 4, 8, batch).unbind(2), 1)
    return _joined((octet.long() for octet in octets.unbind(1)), 8).t()


def _joined(parts: Iterable[Tensor], width: int) -> Tensor:
    """Return numbers of `width` bits each, the lowest first, joined in one."""
    return functools.reduce(or_, (part << place * width for place, part in enumerate(parts)))


def random_bits(count: int, generator: torch.Generator, device: torch.device | str = "cpu") -> Tensor:
    """Return bits for `random_legal`, int64 [count], 0 to 2^31 - 1, from a generator on any device.

    Many are spread out of a single number of the generator's, which is about as good and much quicker.
    """
    if count >= MANY:
        bits: Tensor = spread(random_root(generator, device), count)
        return bits
    bits = torch.randint(1 << 31, (count,), generator=generator, device=generator.device)
    return bits.to(device)


def random_root(generator: torch.Generator, device: torch.device | str = "cpu") -> Tensor:
    """Return the number that `random_bits` spreads many bits out of, int64 [1]."""
    return torch.randint(1 << 62, (1,), generator=generator, device=generator.device).to(device)


@Operator
def spread(root: Tensor, count: int) -> Tensor:
    """Return many random bits, int64 [count], 0 to 2^31 - 1, of one number: the upper bits of SplitMix64.

    Args:
        root: int64 [1].
        count: how many.
    """
    state = root + torch.arange(1, count + 1, device=root.device) * -0x61C8864680B583EB
    state = (state ^ (state >> 30 & (1 << 34) - 1)) * -0x40A7B892E31B1A47
    state = (state ^ (state >> 27 & (1 << 37) - 1)) * -0x6B2FB644ECCEEE15
    return (state ^ (state >> 31 & (1 << 33) - 1)) >> 33 & 0x7FFFFFFF


@spread.native
def _native_spread(native: Library, root: Tensor, count: int) -> Tensor:
    """Return `spread`, by `sources/sampling.cpp`."""
    out, threads = root.new_empty(count), min(torch.get_num_threads(), 1 + count // MANY)
    native.cellgames_spread_bits(pointer(root, torch.int64), count, threads, pointer(out, torch.int64))
    return out


def spread_over(root: Tensor, shape: Sequence[int]) -> Tensor:
    """Return `spread` bits for actions of a shape [B, ...]; the games lie next to each other in memory."""
    return envs_innermost(spread(root, math.prod(shape)), shape)


def envs_innermost(numbers: Tensor, shape: Sequence[int]) -> Tensor:
    """Return numbers, [count], as a shape [B, ...] in which the games lie next to each other in memory."""
    return numbers.view(*shape[1:], shape[0]).movedim(-1, 0) if len(shape) > 1 else numbers


def random_legal(words: Tensor, bits: Tensor) -> Tensor:
    """Return one legal action for each row, all equally likely (bias below 2^-31 a choice).

    Args:
        words: int64 [B, W], a packed mask; a row without a legal action gives action 0.
        bits: int64 [B], 0 to 2^31 - 1, from `random_bits` or `chance.draw(...) & 0x7FFFFFFF`.

    Returns:
        int64 [B].
    """
    find = _walk if torch.compiler.is_compiling() else _look_up
    word, octet, place, rank, total = find(words, bits)
    # Halve the word twice, and look the rest up.
    lower = (octet + (octet >> 8)) & 0x1F  # legal actions in the lower half of the word
    later = rank >= lower
    rank = rank - later * lower
    shift = later * 16
    lower = (octet >> shift) & 0xF
    later = rank >= lower
    rank = rank - later * lower
    shift = shift + later * 8
    found = _bit_of_rank(words.device)[((word >> shift) & 0xFF) * 8 + rank]
    return torch.where(total > 0, place + shift + found, 0)


def _rank(bits: Tensor, total: Tensor) -> Tensor:
    """Return the number of legal actions before the wanted one."""
    return (bits * total) >> 31


def _counts(octets: Tensor) -> Tensor:
    """Return the number of legal actions of words by their `_octets`."""
    return (octets * 0x01010101) >> 24 & 0x3F


def _look_up(words: Tensor, bits: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return the word with the action wanted, its octets, its first action, the rank in it, and the total; [B]."""
    octets = _octets(words)
    counts = _counts(octets)
    upto = counts.cumsum(1)
    total = upto[:, -1]
    rank = _rank(bits, total)
    index = (upto <= rank[:, None]).sum(1, keepdim=True).clamp(max=words.shape[1] - 1)
    word, octet, before = (x.gather(1, index).squeeze(1) for x in (words, octets, upto - counts))
    return word, octet, index.squeeze(1) * WORD, rank - before, total


def _walk(words: Tensor, bits: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return the same as `_look_up`, word by word, so that a compiler keeps an env's words on one core."""
    each = words.unbind(1)
    octets = list(map(_octets, each))
    counts = list(map(_counts, octets))
    total = sum(counts[1:], counts[0])
    rank = _rank(bits, total)
    word, octet = each[0], octets[0]
    place = before = upto = torch.zeros_like(rank)
    for index, count in enumerate(counts[:-1]):
        upto = upto + count
        later = rank >= upto
        word = torch.where(later, each[index + 1], word)
        octet = torch.where(later, octets[index + 1], octet)
        before = torch.where(later, upto, before)
        place = place + later * WORD
    return word, octet, place, rank - before, total


def random_parts(mask: Tensor, nvec: Sequence[int], bits: Tensor) -> Tensor:
    """Return uniformly random legal choices of each component for itself: int64 [B, K].

    Args:
        mask: bool [B, A] with A the sum of `nvec`; components one after the other.
        nvec: choices of each component.
        bits: int64 [B, K], from `random_bits`.
    """
    parts = zip(mask.split(list(nvec), 1), bits.unbind(1), strict=True)
    return torch.stack([random_legal(pack(part), lot) for part, lot in parts], 1)


def _octets(words: Tensor) -> Tensor:
    """Return the number of bits set in each of a word's four lower bytes, kept in place."""
    pairs = words - ((words >> 1) & 0x55555555)
    nibbles = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333)
    return (nibbles + (nibbles >> 4)) & 0x0F0F0F0F


@table
def _bit_of_rank(device: torch.device) -> Tensor:
    """Return at 8 * byte + r where the set bit with r set bits below it stands, else 0: int64 [256 * 8]."""
    rows = [([bit for bit in range(8) if byte >> bit & 1] + [0] * 8)[:8] for byte in range(256)]
    return torch.tensor(rows, device=device).flatten()

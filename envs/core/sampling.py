"""Packed masks, and uniformly random legal actions drawn from them.

A packed mask has `W = ceil(A / 32)` int64 words a game; bit j of word w is action 32 w + j. Only the lower half
of a word is used, so that no sum of bit counts can touch the sign. In memory the batch may be the innermost
axis (strides (1, B)), which lets the compiler work on many games at once.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["WORD", "pack", "random_bits", "random_legal"]

WORD = 32


def pack(mask: Tensor) -> Tensor:
    """bool [B, A] to int64 [B, W]."""
    batch, actions = mask.shape
    padded = torch.nn.functional.pad(mask, (0, -actions % WORD)).view(batch, -1, WORD)
    return (padded.long() << torch.arange(WORD, device=mask.device)).sum(2)


def random_bits(count: int, generator: torch.Generator, device: torch.device | str = "cpu") -> Tensor:
    """What `random_legal` consumes: int64 [count], 0 to 2^31 - 1, from a generator on any device."""
    bits = torch.randint(1 << 31, (count,), generator=generator, device=generator.device)
    return bits.to(device)


def random_legal(words: Tensor, bits: Tensor) -> Tensor:
    """One action a row, uniform over the legal ones (bias below 2^-31 a choice).

    Args:
        words: int64 [B, W], a packed mask; a row without a legal action gives action 0.
        bits: int64 [B], 0 to 2^31 - 1, from `random_bits` or `chance.draw(...) & 0x7FFFFFFF`.

    Returns:
        int64 [B].
    """
    counts = _levels(words)[-1].unbind(1)
    total = sum(counts[1:], counts[0])
    rank = (bits * total) >> 31  # the action wanted has this many legal ones before it
    # Walk to its word, then halve that word five times.
    word, place, upto = words[:, 0], torch.zeros_like(rank), torch.zeros_like(rank)
    before = upto
    for index, count in enumerate(counts[:-1]):
        upto = upto + count
        later = rank >= upto
        word = torch.where(later, words[:, index + 1], word)
        place = torch.where(later, (index + 1) * WORD, place)
        before = torch.where(later, upto, before)
    rank = rank - before
    bit = torch.zeros_like(rank)
    for level, width in zip(reversed((word, *_levels(word)[:-1])), (16, 8, 4, 2, 1), strict=True):
        below = (level >> bit) & (2 * width - 1)  # legal actions in the lower half of what is left
        later = rank >= below
        rank = torch.where(later, rank - below, rank)
        bit = torch.where(later, bit + width, bit)
    return torch.where(total > 0, place + bit, 0)


def _levels(words: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Bits set in each 2, 4, 8, 16 and 32 bits of the words' lower halves, kept in place."""
    pairs = (words & 0x55555555) + ((words >> 1) & 0x55555555)
    nibbles = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333)
    octets = (nibbles + (nibbles >> 4)) & 0x0F0F0F0F
    halves = (octets + (octets >> 8)) & 0x00FF00FF
    return pairs, nibbles, octets, halves, (halves + (halves >> 16)) & 0x3F

"""Packed masks, and uniformly random legal actions drawn from them.

A packed mask has `W = ceil(A / 32)` int64 words a game; bit j of word w is action 32 w + j. Only the lower half
of a word is used, so that no sum of bit counts can touch the sign. In memory the batch may be the innermost
axis (strides (1, B)), which lets the compiler work on many games at once.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .tables import table

__all__ = ["WORD", "WORD_SHIFT", "pack", "random_bits", "random_legal"]

WORD_SHIFT = 5
WORD = 1 << WORD_SHIFT


def pack(mask: Tensor) -> Tensor:
    """Bool [B, A] to int64 [B, W]."""
    batch, actions = mask.shape
    words = -(-actions // WORD)
    padded = torch.nn.functional.pad(mask.long(), (0, words * WORD - actions)).view(batch, words, WORD)
    return (padded << torch.arange(WORD, device=mask.device)).sum(2)


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
    each = words.unbind(1)
    # A compiler keeps a lane's words on one core if they are worked on one by one; without one, calls cost most.
    octets = list(map(_octets, each)) if torch.compiler.is_compiling() else _octets(words).unbind(1)
    counts = [(octet * 0x01010101) >> 24 & 0x3F for octet in octets]
    total = sum(counts[1:], counts[0])
    rank = (bits * total) >> 31  # the action wanted has this many legal ones before it
    # Walk to its word, halve that word twice, and look the rest up.
    word, octet = each[0], octets[0]
    place = before = upto = torch.zeros_like(rank)
    for index, count in enumerate(counts[:-1]):
        upto = upto + count
        later = rank >= upto
        word = torch.where(later, each[index + 1], word)
        octet = torch.where(later, octets[index + 1], octet)
        before = torch.where(later, upto, before)
        place = place + later * WORD
    rank = rank - before
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


def _octets(words: Tensor) -> Tensor:
    """Bits set in each of a word's four lower bytes, kept in place."""
    pairs = words - ((words >> 1) & 0x55555555)
    nibbles = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333)
    return (nibbles + (nibbles >> 4)) & 0x0F0F0F0F


@table
def _bit_of_rank(device: torch.device) -> Tensor:
    """int64 [256 * 8]: at 8 * byte + r, where the set bit with r set bits below it stands (0 if there is none)."""
    rows = [([bit for bit in range(8) if byte >> bit & 1] + [0] * 8)[:8] for byte in range(256)]
    return torch.tensor(rows, device=device).flatten()

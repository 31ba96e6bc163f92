"""Files damaged as disks and transfers do it: a turned bit, a lost end, a block of zeros."""

from __future__ import annotations

import random

BLOCK = 64  # bytes of zeros


def damaged(content: bytes, seed: int) -> bytes:
    """Return the content with a bit turned (three of four times), its end cut off, or a block of zeros."""
    chance, data = random.Random(seed), bytearray(content)
    place, kind = chance.randrange(len(data)), chance.randrange(8)
    if kind == 0:
        del data[place:]
    elif kind == 1:
        data[place : place + BLOCK] = bytes(len(data[place : place + BLOCK]))
    else:
        data[place] ^= 1 << chance.randrange(8)
    return bytes(data)

"""Files damaged as disks and transfers do it: a turned bit, a lost end, a block of zeros."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def outcomes(
    path: Path, read: Callable[[], Any], refusals: tuple[type[Exception], ...], seeds: range
) -> dict[str, list[int]]:
    """Damage a file by each seed and read its content; afterwards it is as it was, and other errors are raised.

    Returns:
        The seeds by what happened: "refused", "harmless" (the content is the same) or "believed".
    """
    content, found = path.read_bytes(), dict[str, list[int]](refused=[], harmless=[], believed=[])
    whole = read()
    for seed in seeds:
        path.write_bytes(damaged(content, seed))
        try:
            outcome = "harmless" if read() == whole else "believed"
        except refusals as error:
            outcome, message = "refused", str(error)
            assert message.strip().isprintable(), "expected one line"
        found[outcome].append(seed)
    path.write_bytes(content)
    return found

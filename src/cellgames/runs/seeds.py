"""Seeds that are derived from a run's: chance is derived, not consumed, so a run that goes on draws the same."""

from __future__ import annotations

import hashlib
import json
import zlib


def derive(*parts: str | int) -> int:
    """Return a seed from 0 to 2^63 - 1: the first 63 bits of BLAKE2b over the parts as a JSON list."""
    digest = hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def derive_short(*parts: str | int) -> int:
    """Return a seed of 32 bits: CRC-32 over the parts as words, as evolution has always drawn its own."""
    return zlib.crc32(" ".join(map(str, parts)).encode())

"""The layout of a player's observation of Grid Adaptation, for batches and for single games."""

from __future__ import annotations

PLANES = (
    "tile",
    *(f"digit {place} of the tile" for place in (1, 2, 3)),
    *(f"own digit {place}" for place in (1, 2, 3)),
    "own reserve tiles",
    "own garnets",
    "price of the next extra tile",
    "own points",
    "round",
    "1 in rounds with a flip",
    "1 in the voting step",
    *(f"what sequence {sequence:03b} would have earned in the last round" for sequence in range(8)),
)
"""Planes before those of the players: first the board, then numbers that are the same everywhere."""

BOARDS = 4
LARGEST = (1 << 15) - 1  # of an int16; larger numbers are shown as this


def num_planes(players: int) -> int:
    """Return the number of planes, with each player's points and who is tied."""
    return len(PLANES) + 2 * players

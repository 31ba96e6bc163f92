"""The layout of a player's observation of Cloth of Gold, for batches and for single games."""

from __future__ import annotations

BOARDS = ("own", "opponent", "neutral", "killed", "placed", "own territory", "opponent's territory")
NUMBERS = ("units left in this turn", "round", "own score of the last round", "1 for player_a")
PLANES = len(BOARDS) + len(NUMBERS)
LARGEST = (1 << 15) - 1  # of an int16: scores beyond are shown as this

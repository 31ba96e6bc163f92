"""Numbers that a round robin, a match, a season and their commands take unless others are asked for."""

from __future__ import annotations

__all__ = ["CHUNK", "GAMES", "OPENING_PLIES"]

GAMES = 100
"""Of each pair."""

OPENING_PLIES = 2
"""Random moves before the agents take over."""

CHUNK = 25
"""Openings of a pair played side by side."""

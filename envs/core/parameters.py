"""Checks of a game's parameters, with one way to complain."""

from __future__ import annotations

from typing import Any

__all__ = ["check_int"]


def check_int(game: Any, name: str, low: int, high: int) -> None:
    """Raise a `ValueError` unless the game's field `name` is a whole number from `low` to `high`."""
    value = getattr(game, name)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{game.id}: parameter {name!r} must be a whole number from {low} to {high}, got {value!r}")

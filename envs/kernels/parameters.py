"""Checks of whole numbers, all with the same wording."""

from __future__ import annotations

import math
from typing import Any

from cellgames.utils.foreign_text import shown


def check_whole(name: str, value: Any, low: int | None = None, high: int | None = None) -> None:
    """Raise a `ValueError` that begins with `name` unless `value` is a whole number within limits.

    Args:
        name: name of the value in the message.
        value: anything; a bool is no number.
        low: the least allowed, None for no limits.
        high: the most allowed, None for no upper limit.
    """
    whole = isinstance(value, int) and not isinstance(value, bool)
    least, most = -math.inf if low is None else low, math.inf if high is None else high
    if not (whole and least <= value <= most):
        limits = "" if low is None else f" of at least {low}" if high is None else f" from {low} to {high}"
        raise ValueError(f"{name} must be a whole number{limits}, got {shown(value)}")


def check_int(game: Any, name: str, low: int, high: int) -> None:
    """Raise a `ValueError` unless the game's field `name` is a whole number from `low` to `high`."""
    check_whole(f"{game.id}: parameter {name!r}", getattr(game, name), low, high)

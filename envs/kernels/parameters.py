"""Checks of a game's parameters."""

from __future__ import annotations

from typing import Any

from cellgames.utils.errors import check_whole as check_whole


def check_int(game: Any, name: str, low: int, high: int) -> None:
    """Raise an `InputError` unless the game's field `name` is a whole number from `low` to `high`."""
    check_whole(name, getattr(game, name), low, high, game.id)

"""Checks of a game's parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cellgames.utils.errors import check_one_of, check_whole


def check_int(game: Any, name: str, low: int, high: int) -> None:
    """Raise an `InputError` unless the game's field `name` is a whole number from `low` to `high`."""
    check_whole(name, getattr(game, name), low, high, game.id)


def check_choices(game: Any, **choices: Iterable[str]) -> None:
    """Raise an `InputError` unless each of the game's fields is one of its choices."""
    for name, known in choices.items():
        check_one_of(name, getattr(game, name), known, game.id)

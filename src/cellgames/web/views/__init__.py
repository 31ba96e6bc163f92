"""What a page shows of each game's positions: one module a game, of functions as `View` lists them."""

from __future__ import annotations

import importlib
from typing import cast

from cellgames.envs.core import Game

from .view import Frame, View

__all__ = ["Frame", "View", "has_board", "view_of"]

_VIEWS = {
    "torus-v0": "torus_view",
    "cloth-of-gold-v0": "cloth_of_gold_view",
    "grid-adaptation-v0": "grid_adaptation_view",
    "toroidal-cup-v0": "toroidal_cup_view",
}
"""By the ids of the games themselves, not of their presets."""


def view_of(game: Game) -> View:
    """How a game is shown: on a board of the page, or by its own pictures."""
    return cast(View, importlib.import_module(f"{__name__}.{_VIEWS.get(game.id, 'pictures')}"))


def has_board(game: Game) -> bool:
    """Whether the page has a board for the game, on which it can be played."""
    return game.id in _VIEWS

"""What the page shows of each game's positions: a module a game, of functions as `View` lists them."""

from __future__ import annotations

from typing import cast

from cellgames.envs.core import Game
from cellgames.envs.registry import plugin_of
from cellgames.plugins import resolve

from .view import Frame, View

__all__ = ["Frame", "View", "has_board", "view_of"]


def view_of(game: Game) -> View:
    """Return the view of the game's plugin, else one that shows the pictures that the game draws."""
    page = plugin_of(game).page
    return cast(View, resolve(f"{__name__}.pictures" if page is None else page.view))


def has_board(game: Game) -> bool:
    """Return True if the page has a board for the game, on which it can be played."""
    return plugin_of(game).page is not None

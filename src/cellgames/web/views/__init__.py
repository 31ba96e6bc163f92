"""Views: one class for each game that the page has a board for, and one that shows any game's own pictures."""

from __future__ import annotations

from cellgames.envs.core import Game
from cellgames.envs.registry import plugin_of
from cellgames.plugins import resolve

from .view import Frame, View

__all__ = ["Frame", "View", "view_of"]


def view_of(game: Game) -> View:
    """Return the view of the game's plugin, else one that shows the pictures that the game draws."""
    view: View = resolve(plugin_of(game).view or f"{__name__}.view:PictureView")(game)
    return view

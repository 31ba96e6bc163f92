"""Positions of Torus, as `rendering` draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .rendering import View
from .state import TorusState
from .winning_path import winning_class, winning_path

if TYPE_CHECKING:
    from .game import Torus

__all__ = ["view"]


def view(game: Torus, state: TorusState) -> View:
    """Return the first game of the batch, with its title, the last move and the path that won."""
    cells, last, turn = game.board(state)[0].tolist(), int(state.last[0]), int(state.turn[0])
    names = [name.capitalize() for name in game.info.players]
    if state.terminated[0]:
        winner = int(state.scores[0].argmax())
        path = winning_path(cells, size=game.size, winner=winner)
        kind = winning_class(path)
        title = f"{names[winner]} wins by {'an' if kind.endswith('helix') else 'a'} {kind}, {turn} turns"
    else:
        path, title = [], f"{names[int(state.current_player[0])]} to move, turn {turn + 1}"
    return View(cells, None if last < 0 else last, path, title, size=game.size)

"""Positions of Hex and Y, as `rendering` draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .rendering import View
from .state import ConnectionState
from .winning_path import Link, winning_path

if TYPE_CHECKING:
    from .game import ConnectionGame

__all__ = ["view"]


def view(game: ConnectionGame, state: ConnectionState) -> View:
    """Return the first game of the batch, with its title, the last move and the stones that won."""
    cells, last, turn = game.board(state)[0].tolist(), int(state.last[0]), int(state.turn[0])
    names = [name.capitalize() for name in game.info.players]
    path: list[Link] = []
    if state.terminated[0]:
        winner = int(state.scores[0].argmax())
        path = winning_path(game.layout, cells, winner)
        title = f"{names[winner]} wins, {turn} turns"
    else:
        after = ", after a swap" * game.after_swap(state)
        title = f"{names[int(state.current_player[0])]} to move, turn {turn + 1}{after}"
    return View(cells, None if last < 0 else last, path, title, board=game.layout)

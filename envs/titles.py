"""Names of games with the size of their boards, for people: titles of plots and reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import registry

if TYPE_CHECKING:
    from .core import Game  # needs torch, and a leaderboard does without


def board_title(game: Game) -> str:
    """Return a game's title, the size of its board, and its players if they are more than two.

    Such as "Torus, size 5", "Toroidal Cup, 24 x 48" and "Grid Adaptation, size 9, 4 players".
    """
    parts, size, shape = [game.info.title], game.parameters.get("size"), game.info.board.shape
    if isinstance(size, int):
        parts.append(f"size {size}")
    elif len(shape) >= 2:
        parts.append(f"{shape[-2]} x {shape[-1]}")
    if game.info.num_players > 2:
        parts.append(f"{game.info.num_players} players")
    return ", ".join(parts)


def setting_title(id: str, parameters: Mapping[str, Any]) -> str:
    """Return `board_title` of a game that is named in a file; its id if the game is not installed."""
    try:
        return board_title(registry.make(id, **parameters))
    except (KeyError, ImportError, TypeError, ValueError):
        return id

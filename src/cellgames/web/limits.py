"""Limits on what the page shows; records and parameters come from strangers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cellgames.envs.core import Game

from .views import has_board, view_of

MOVES = 20_000
"""Most moves of a record."""

CELLS = 1 << 18
"""Most cells of a board, 512 x 512."""

LIFE = 300_000_000
"""Most cells times generations of Life in one game: some ten seconds of one core, three times the Cup's own games."""

PLANES = 128 << 20
"""Most bytes of all frames of a replay, before they are packed."""

STEP_FRAMES = 10_000
"""Most frames within one step; every generation of it is one, where there are no more."""

PICTURES = 20_000
"""Most frames within all steps of a game; steps that are animations share them."""


def check(game: Game, moves: Sequence[str] | None = None) -> None:
    """Refuse a game that is too large to be shown or played in a page, before anything is allocated for it.

    Args:
        game: The game with its parameters.
        moves: Moves of a record; None for a game that is still to be played.

    Raises:
        ValueError: The game is too large, or is to be played and has no board; the message says what was expected.
    """
    if moves is None and not has_board(game):
        raise ValueError(f"expected a game that the page has a board for, got {game.id}; its records can be watched")
    parameters = ", ".join(f"{name}={value}" for name, value in game.parameters.items())
    if moves is not None and len(moves) > MOVES:
        raise ValueError(f"expected a record of at most {MOVES:,} moves, got {len(moves):,}")
    cells = math.prod(game.info.board.shape)
    if cells > CELLS:
        raise ValueError(f"expected a board of at most {CELLS:,} cells, got {cells:,} ({parameters})")
    if (work := view_of(game).work(moves)) > LIFE:
        raise ValueError(
            f"expected a game of at most {LIFE:,} cells times generations of Life, got up to {work:,} ({parameters}); "
            "take a smaller board or fewer generations"
        )
    if moves is not None and (size := 2 * cells * (len(moves) + 1)) > PLANES:
        raise ValueError(
            f"expected a record whose boards take at most {PLANES:,} bytes, got {size:,}: "
            f"{len(moves):,} moves on {cells:,} cells"
        )

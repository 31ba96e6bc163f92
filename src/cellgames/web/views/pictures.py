"""Games that nobody has written a view for, shown as the pictures that they draw themselves (`Game.draw`).

They can be watched and exported, but not played by pointing at a board.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from cellgames.envs.core import Game
from cellgames.envs.core.drawing import Picture, to_svg
from cellgames.envs.kernels.compiling import Compile
from cellgames.envs.toroidal_cup.rendering import COLOURS

from .view import Frame, controls, extra, results

__all__ = ["animated", "between", "controls", "extra", "frame", "layout", "work"]


def layout(game: Game) -> dict[str, Any]:
    """See `View`."""
    return {
        "kind": "picture",
        "wrap": False,
        "colours": [COLOURS[seat % len(COLOURS)] for seat in range(game.info.num_players)],
        "ground": "#ffffff",
        "columns": [{"name": "score", "label": "score", "kind": "number"}],
        "curves": [{"name": "score", "label": "score", "per": "player"}],
    }


def work(game: Game, moves: Sequence[str] | None) -> int:
    """See `View`; not known."""
    return 0


def frame(game: Game, state: Any, before: Any, viewer: int | None, action: Sequence[int] | None = None) -> Frame:
    """See `View`.

    Raises:
        ValueError: for a seat that may not know all that the picture shows.
    """
    if viewer is not None and not game.info.perfect_information:
        raise ValueError(f"expected a spectator: pictures of {game.id} show what players may not know")
    *_, last = [game.draw(state)] if before is None else game.frames(before, state)
    return _frame(game, state, last)


def _frame(game: Game, state: Any, picture: Picture) -> Frame:
    turn, done = int(state.turn[0]), bool(state.done[0])
    info = game.info
    mover = "" if done or info.simultaneous else f", {info.players[int(state.current_player[0])]} to move"
    fields = {
        "svg": to_svg(picture),
        "status": f"Over after turn {turn}" if done else f"Turn {turn + 1}{mover}",
        "last": [],
        "results": results(game, state),
        "infos": {"score": [round(score, 4) for score in state.scores[0].tolist()]},
        "text": [],
    }
    return Frame(np.zeros(0, np.uint8), None, fields)


def animated(game: Game, before: Any, after: Any) -> bool:
    """See `View`; not known, and each step may be."""
    return True


def between(game: Game, before: Any, after: Any, most: int, compile: Compile) -> Iterator[Frame]:
    """See `View`; the first pictures of the step's frames."""
    pictures = list(islice(game.frames(before, after), most + 1))
    for picture in pictures[:-1]:
        shown = _frame(game, before, picture)
        yield Frame(shown.cells, None, {**shown.fields, "status": f"Turn {int(after.turn[0])}", "life": True})

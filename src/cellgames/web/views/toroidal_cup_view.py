"""The Toroidal Cup: cells 0 empty, else the team's number; Life from the arrangement to the end as an animation.

What a team will place later is secret, also from itself: a seat that plays sees the shape in its hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from cellgames.envs.core.drawing import frame_times
from cellgames.envs.kernels.compiling import Compile
from cellgames.envs.toroidal_cup import placement
from cellgames.envs.toroidal_cup import rendering as drawn
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.patterns.pattern import PATTERNS
from cellgames.envs.toroidal_cup.patterns.stamps import grid
from cellgames.envs.toroidal_cup.state import CupState

from .view import Bytes, Frame, changed, extra, results

__all__ = ["animated", "between", "controls", "extra", "frame", "layout", "life", "work"]


def layout(game: ToroidalCup) -> dict[str, Any]:
    """See `View`."""
    return {
        "kind": "cells",
        "paint": "colours",
        "rows": game.rows,
        "cols": game.cols,
        "wrap": True,
        "band": game.lattice.band,
        "colours": list(drawn.COLOURS[: game.teams]),
        "ground": drawn._BOARD,
        "palette": {"cells": drawn.COLOURS, "board": drawn._BOARD, "line": drawn._LINE, "ink": drawn._INK},
        "shapes": {name: grid(name).astype(int).tolist() for name in game.stamps},
        "columns": [
            {"name": "cells", "label": "live cells", "kind": "number"},
            {"name": "share", "label": "share", "kind": "percent"},
        ],
        "curves": [
            {"name": "cells", "label": "live cells", "per": "player"},
            {"name": "share", "label": "share of the live cells, %", "per": "player", "most": 100},
        ],
    }


def work(game: ToroidalCup, moves: Sequence[str] | None) -> int:
    """See `View`."""
    return game.rows * game.cols * game.max_generations


def frame(
    game: ToroidalCup, state: CupState, before: CupState | None, viewer: int | None, action: Sequence[int] | None = None
) -> Frame:
    """See `View`; a seat sees its next shape, a spectator all that are to come."""
    done, turn = bool(state.done[0]), int(state.turn[0])
    queues = [[game.stamps[index] for index in queue if index >= 0] for queue in state.queue[0].tolist()]
    left = len(queues[0])
    generation = int(state.generations[0])
    ending = _ending(generation, bool(state.truncated[0]))
    fields: dict[str, Any] = {
        "status": ending if done else f"Shape {turn + 1} of {turn + left}",
        "last": [],
        "results": results(game, state),
        "generation": generation,
        "left": left,
        "bands": not done,
        "queues": [
            queue if viewer is None else queue[:1] if seat == viewer else [] for seat, queue in enumerate(queues)
        ],
    }
    if before is not None and not done:
        fields["last"] = changed(before.board[0], state.board[0])
    board = state.board[0].numpy(force=True)
    pattern = PATTERNS[game.patterns[int(state.pattern[0])]].title
    return _frame(game, board, fields, [["pattern", pattern]])


def _frame(game: ToroidalCup, board: Any, fields: Mapping[str, Any], text: Sequence[Any] = ()) -> Frame:
    cells: Bytes = board.astype(np.uint8).ravel()
    live = np.bincount(cells, minlength=game.teams + 1)[1 : game.teams + 1].tolist()
    total = sum(live)
    share = [round(100 * count / total, 2) if total else None for count in live]
    return Frame(cells, None, {**fields, "infos": {"cells": live, "share": share}, "text": list(text)})


def controls(game: ToroidalCup, state: CupState, seat: int) -> dict[str, Any]:
    """Return the shape in hand in its eight orientations, and the lattice of the seat's band."""
    lattice, stamp = game.lattice, int(state.queue[0, seat, 0])
    around = placement.cells((game.stamps[stamp],), torch.device("cpu"))[0].tolist()  # [8][L][2]
    return {
        "shape": game.stamps[stamp],
        "around": [sorted(set(map(tuple, cells))) for cells in around],
        "left": int((state.queue[0, seat] >= 0).sum()),
        "first": lattice.stride // 2,
        "stride": lattice.stride,
        "down": lattice.down,
        "across": lattice.across,
        "band": lattice.band,
        "rows": game.rows,
        "cols": game.cols,
    }


def animated(game: ToroidalCup, before: CupState, after: CupState) -> bool:
    """See `View`; the last step is an animation."""
    return bool(after.done[0]) and not bool(before.done[0])


def between(game: ToroidalCup, before: CupState, after: CupState, most: int, compile: Compile) -> Iterator[Frame]:
    """See `View`; Life's course after the last shapes."""
    if animated(game, before, after) and most > 0:
        pattern = game.patterns[int(after.pattern[0])]
        *frames, _ = life(game, after.start[:1], int(after.generations[0]), most, pattern, compile)
        yield from frames


def life(
    game: ToroidalCup, start: torch.Tensor, last: int, most: int, pattern: str, compile: Compile
) -> Iterator[Frame]:
    """Life from an arrangement, int8 [1, rows, cols], to its end at generation `last`.

    Up to `most` generations, denser at the beginning, and the end.
    """
    *shown, _ = frame_times(last, most)
    result = game.life(start, keep=shown, compile=compile)
    winner = int(result.winner[0])
    for generation in [*shown, last]:
        done = generation == last
        words = ["wins" if seat == winner else "loses" if winner else "draw" for seat in range(1, game.teams + 1)]
        board = result.board if done else result.boards[generation]
        fields = {
            "status": _ending(last, bool(result.truncated[0])) if done else f"Generation {generation} of {last}",
            "last": [],
            "results": words if done else [""] * game.teams,
            "generation": generation,
            "left": 0,
            "bands": False,
            "life": not done,
            "queues": [[] for _ in range(game.teams)],
        }
        yield _frame(game, board[0].numpy(force=True), fields, [["pattern", PATTERNS[pattern].title]])


def _ending(generation: int, truncated: bool) -> str:
    return f"{'Cut off' if truncated else 'Over'} at generation {generation}"

"""The view of the Toroidal Cup: cells are 0 if empty, else the team's number; Life runs as an animation.

What a team will place later is secret, also from itself: a seat that plays sees the shape in its hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from typing_extensions import override

from cellgames.envs.core.drawing import frame_times
from cellgames.envs.kernels.compiling import Compile
from cellgames.envs.toroidal_cup import placement
from cellgames.envs.toroidal_cup import rendering as drawn
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.envs.toroidal_cup.patterns.pattern import PATTERNS
from cellgames.envs.toroidal_cup.patterns.stamps import grid
from cellgames.envs.toroidal_cup.state import CupState

from .view import Bytes, Frame, View, changed, results

__all__ = ["CupView", "life"]


class CupView(View):
    """A view of the Toroidal Cup; a seat sees the next shape in its hand, and no later one."""

    game: ToroidalCup

    @override
    def layout(self) -> dict[str, Any]:
        return {
            "kind": "cells",
            "paint": "colours",
            "rows": self.game.rows,
            "cols": self.game.cols,
            "wrap": True,
            "band": self.game.lattice.band,
            "colours": list(drawn.COLOURS[: self.game.teams]),
            "ground": drawn._BOARD,
            "palette": {"cells": drawn.COLOURS, "board": drawn._BOARD, "line": drawn._LINE, "ink": drawn._INK},
            "shapes": {name: grid(name).astype(int).tolist() for name in self.game.stamps},
            "columns": [
                {"name": "cells", "label": "live cells", "kind": "number"},
                {"name": "share", "label": "share", "kind": "percent"},
            ],
            "curves": [
                {"name": "cells", "label": "live cells", "per": "player"},
                {"name": "share", "label": "share of the live cells, %", "per": "player", "most": 100},
            ],
        }

    @override
    def work(self, moves: Sequence[str] | None) -> int:
        return self.game.rows * self.game.cols * self.game.max_generations

    @override
    def frame(
        self, state: CupState, before: CupState | None, viewer: int | None, action: Sequence[int] | None = None
    ) -> Frame:
        done, turn = bool(state.done[0]), int(state.turn[0])
        queues = [[self.game.stamps[index] for index in queue if index >= 0] for queue in state.queue[0].tolist()]
        left = len(queues[0])
        generation = int(state.generations[0])
        ending = _ending(generation, bool(state.truncated[0]))
        fields: dict[str, Any] = {
            "status": ending if done else f"Shape {turn + 1} of {turn + left}",
            "last": [],
            "results": results(self.game, state),
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
        pattern = PATTERNS[self.game.patterns[int(state.pattern[0])]].title
        return _frame(self.game, board, fields, [["pattern", pattern]])

    @override
    def animated(self, before: CupState, after: CupState) -> bool:
        return bool(after.done[0]) and not bool(before.done[0])

    @override
    def between(self, before: CupState, after: CupState, most: int, compile: Compile) -> Iterator[Frame]:
        if self.animated(before, after) and most > 0:
            pattern = self.game.patterns[int(after.pattern[0])]
            *frames, _ = life(self.game, after.start[:1], int(after.generations[0]), most, pattern, compile)
            yield from frames

    @override
    def controls(self, state: CupState, seat: int) -> dict[str, Any]:
        # The shape in hand in its eight orientations, and the lattice of the seat's band.
        lattice, stamp = self.game.lattice, int(state.queue[0, seat, 0])
        around = placement.cells((self.game.stamps[stamp],), torch.device("cpu"))[0].tolist()  # [8][L][2]
        return {
            "shape": self.game.stamps[stamp],
            "around": [sorted(set(map(tuple, cells))) for cells in around],
            "left": int((state.queue[0, seat] >= 0).sum()),
            "first": lattice.stride // 2,
            "stride": lattice.stride,
            "down": lattice.down,
            "across": lattice.across,
            "band": lattice.band,
            "rows": self.game.rows,
            "cols": self.game.cols,
        }


def _frame(game: ToroidalCup, board: Any, fields: Mapping[str, Any], text: Sequence[Any] = ()) -> Frame:
    cells: Bytes = board.astype(np.uint8).ravel()
    live = np.bincount(cells, minlength=game.teams + 1)[1 : game.teams + 1].tolist()
    total = sum(live)
    share = [round(100 * count / total, 2) if total else None for count in live]
    return Frame(cells, None, {**fields, "infos": {"cells": live, "share": share}, "text": list(text)})


def life(
    game: ToroidalCup, start: torch.Tensor, last: int, most: int, pattern: str, compile: Compile
) -> Iterator[Frame]:
    """Yield Life from an arrangement, int8 [1, rows, cols], to its end at generation `last`.

    These are up to `most` generations, denser at the beginning, and the end.
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

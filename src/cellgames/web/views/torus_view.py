"""The view of Torus: cells by index, 0 free, 1 Black, 2 White."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from typing_extensions import override

from cellgames.agents.torus.distance import CLOSED, stones_to_win
from cellgames.envs.torus import rendering as drawn
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.geometry import cell_to_name, num_cells
from cellgames.envs.torus.state import TorusState
from cellgames.envs.torus.winning_path import winning_class, winning_path

from .dark_colours import STONES, dark
from .view import Frame, View, changed, changed_rows, player_names, results, stone_codes

__all__ = ["TorusView"]

_KINDS = {
    "ring": "from top to bottom (a ring)",
    "bracelet": "from left to right (a bracelet)",
    "r-helix": "both ways, sloping down to the right (an r-helix)",
    "l-helix": "both ways, sloping up to the right (an l-helix)",
}


class TorusView(View):
    """A view of Torus, with the winning path and the stones that each side still needs."""

    game: Torus

    @override
    def layout(self) -> dict[str, Any]:
        colours = [drawn.colour(0, owner, self.game.size) for owner in (1, 2)]
        palette = {
            "fill": [drawn.colour(0, owner, self.game.size) for owner in range(3)],
            "square": drawn.colour(num_cells(self.game.size) - 1, 0, self.game.size),
            "edge": drawn._EDGE,
            "path": drawn._PATH,
            "mark": drawn._MARK,
            "paper": drawn._PAPER,
            "ink": drawn._INK,
            "faded": drawn._FADED,
        }
        return {
            "kind": "torus",
            "size": self.game.size,
            "wrap": True,
            "names": [cell_to_name(cell, self.game.size) for cell in range(num_cells(self.game.size))],
            "colours": colours,
            "ground": drawn.colour(0, 0, self.game.size),
            "palette": palette,
            "dark": dark(STONES, palette, STONES["fill"][1:], STONES["fill"][0]),
            "strip": drawn._STRIP,
            "columns": [{"name": "needed", "label": "stones needed", "kind": "number"}],
            "curves": [{"name": "needed", "label": "stones still needed to win", "per": "player"}],
        }

    @override
    def frame(
        self, state: TorusState, before: TorusState | None, viewer: int | None, action: Sequence[int] | None = None
    ) -> Frame:
        board = self.game.board(state)[0]
        cells = board.numpy(force=True).astype(np.uint8)
        last = int(state.last[0])
        marked = [last] if last >= 0 else []
        if before is not None:
            marked = changed(self.game.board(before)[0], board)
        fields: dict[str, Any] = {"last": marked}
        name = player_names(self.game)
        turn = int(state.turn[0])
        if bool(state.terminated[0]):
            winner = int(state.scores[0].argmax())
            path = winning_path(cells.tolist(), size=self.game.size, winner=winner)
            fields["path"] = [list(step) for step in path]
            fields["status"] = (
                f"{name[winner]} wins after {turn} moves: its chain closes around the torus "
                f"{_KINDS[winning_class(path)]}"
            )
        else:
            fields["status"] = f"{name[int(state.current_player[0])]} to move, turn {turn + 1}"
        return Frame(
            cells, None, {**fields, "results": results(self.game, state), "text": [["stones", turn]], "infos": {}}
        )

    @override
    def codes(self) -> list[tuple[int, str]]:
        return stone_codes(self.game)

    @override
    def edited(self, state: TorusState, put: Mapping[int, int], mover: int) -> str:
        self.check_codes(put)
        return changed_rows(self.game.state_to_string(state), put, mover)

    @override
    def extra(self, states: Sequence[TorusState]) -> Mapping[str, Sequence[Sequence[float | None]]]:
        # `needed`: stones that Black and White still need for a path that wins, None if there can be none. Nothing for
        # long games on the largest boards, where it takes too long.
        if len(states) * self.game.size**4 > _WORK:
            return {}
        needed: list[list[float | None]] = []
        for start in range(0, len(states), _CHUNK):
            batch = TorusState.cat(states[start : start + _CHUNK])
            stones = stones_to_win(
                self.game.observe(batch, torch.zeros(len(batch), dtype=torch.int64, device="cpu"))
            ).tolist()
            needed += [[None if number >= CLOSED else number for number in pair] for pair in stones]
        return {"needed": needed}


_CHUNK = 256  # positions at a time
_WORK = 12_000_000  # positions times the fourth power of the size, some seconds of searching

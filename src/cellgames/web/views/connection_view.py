"""The view of Hex and Y: cells by index, 0 free, 1 Black, 2 White."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from typing_extensions import override

from cellgames.agents.connection.distance import stones_to_win
from cellgames.agents.connection.potentials import CLOSED
from cellgames.envs.connection import rendering as drawn
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.connection.state import ConnectionState
from cellgames.envs.connection.winning_path import winning_path
from cellgames.envs.connection.y import Y

from .dark_colours import STONES, dark
from .view import Frame, View, changed, changed_rows, player_names, results, stone_codes

__all__ = ["ConnectionView"]

_DIGITS = 4  # of coordinates, in cells


class ConnectionView(View):
    """A view of Hex or Y, with the stones that won and those that each side still needs."""

    game: ConnectionGame

    @override
    def layout(self) -> dict[str, Any]:
        board = self.game.layout
        width, height = drawn.extent(board)
        palette = {
            "fill": [drawn.colour(board, 0, owner) for owner in range(3)],
            "square": drawn.colour(board, board.cells - 1, 0),
            "edge": drawn._EDGE,
            "side": drawn._SIDE,
            "path": drawn._PATH,
            "mark": drawn._MARK,
            "paper": drawn._PAPER,
            "ink": drawn._INK,
        }
        first = [next(cell for cell, spot in enumerate(board.spots) if spot[0] == kind) for kind in range(board.kinds)]
        return {
            "kind": "stones",
            "paint": "stones",
            "width": width,
            "height": height,
            "wrap": False,
            "names": [board.name(cell) for cell in range(board.cells)],
            "centres": [_rounded(drawn.spot(board, cell)) for cell in range(board.cells)],
            "kinds": [spot[0] for spot in board.spots],
            "forms": [[_rounded(corner) for corner in drawn.form(board, cell)] for cell in first],
            "sides": [[*_rounded((*start, *end)), owner] for start, end, owner in drawn.sides(board)],
            "labels": [[*_rounded(at), label] for at, label in drawn.labels(board)],
            "colours": [drawn.colour(board, 0, owner) for owner in (1, 2)],
            "ground": drawn.colour(board, 0, 0),
            "palette": palette,
            "dark": dark(STONES, palette, STONES["fill"][1:], STONES["fill"][0]),
            "columns": [{"name": "needed", "label": "stones needed", "kind": "number"}],
            "curves": [{"name": "needed", "label": "stones still needed to win", "per": "player"}],
        }

    @override
    def frame(
        self,
        state: ConnectionState,
        before: ConnectionState | None,
        viewer: int | None,
        action: Sequence[int] | None = None,
    ) -> Frame:
        board, last, turn = self.game.board(state)[0], int(state.last[0]), int(state.turn[0])
        cells = board.numpy(force=True).astype(np.uint8)
        marked = [last] if last >= 0 else []
        if before is not None:  # a swap has also emptied a cell
            marked = [cell for cell in changed(self.game.board(before)[0], board) if cells[cell]]
        fields: dict[str, Any] = {"last": marked}
        name = player_names(self.game)
        if bool(state.terminated[0]):
            winner = int(state.scores[0].argmax())
            fields["path"] = [list(link) for link in winning_path(self.game.layout, cells.tolist(), winner)]
            fields["status"] = f"{name[winner]} wins after {turn} moves: its chain connects {self._won(winner)}"
        else:
            swapped = self.game.swap and turn == 2 and int(np.count_nonzero(cells)) == 1
            after = f": {name[1]} has taken over the first stone" if swapped else ""
            fields["status"] = f"{name[int(state.current_player[0])]} to move, turn {turn + 1}{after}"
        text = [["stones", int(np.count_nonzero(cells))]]
        return Frame(cells, None, {**fields, "results": results(self.game, state), "text": text, "infos": {}})

    def _won(self, winner: int) -> str:
        """Return the sides that a winning chain connects."""
        if isinstance(self.game, Y):
            return "all three sides"
        return ("the top with the bottom", "the left side with the right side")[winner]

    @override
    def codes(self) -> list[tuple[int, str]]:
        return stone_codes(self.game)

    @override
    def edited(self, state: ConnectionState, put: Mapping[int, int], mover: int) -> str:
        self.check_codes(put)
        return changed_rows(self.game.state_to_string(state), put, mover)

    @override
    def extra(self, states: Sequence[ConnectionState]) -> Mapping[str, Sequence[Sequence[float | None]]]:
        # `needed`: stones that Black and White still need to win, None if they cannot. Nothing for long games on the
        # largest boards, where it takes too long.
        if len(states) * self.game.size**4 > _WORK:
            return {}
        needed: list[list[float | None]] = []
        for start in range(0, len(states), _CHUNK):
            batch = ConnectionState.cat(states[start : start + _CHUNK])
            seats = torch.zeros(len(batch), dtype=torch.int64, device="cpu")
            stones = stones_to_win(self.game, self.game.observe(batch, seats)).tolist()
            needed += [[None if number >= CLOSED else number for number in pair] for pair in stones]
        return {"needed": needed}

    @override
    def controls(self, state: ConnectionState, seat: int) -> dict[str, Any]:
        """Return the action that swaps, None in games without it, and the name of the cell to which the stone moves.

        The cell is None where the stone stays, and where nobody can swap.
        """
        board = self.game.layout
        if not self.game.swap:
            return {"swap": None, "swapped": None}
        first = int(state.last[0]) if int(state.turn[0]) == 1 else -1
        moved = first >= 0 and board.swapped[first] != first
        return {"swap": board.cells, "swapped": board.name(board.swapped[first]) if moved else None}


def _rounded(numbers: Sequence[float]) -> list[float]:
    return [round(number, _DIGITS) for number in numbers]


_CHUNK = 256  # positions at a time
_WORK = 60_000_000  # positions times the fourth power of the size, some seconds of searching

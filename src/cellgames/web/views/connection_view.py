"""The view of Hex and Y."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from torch import Tensor
from typing_extensions import override

from cellgames.agents.connection.distance import stones_to_win
from cellgames.envs.connection import rendering as drawn
from cellgames.envs.connection.game import ConnectionGame, Y
from cellgames.envs.connection.state import ConnectionState

from .stones_view import StonesView
from .view import player_names

__all__ = ["ConnectionView"]

_DIGITS = 4  # of coordinates, in cells


class ConnectionView(StonesView):
    """A view of Hex or Y; its path has pairs of cells as `winning_path` gives them."""

    game: ConnectionGame
    most_work: ClassVar[int] = 60_000_000

    @override
    def board_layout(self) -> dict[str, Any]:
        board = self.game.layout
        width, height = drawn.extent(board)
        first = [next(cell for cell, spot in enumerate(board.spots) if spot[0] == kind) for kind in range(board.kinds)]
        return {
            "kind": "stones",
            "paint": "stones",
            "width": width,
            "height": height,
            "wrap": False,
            "centres": [_rounded(drawn.spot(board, cell)) for cell in range(board.cells)],
            "kinds": [spot[0] for spot in board.spots],
            "forms": [[_rounded(corner) for corner in drawn.form(board, cell)] for cell in first],
            "sides": [[*_rounded((*start, *end)), owner] for start, end, owner in drawn.sides(board)],
            "labels": [[*_rounded(at), label] for at, label in drawn.labels(board)],
            "palette": {"side": drawn.SIDE},
        }

    @override
    def needed(self, state: ConnectionState) -> Tensor:
        return stones_to_win(self.game, self.game.observe(state, 0))

    @override
    def won(self, winner: int, path: Sequence[Any]) -> str:
        if isinstance(self.game, Y):
            return "connects all three sides"
        return f"connects {('the top with the bottom', 'the left side with the right side')[winner]}"

    @override
    def remark(self, state: ConnectionState) -> str:
        if not self.game.after_swap(state):
            return ""
        return f": {player_names(self.game)[1]} has taken over the first stone"

    @override
    def controls(self, state: ConnectionState, seat: int) -> dict[str, Any]:
        """Return what the page tells of the swap.

        These are `swap`, the action, None in games without it; `open`, True if the stone of this turn may be taken
        over; and `swapped`, the cell to which the first stone would move, None where it stays or is not to be had.
        """
        board, turn = self.game.layout, int(state.turn[0])
        if not self.game.swap:
            return {"swap": None, "open": False, "swapped": None}
        first = int(state.last[0]) if turn == 1 else -1
        moved = first >= 0 and board.swapped[first] != first
        return {"swap": board.cells, "open": turn == 0, "swapped": board.name(board.swapped[first]) if moved else None}


def _rounded(numbers: Sequence[float]) -> list[float]:
    return [round(number, _DIGITS) for number in numbers]

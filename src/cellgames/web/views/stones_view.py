"""The views of Torus, Hex and Y: cells by index, 0 free, 1 Black, 2 White."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from torch import Tensor
from typing_extensions import override

from cellgames.agents.connection.greedy import stones_to_win as stones_to_connect
from cellgames.agents.connection.walks import CLOSED
from cellgames.agents.torus.greedy import stones_to_win
from cellgames.envs.connection import rendering as connection
from cellgames.envs.connection.game import ConnectionGame, ConnectionState, Y
from cellgames.envs.stones import row_notation
from cellgames.envs.stones import stone_view as drawn
from cellgames.envs.stones.stone_game import StoneGame
from cellgames.envs.stones.stone_state import StoneState
from cellgames.envs.torus import rendering as torus
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.state import TorusState

from .view import STONES, Action, Frame, View, changed, column, curve, dark, player_names, results

_CHUNK = 256  # positions at a time
_DIGITS = 4  # of coordinates, in cells
_KINDS = {
    "ring": "from top to bottom (a ring)",
    "bracelet": "from left to right (a bracelet)",
    "r-helix": "both ways, sloping down to the right (an r-helix)",
    "l-helix": "both ways, sloping up to the right (an l-helix)",
}


class StonesView(View):
    """A view of a game of connected stones, with the stones that won and those that each side still needs.

    Attributes:
        most_work: positions times the fourth power of the size, of which stones that are needed are found in some
            seconds.
    """

    game: StoneGame[Any]
    most_work: ClassVar[int]

    @abstractmethod
    def board_layout(self) -> dict[str, Any]:
        """Return the parts of the layout that this game alone has."""

    @abstractmethod
    def needed(self, state: Any) -> Tensor:
        """Return the stones that Black and White still need to win, [B, 2]; `CLOSED` or more if they cannot."""

    @abstractmethod
    def won(self, winner: int, path: Sequence[Any]) -> str:
        """Return the deed of the winning chain, such as "connects the top with the bottom"."""

    def remark(self, state: Any) -> str:
        """Return a remark for the end of the line that names the mover; "" for none."""
        return ""

    @override
    def layout(self) -> dict[str, Any]:
        own = self.board_layout()
        palette = {
            "fill": list(drawn.FILL),
            "square": drawn.FREE_SQUARE,
            "edge": drawn.EDGE,
            "path": drawn.PATH,
            "mark": drawn.MARK,
            "paper": drawn.PAPER,
            "ink": drawn.INK,
            **own.pop("palette"),
        }
        return {
            "names": [self.game.action_to_string(cell) for cell in range(self.game.num_cells)],
            "colours": list(drawn.FILL[1:]),
            "ground": drawn.FILL[0],
            "palette": palette,
            "dark": dark(STONES, palette, STONES["fill"][1:], STONES["fill"][0]),
            "columns": [column("needed", "stones needed")],
            "curves": [curve("needed", "stones still needed to win")],
            **own,
        }

    @override
    def frame(self, state: Any, before: StoneState | None, viewer: int | None, action: Action = None) -> Frame:
        board, last, turn = self.game.board(state)[0], int(state.last[0]), int(state.turn[0])
        cells = board.numpy(force=True).astype(np.uint8)
        marked = [last] if last >= 0 else []
        if before is not None:  # a swap has also emptied a cell
            marked = [cell for cell in changed(self.game.board(before)[0], board) if cells[cell]]
        fields: dict[str, Any] = {"last": marked}
        name = player_names(self.game)
        if bool(state.terminated[0]):
            winner, path = int(state.scores[0].argmax()), self.game.view(state).path
            fields["path"] = [list(step) for step in path]
            fields["status"] = f"{name[winner]} wins after {turn} moves: its chain {self.won(winner, path)}"
        else:
            fields["status"] = f"{name[int(state.current_player[0])]} to move, turn {turn + 1}{self.remark(state)}"
        text = [["stones", int(np.count_nonzero(cells))]]
        return Frame(cells, None, {**fields, "results": results(self.game, state), "text": text, "infos": {}})

    @override
    def codes(self) -> list[tuple[int, str]]:
        return [*((seat + 1, name) for seat, name in enumerate(player_names(self.game))), (0, "empty")]

    @override
    def edited(self, state: Any, put: Mapping[int, int], mover: int) -> str:
        marks = list(self.game.state_to_string(state))
        cells = [place for place, mark in enumerate(marks[:-1]) if mark in row_notation.STONES]
        for cell, code in put.items():
            marks[cells[cell]] = row_notation.STONES[code]
        return "".join(marks[:-1]) + row_notation.MOVERS[mover]

    @override
    def extra(self, states: Sequence[Any]) -> Mapping[str, Sequence[Sequence[float | None]]]:
        # `needed`: stones that Black and White still need to win, None if they cannot. Nothing for long games on the
        # largest boards, where it takes too long.
        if len(states) * self.game.size**4 > self.most_work:
            return {}
        found: list[list[float | None]] = []
        for start in range(0, len(states), _CHUNK):
            stones = self.needed(StoneState.cat(states[start : start + _CHUNK])).tolist()
            found += [[None if number >= CLOSED else number for number in pair] for pair in stones]
        return {"needed": found}


class TorusView(StonesView):
    """A view of Torus; its path has steps as `winning_path` gives them."""

    game: Torus
    most_work: ClassVar[int] = 12_000_000

    @override
    def board_layout(self) -> dict[str, Any]:
        return {
            "kind": "torus",
            "size": self.game.size,
            "wrap": True,
            "strip": torus.STRIP,
            "palette": {"faded": torus.FADED},
        }

    @override
    def needed(self, state: TorusState) -> Tensor:
        return stones_to_win(self.game.observe(state, 0))

    @override
    def won(self, winner: int, path: Sequence[Any]) -> str:
        return f"closes around the torus {_KINDS[torus.winning_class(path)]}"


class ConnectionView(StonesView):
    """A view of Hex or Y; its path has pairs of cells as `winning_path` gives them."""

    game: ConnectionGame
    most_work: ClassVar[int] = 60_000_000

    @override
    def board_layout(self) -> dict[str, Any]:
        board, form = self.game.layout, self.game.layout.form
        width, height = form.extent
        return {
            "kind": "stones",
            "paint": "stones",
            "width": width,
            "height": height,
            "wrap": False,
            "centres": [_rounded(form.centre(cell)) for cell in range(board.cells)],
            "kinds": [spot[0] for spot in board.spots],
            "forms": [[_rounded(corner) for corner in form.corners(rows[0][0])] for rows in form.rows],
            "sides": [[*_rounded((*start, *end)), owner] for start, end, owner in connection.sides(board)],
            "labels": [[*_rounded(at), label] for at, label in form.labels()],
            "palette": {"side": connection.SIDE},
        }

    @override
    def needed(self, state: ConnectionState) -> Tensor:
        return stones_to_connect(self.game, self.game.observe(state, 0))

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
        """Return the page's explanation of the swap.

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

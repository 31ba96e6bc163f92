"""The reader of Hex and Y: openings up to symmetry; cells on the board, and as seen from the opponent's last stone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typing_extensions import override

from cellgames.envs.connection.boards import Board, board
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.connection.rendering import outline

from .layouts import Polygons
from .reader import Frame
from .stones_reader import StonesReader

__all__ = ["ConnectionReader"]

_REACH = 4  # rows and columns from the last stone in which answers are shown


class ConnectionReader(StonesReader):
    """A reader of Hex or Y. A swap is a step of an opening, but claims no cell.

    Answers are shown on a rhombus with the opponent's last stone in its middle, whose cells are named as those of a
    board of its size. Answers further away are not shown.
    """

    game: ConnectionGame

    def __init__(self, game: ConnectionGame) -> None:
        super().__init__(game)
        self.size, self._board = game.size, game.layout
        window = board("rhombus", self._board.tiling, 2 * _REACH + self._board.kinds)  # squares lie between
        self._window = {spot: cell for cell, spot in enumerate(window.spots)}
        around = _layout(window)
        kinds = ("stone",) if self._board.kinds == 1 else ("octagon", "square")
        titles = ("",) if self._board.kinds == 1 else (" on an octagon", " on a square")
        self.frames = (
            Frame("board", "the board", _layout(self._board)),
            *(
                Frame(
                    f"last {name}",
                    f"answers, seen from the opponent's last stone{title}",
                    around,
                    self._window[kind, _REACH, _REACH],
                )
                for kind, (name, title) in enumerate(zip(kinds, titles, strict=True))
            ),
        )

    @override
    def stones(self, actions: Sequence[int]) -> Iterator[int | None]:
        for action in actions:
            yield None if action == self._board.cells else action

    @override
    def last_stone(self, before: int) -> int:
        return self._board.swapped[before]

    @override
    def seen_from(self, cell: int, other: int) -> tuple[int, int] | None:
        (kind, row, col), (around, down, right) = self._board.spots[cell], self._board.spots[other]
        if max(abs(row - down), abs(col - right)) > _REACH:
            return None
        seen = self._window.get((kind, row - down + _REACH, col - right + _REACH))
        return None if seen is None else (1 + around, seen)


def _layout(cells: Board) -> Polygons:
    names = tuple(map(cells.name, range(cells.cells)))
    return Polygons(names, tuple(outline(cells, cell) for cell in range(cells.cells)))

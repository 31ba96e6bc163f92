"""Readers of Torus, Hex and Y: openings up to symmetry; cells on the board, and as seen from the opponent's last stone.

Letters: `n` the size of a board of Torus.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from typing_extensions import override

from cellgames.arena.records.record_lines import Record
from cellgames.envs.connection.boards import Board, board
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.core import Game
from cellgames.envs.torus.rendering import form

from .reader import Frame, Layout, Placed, Reader

_LATER = (1, 3, 8)  # own moves of a seat before each phase but the first
_REACH = 4  # rows and columns from the last stone in which answers are shown


class StonesReader(Reader):
    """A reader of a game of connected stones; its first frame is the board.

    Attributes:
        swapped: the cell that each cell's stone comes to by a swap, the action after the cells.
    """

    phases = ("move 1", "moves 2 and 3", "moves 4 to 8", "later moves")
    swapped: Sequence[int] = ()

    @abstractmethod
    def seen_from(self, cell: int, other: int) -> tuple[int, int] | None:
        """Return a frame, and a cell there when the board is moved so that `other` comes to the frame's marked cell.

        None stands for a cell that is too far away.
        """

    @override
    def placed(self, record: Record) -> Iterator[Placed]:
        last, cells = -1, len(self.frames[0].layout.names)
        for ply, cell in enumerate(map(self.action, record.moves)):
            if cell == cells:
                last = self.swapped[last]
                continue
            if ply >= record.opening:
                seat, phase = ply % 2, sum(ply // 2 >= own for own in _LATER)
                yield Placed(0, seat, phase, cell)
                if last >= 0 and (seen := self.seen_from(cell, last)):
                    yield Placed(seen[0], seat, phase, seen[1])
            last = cell


class TorusReader(StonesReader):
    """A reader of Torus; translations and half turns make openings alike, quarter turns would exchange the colours."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.size = int(game.parameters["size"])
        names = tuple(game.action_to_string(cell) for cell in range(game.info.num_actions))
        drawn, middle = Layout(names, tuple(map(form(self.size).outline, range(len(names))))), self.size // 2
        octagon = middle * self.size + middle
        marked = {"octagon": octagon, "square": octagon + self.size**2}
        self.frames = (Frame("board", "the board", drawn), *_answers(drawn, marked))

    @override
    def seen_from(self, cell: int, other: int) -> tuple[int, int]:
        n = self.size
        kind, place = divmod(cell, n * n)
        (row, col), (down, right) = divmod(place, n), divmod(other % (n * n), n)
        moved = kind * n * n + (row - down + n // 2) % n * n + (col - right + n // 2) % n
        return 1 + other // n**2, moved


class ConnectionReader(StonesReader):
    """A reader of Hex or Y. A swap is a step of an opening, but claims no cell.

    Answers are shown on a rhombus with the opponent's last stone in its middle, whose cells are named as those of a
    board of its size. Answers further away are not shown.
    """

    game: ConnectionGame

    def __init__(self, game: ConnectionGame) -> None:
        super().__init__(game)
        self.size, self._board, self.swapped = game.size, game.layout, game.layout.swapped
        window = board("rhombus", self._board.tiling, 2 * _REACH + self._board.kinds)  # squares lie between
        self._window = {spot: cell for cell, spot in enumerate(window.spots)}
        kinds = ("stone",) if self._board.kinds == 1 else ("octagon", "square")
        marked = {name: self._window[kind, _REACH, _REACH] for kind, name in enumerate(kinds)}
        self.frames = (Frame("board", "the board", _layout(self._board)), *_answers(_layout(window), marked))

    @override
    def seen_from(self, cell: int, other: int) -> tuple[int, int] | None:
        (kind, row, col), (around, down, right) = self._board.spots[cell], self._board.spots[other]
        if max(abs(row - down), abs(col - right)) > _REACH:
            return None
        seen = self._window.get((kind, row - down + _REACH, col - right + _REACH))
        return None if seen is None else (1 + around, seen)


_ON = {"stone": "", "octagon": " on an octagon", "square": " on a square"}


def _answers(layout: Layout, marked: Mapping[str, int]) -> Iterator[Frame]:
    """Yield a frame of answers for each kind of cell, with the opponent's last stone on the marked one."""
    for kind, cell in marked.items():
        yield Frame(f"last {kind}", f"answers, seen from the opponent's last stone{_ON[kind]}", layout, cell)


def _layout(cells: Board) -> Layout:
    names = tuple(map(cells.name, range(cells.cells)))
    return Layout(names, tuple(cells.form.outline(cell) for cell in range(cells.cells)))

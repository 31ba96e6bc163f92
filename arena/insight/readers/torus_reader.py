"""The reader of Torus: openings up to symmetry; cells on the board, and as seen from other stones.

Letters: `n` the size.
"""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import override

from cellgames.arena.records.record_lines import Record
from cellgames.envs.core import Game

from .layouts import TorusLayout
from .reader import Frame, Placed, Reader

__all__ = ["TorusReader"]

_LATER = (1, 3, 8)  # own moves of a seat before each phase but the first


class TorusReader(Reader):
    """A reader of Torus; translations and half turns make openings alike, quarter turns would exchange the colours."""

    phases = ("move 1", "moves 2 and 3", "moves 4 to 8", "later moves")

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.size = int(game.parameters["size"])
        names = tuple(game.action_to_string(cell) for cell in range(game.info.num_actions))
        layout, middle = TorusLayout(names, self.size), self.size // 2
        octagon = middle * self.size + middle
        square = octagon + self.size**2
        self.frames = (
            Frame("board", "the board", layout),
            Frame("last octagon", "answers, seen from the opponent's last stone on an octagon", layout, octagon),
            Frame("last square", "answers, seen from the opponent's last stone on a square", layout, square),
        )

    @override
    def placed(self, record: Record) -> Iterator[Placed]:
        if record.position:  # whose turn it was there is not known
            return
        cells = [self.action(move) for move in record.moves]
        for ply in range(record.opening, len(cells)):
            seat, cell = ply % 2, cells[ply]
            phase = sum(ply // 2 >= own for own in _LATER)
            yield Placed(0, seat, phase, cell)
            if ply:
                yield Placed(1 + cells[ply - 1] // self.size**2, seat, phase, self.seen_from(cell, cells[ply - 1]))

    def seen_from(self, cell: int, other: int) -> int:
        """Return the cell when the board is moved so that `other` comes to the middle, octagon to octagon."""
        n = self.size
        kind, place = divmod(cell, n * n)
        (row, col), (down, right) = divmod(place, n), divmod(other % (n * n), n)
        return kind * n * n + (row - down + n // 2) % n * n + (col - right + n // 2) % n

"""The reader of Torus: openings up to symmetry; cells on the board, and as seen from other stones.

Letters: `n` the size.
"""

from __future__ import annotations

from typing_extensions import override

from cellgames.envs.core import Game

from .layouts import Polygons
from .reader import Frame
from .stones_reader import StonesReader

__all__ = ["TorusReader"]

_CORNER = 0.5 * (2**0.5 - 1)  # half an edge of the octagon of width 1


class TorusReader(StonesReader):
    """A reader of Torus; translations and half turns make openings alike, quarter turns would exchange the colours."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.size = int(game.parameters["size"])
        names = tuple(game.action_to_string(cell) for cell in range(game.info.num_actions))
        layout, middle = Polygons(names, _outlines(self.size)), self.size // 2
        octagon = middle * self.size + middle
        square = octagon + self.size**2
        self.frames = (
            Frame("board", "the board", layout),
            Frame("last octagon", "answers, seen from the opponent's last stone on an octagon", layout, octagon),
            Frame("last square", "answers, seen from the opponent's last stone on a square", layout, square),
        )

    @override
    def seen_from(self, cell: int, other: int) -> tuple[int, int]:
        n = self.size
        kind, place = divmod(cell, n * n)
        (row, col), (down, right) = divmod(place, n), divmod(other % (n * n), n)
        moved = kind * n * n + (row - down + n // 2) % n * n + (col - right + n // 2) % n
        return 1 + other // n**2, moved


def _outlines(size: int) -> tuple[tuple[tuple[float, float], ...], ...]:
    """Return the corners of all octagons and squares; the last squares lie on the seams."""
    a, b = 0.5, _CORNER
    c = a - b
    octagon = ((a, b), (b, a), (-b, a), (-a, b), (-a, -b), (-b, -a), (b, -a), (a, -b))
    square = ((c, 0.0), (0.0, c), (-c, 0.0), (0.0, -c))
    return tuple(
        tuple((col + kind / 2 + x, row + kind / 2 + y) for x, y in (octagon, square)[kind])
        for kind in range(2)
        for row in range(size)
        for col in range(size)
    )

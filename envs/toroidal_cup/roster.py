"""The rosters of teams, and the quadrants of the field; neither has any effect on play.

The rules of the Toroidal Cup: "Each team shall maintain a roster of players, with one player assigned to a unique grid
square", "[a cell] may only be occupied by a single player", and "each player is permitted to live in a single cell for
the duration of their lifetime". So a team has a player for each square of the field. The player lives while the square
is the team's, and lives nowhere else. The names follow from the team's name and the square; nothing has to be stored.

"The grid shall be divided into four quadrants, which shall have unique names based on the pattern". The Cup numbers its
zones from 1 to 4; the names of one pattern ("northwest dirt pile" and so on) show that they go clockwise from the upper
left one.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

_FIRST = (
    "Ada Bo Cleo Dag Edda Finn Gita Hugo Ines Jarl Kit Lena Milo Nell Otis Pia Quinn Rosa Sven Tess Ulla Vito Wren "
    "Xena Yuri Zora Amos Bibi Cato Dora Emil Faye Gus Hedy Ivo Juno Knut Lulu Mona Ned Olga Paco Rita Saul Tove Uri "
    "Vera Walt Yma Zeno Alma Bert Cora Dirk Elke Fritz Greta Hal Ilse Jude Kaya Lars Mina Nico"
)
_BEGINNINGS = (
    "Ash Birch Cinder Dun Elder Fen Gorse Heather Ivy Juniper Kelp Larch Moss Nettle Oak Pine Quill Rowan Sedge Thorn "
    "Umber Vetch Willow Yarrow Bracken Sorrel"
)
_ENDS = "by croft dale field ford gate ham hurst ley mere more ridge stead ton wick wood"

FIRST_NAMES = tuple(_FIRST.split())
LAST_NAMES = tuple(begin + end for begin in _BEGINNINGS.split() for end in _ENDS.split())
"""Two names make 26,624 players, more than the Cup's board has squares; larger boards have namesakes, as II and III."""

_NUMERALS = ("", " II", " III", " IV", " V", " VI", " VII", " VIII", " IX", " X", " XI", " XII")


@dataclass(frozen=True)
class Roster:
    """The players of a team, one for each square of the field.

    Attributes:
        team: name of the team.
        rows: number of rows of the field.
        cols: number of columns of the field.
    """

    team: str
    rows: int
    cols: int

    @property
    def names(self) -> int:
        """The number of names that squares are mapped to, one each; no less than the number of squares."""
        base = len(FIRST_NAMES) * len(LAST_NAMES)
        return base * -(-self.rows * self.cols // base)

    @cached_property
    def mapping(self) -> tuple[int, int]:
        """Return a step and a start: the square n has the name `(step * n + start) % names`, which no other one has."""
        digest = hashlib.blake2b(self.team.encode(), digest_size=16).digest()
        step, start = (int.from_bytes(part, "big") % self.names for part in (digest[:8], digest[8:]))
        while math.gcd(step, self.names) != 1:
            step += 1
        return step % self.names, start

    def player(self, row: int, col: int) -> str:
        """Return the name of the player of a square; rows and columns wrap around."""
        step, start = self.mapping
        number = (step * (row % self.rows * self.cols + col % self.cols) + start) % self.names
        number, first = divmod(number, len(FIRST_NAMES))
        namesake, last = divmod(number, len(LAST_NAMES))
        return f"{FIRST_NAMES[first]} {LAST_NAMES[last]}{_NUMERALS[namesake]}"


@lru_cache(maxsize=64)
def roster(team: str, rows: int, cols: int) -> Roster:
    """Return the roster of a team on a field of `rows` rows and `cols` columns."""
    return Roster(team, rows, cols)


def held_by_quadrant(board: npt.NDArray[Any], teams: int) -> list[list[int]]:
    """Return the live cells of each team in each quadrant, [4][k], clockwise from the upper left one."""
    rows, cols = (size // 2 for size in board.shape)
    parts = (board[:rows, :cols], board[:rows, cols:], board[rows:, cols:], board[rows:, :cols])
    return [np.bincount(part.ravel(), minlength=teams + 1)[1 : teams + 1].tolist() for part in parts]

"""Actions and positions as text.

A position is a line such as `randys 2 $2.AA$.AA$2.A! rpentomino*6/rpentomino*6`: the pattern, steps played, the
arrangement so far, and what is still to be placed, by team, `-` for nothing. Life's course follows from it.

A board is written as `boards.rle` does, with A for team 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from cellgames.envs.boards.rle import board_to_string, string_to_board

HIDDEN = "?"
"""The text of what a team may not know."""

_PLACEMENT = re.compile(r"r([0-9]{1,4})c([0-9]{1,4})/([0-9]{1,2})")
_SHAPES = re.compile(r"([a-z][a-z0-9]*)(?:\*([1-9][0-9]{0,3}))?")


class Position(NamedTuple):
    """The parts of a line: rows of cells, 0 empty, else the team's number; names by team."""

    pattern: str
    turn: int
    start: list[list[int]]
    queues: list[list[str]]


def position_to_string(position: Position) -> str:
    """Return a position as one line."""
    queues = "/".join(map(_queue_to_string, position.queues))
    return f"{position.pattern} {position.turn} {board_to_string(position.start)} {queues}"


def string_to_position(text: str, rows: int, cols: int) -> Position | None:
    """Return the position of a line; None if the text is no position or larger than `rows` x `cols`."""
    parts = text.split()
    if len(parts) != 4 or not re.fullmatch("[0-9]{1,4}", parts[1]):
        return None
    start = string_to_board(parts[2], rows, cols)
    queues = [_string_to_queue(part) for part in parts[3].split("/")]
    if start is None or None in queues:
        return None
    return Position(parts[0], int(parts[1]), start, [queue for queue in queues if queue is not None])


def view(line: str, player: int, *, drawn: bool) -> str:
    """Return a line by `position_to_string` as a team may know it, with `?` for each shape that is hidden.

    The team knows its next shape; a pattern that was drawn is hidden, too.
    """
    pattern, turn, start, queues = line.split()
    seen = known([_string_to_queue(queue) or [] for queue in queues.split("/")], player)
    return f"{HIDDEN if drawn else pattern} {turn} {start} {'/'.join(map(_queue_to_string, seen))}"


def known(queues: Sequence[Sequence[str]], player: int) -> list[list[str]]:
    """Return the shapes to come by team, with `HIDDEN` for each that a team does not know: all but its next one."""
    return [
        [name if seat == player and not place else HIDDEN for place, name in enumerate(names)]
        for seat, names in enumerate(queues)
    ]


def _queue_to_string(names: Sequence[str]) -> str:
    """Return `rabbit*2,rpentomino` for three shapes."""
    runs = [(name, len(list(run))) for name, run in groupby(names)]
    return ",".join(f"{name}*{count}" if count > 1 else name for name, count in runs) or "-"


def _string_to_queue(text: str) -> list[str] | None:
    names: list[str] = []
    for part in text.split(",") if text != "-" else ():
        found = _SHAPES.fullmatch(part)
        if found is None:
            return None
        names += [found[1]] * int(found[2] or 1)
    return names


def placement_to_string(row: int, col: int, orientation: int) -> str:
    """Return `r6c10/3`: the centre at row 6 and column 10 of one's own band, the shape in orientation 3."""
    return f"r{row}c{col}/{orientation}"


def string_to_placement(text: str) -> tuple[int, int, int] | None:
    """Return row, column and orientation of a text by `placement_to_string`; None for any other text."""
    found = _PLACEMENT.fullmatch(text)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))

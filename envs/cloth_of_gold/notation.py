"""Actions and positions as text.

An action is `r12c34`, the cell in row 12 and column 34, where a unit is placed or taken back, or `end` for the end of
the turn.

A position is a line such as `move:a turn:57 round:3 acts:2 score:+12 placed:r2c0,r2c1 board:4.D$.3B$2A!`:

- who is to move (`move:`); of a finished game `over:`, or `cut:` where the rounds have run out, and who moved last;
  then `/b` where player_b places first in the round
- actions played since the start, the round, actions of the mover in this turn
- a's lead in units at the end of the last round; b's is the opposite
- units that the mover has placed in this turn, row by row, `-` for none
- the board as `boards.rle` writes it: A and B are units, C neutral, D killed cells
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, cast, get_args

from cellgames.envs.boards.rle import board_to_string, string_to_board

Stage: TypeAlias = Literal["move", "over", "cut"]

END_TURN = "end"
"""The text of the action that ends a turn."""

_STATES = 4
_CELL = re.compile(r"r(0|[1-9][0-9]{0,3})c(0|[1-9][0-9]{0,3})")
_PLAYERS = "ab"
_NUMBER = "0|[1-9][0-9]{0,6}"
_LINE = re.compile(
    rf"({'|'.join(get_args(Stage))}):([{_PLAYERS}])(/b)? turn:({_NUMBER}) round:({_NUMBER}) acts:({_NUMBER}) "
    rf"score:([+-](?:{_NUMBER})) placed:(-|[rc0-9,]+) board:([0-9.A-Z$]*!)"
)


class Position(NamedTuple):
    """The parts of a line.

    Attributes:
        player: seat to move, 0 or 1; of a finished game the seat that moved last.
        round, acts: as in `ClothState`.
        score: a's units less b's at the end of the last round.
        placed: (row, column) of units of `player`, row by row.
        board: rows of cells, 0 empty, 1 a, 2 b, 3 neutral, 4 killed.
        turn: actions played since the start of the game.
        stage: "move" while the game goes on, "over" after a verdict, "cut" where the rounds have run out.
        first: seat that places first in this round.
    """

    player: int
    round: int
    acts: int
    score: int
    placed: Sequence[tuple[int, int]]
    board: Sequence[Sequence[int]]
    turn: int = 0
    stage: Stage = "move"
    first: int = 0


def cell_to_string(row: int, col: int) -> str:
    """Return `r12c34` for row 12 and column 34."""
    return f"r{row}c{col}"


def string_to_cell(text: str) -> tuple[int, int] | None:
    """Return row and column of a text by `cell_to_string`; None for any other text."""
    found = _CELL.fullmatch(text)
    return None if found is None else (int(found[1]), int(found[2]))


def position_to_string(position: Position) -> str:
    """Return a position as one line."""
    placed = ",".join(cell_to_string(row, col) for row, col in sorted(position.placed)) or "-"
    player = _PLAYERS[position.player] + "/b" * position.first
    return (
        f"{position.stage}:{player} turn:{position.turn} round:{position.round} acts:{position.acts} "
        f"score:{position.score:+d} placed:{placed} board:{board_to_string(position.board)}"
    )


def string_to_position(text: str, height: int, width: int) -> Position | None:
    """Return the position of a line by `position_to_string`.

    None if the text is no position, larger than `height` x `width`, or says that a unit was placed where none of the
    player's stands.
    """
    found = _LINE.fullmatch(" ".join(text.split()))
    if found is None:
        return None
    board = string_to_board(found[9], height, width, _STATES)
    cells = [string_to_cell(part) for part in found[8].split(",")] if found[8] != "-" else []
    placed = [cell for cell in cells if cell is not None]
    if board is None or len(set(placed)) < len(cells) or found[7] == "-0":
        return None
    player = _PLAYERS.index(found[2])
    if any(row >= height or col >= width or board[row][col] != player + 1 for row, col in placed):
        return None
    stage, (turn, number, acts) = cast(Stage, found[1]), map(int, found.group(4, 5, 6))
    first = int(found[3] is not None)
    return Position(player, number, acts, int(found[7]), sorted(placed), board, turn, stage, first)

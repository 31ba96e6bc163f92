"""Connect Four, Othello and Treblecross on plain lists, one game at a time: slow, simple and unlike the examples.

A position is a tuple of rows, from the top, of the characters `.`, `x` and `o`; x moves first.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

Board = tuple[str, ...]

OTHER = {"x": "o", "o": "x"}


def put(board: Board, row: int, column: int, disc: str) -> Board:
    """The board with a disc in a cell."""
    line = board[row]
    return (*board[:row], line[:column] + disc + line[column + 1 :], *board[row + 1 :])


def walk(board: Board, row: int, column: int, down: int, right: int) -> str:
    """The characters that lie in one direction of a cell, without the cell itself."""
    found = ""
    while 0 <= (row := row + down) < len(board) and 0 <= (column := column + right) < len(board[0]):
        found += board[row][column]
    return found


def drop(board: Board, column: int, disc: str) -> Board:
    """The board after a disc falls down a column that is not full."""
    row = max(row for row in range(len(board)) if board[row][column] == ".")
    return put(board, row, column, disc)


def connected(board: Board, disc: str, line: int) -> bool:
    """True if there are so many equal discs in a row, column or diagonal."""
    return any(
        (board[row][column] + walk(board, row, column, down, right)).startswith(disc * line)
        for row in range(len(board))
        for column in range(len(board[0]))
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
    )


def free_columns(board: Board) -> list[int]:
    """The columns that are not full."""
    return [column for column, cell in enumerate(board[0]) if cell == "."]


def turned(board: Board, row: int, column: int, disc: str) -> Iterator[tuple[int, int]]:
    """The cells whose discs a new one turns."""
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            seen = walk(board, row, column, down, right) if (down, right) != (0, 0) else ""
            run = len(seen) - len(seen.lstrip(OTHER[disc]))
            if seen[run : run + 1] == disc:
                yield from ((row + down * far, column + right * far) for far in range(1, run + 1))


def placed(board: Board, row: int, column: int, disc: str) -> Board:
    """The board after a move."""
    for cell in [(row, column), *turned(board, row, column, disc)]:
        board = put(board, *cell, disc)
    return board


def placements(board: Board, disc: str) -> list[tuple[int, int]]:
    """The legal moves."""
    cells = [(row, column) for row in range(len(board)) for column in range(len(board[0]))]
    return [
        (row, column) for row, column in cells if board[row][column] == "." and any(turned(board, row, column, disc))
    ]


@cache
def wins(strip: str) -> bool:
    """True if the player to move in Treblecross wins."""
    nexts = [strip[:i] + "x" + strip[i + 1 :] for i, cell in enumerate(strip) if cell == "."]
    return any("xxx" in after or not wins(after) for after in nexts)

"""Colours of a game's board on a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cellgames.envs import registry
from cellgames.envs.core import Game

from .console import Mark, print_marked, shows_colours, terminal_width

if TYPE_CHECKING:
    from cellgames.web.views.view import Bytes

_TEAMS = re.compile(r"(?:^[.+1-8]{16,}\n?)+", re.MULTILINE)  # the lines of a board that shows nothing but teams
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of braille signs, by row and column
_LABEL = 4  # signs before a row


def print_board(game: Game, text: str, cells: Callable[[], Bytes] | None = None) -> None:
    """Print text that may hold the game's board, on a terminal in the colours of the game.

    Args:
        game: The game with its parameters.
        text: The text, in which a board has a sign a cell, or a block of cells where the board is wide.
        cells: Returns all cells of the board, uint8 [H, W], 0 or the number of a team. A board of teams is then drawn
            in half blocks, a wider one in braille, a dot a cell.
    """
    marks = [*_marks(game, text)]
    if cells is not None and (board := _TEAMS.search(text)) and shows_colours():
        drawn, marks = _drawn(cells(), terminal_width() or 80, board.start())
        text = text[: board.start()] + drawn + text[board.end() :]
    print_marked(text, marks)


def _marks(game: Game, text: str) -> Iterator[Mark]:
    colours = registry.plugin_of(game).colours
    if colours is None:
        return
    signs = re.compile("|".join(f"({sign})" for sign in colours.signs))
    styles, row, at = list(colours.signs.values()), re.compile(colours.row), 0
    for line in text.split("\n"):
        if cells := row.fullmatch(line):
            for sign in signs.finditer(line, *cells.span(1)):
                assert sign.lastindex is not None
                yield at + sign.start(), at + sign.end(), styles[sign.lastindex - 1]
        at += len(line) + 1


def _drawn(cells: Bytes, width: int, at: int) -> tuple[str, list[Mark]]:
    """Return a board of teams as text of lines that fit a width, and its marks in a text where it begins at `at`."""
    high, wide = (2, 1) if cells.shape[1] + _LABEL <= width else (4, 2)
    most, marks, text = max(1, (width - _LABEL) // 10) * 10 * wide, list[Mark](), ""
    for first in range(0, cells.shape[1], most):
        part = cells[:, first : first + most]
        numbers = range(first, first + part.shape[1], 10 * wide)
        text += f"{' ' * _LABEL}{''.join(f'{number:<10}' for number in numbers).rstrip()}\n"
        for row in range(0, len(part), high):
            text += f"{row:{_LABEL - 1}} "
            for col in range(0, part.shape[1], wide):
                sign, style = _sign(part[row : row + high, col : col + wide], high)
                marks += [(at + len(text), at + len(text) + 1, style)] * (sign != " ")
                text += sign
            text += "\n"
    return text, marks


def _sign(block: Bytes, high: int) -> tuple[str, str]:
    """Return the sign of a block of cells, in half blocks (2 x 1) or braille (4 x 2), and its style."""
    from cellgames.web.views.dark_colours import SEATS

    if not (teams := block[block > 0].tolist()):
        return " ", ""
    if high == 2:
        style = " on ".join(SEATS[team - 1] for team in teams)
        return "▀" if block[0, 0] else "▄", style
    dots = sum(_DOTS[row][col] for row, col in zip(*block.nonzero(), strict=True))
    return chr(0x2800 + dots), SEATS[max(teams, key=teams.count) - 1]

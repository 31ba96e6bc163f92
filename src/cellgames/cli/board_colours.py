"""Colours of a game's board on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cellgames.envs import registry
from cellgames.envs.core import Game

from .console import Mark, print_marked


def print_board(game: Game, text: str) -> None:
    """Print text that may hold the game's board, on a terminal in the colours of the game."""
    print_marked(text, _marks(game, text))


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

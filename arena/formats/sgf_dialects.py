"""The SGF dialects of games of connected stones: numbers of games, sizes, rules, and words of moves.

Hex on hexagons is `GM[11]` of the format's list (https://www.red-bean.com/sgf/hex.html), as HexGui, MoHex and Hexwiki
write it: cells `a1`, Black connects top and bottom, and the words `swap-pieces`, `swap-sides`, `resign` and `forfeit`.
`swap-pieces` mirrors the stone. `swap-sides` exchanges the players' colours instead: from then on the file's Black is
the player who began as White. Both lead to mirrored games. Where a file says only `swap`, it means the second if the
same colour moves next. All other boards have numbers of our own, with the same words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cellgames.envs.connection import Hex, Y
from cellgames.envs.connection.game import SWAP, ConnectionGame
from cellgames.envs.core import Game
from cellgames.envs.stones.stone_game import StoneGame
from cellgames.envs.torus import Torus
from cellgames.utils.errors import InputError, shown

COLOURS = "BW"

STOPS = {"resign": "resigned", "forfeit": "forfeited"}
"""Words in the place of a move by which a player ends the game, and the reasons that records have for them."""

_SIZE = re.compile(r"([0-9]{1,3})(?::([0-9]{1,3}))?")
_NO_SWAP = re.compile(r"\b(no|without)[ -]?swap", re.IGNORECASE)


_BOARDS: dict[str, tuple[type[StoneGame[Any]], str]] = {
    "11": (Hex, "hexagons"),
    "2048": (Torus, ""),
    "2049": (Y, "hexagons"),
    "2050": (Hex, "octagons"),
    "2051": (Y, "octagons"),
}
"""By the value of `GM`, the class of the game and the tiling, "" for Torus."""

_TITLES = {gm: kind.__name__ + " on octagons" * (tiling == "octagons") for gm, (kind, tiling) in _BOARDS.items()}


def dialect_of(game: Game) -> tuple[str, str]:
    """Return the value of `GM` of a game and the name of its boards; raise a `ValueError` for a game without SGF."""
    board = type(game), game.parameters.get("tiling", "")
    found = next((number for number, known in _BOARDS.items() if known == board), None)
    if found is None:
        raise ValueError(f"SGF is for Torus, Hex and Y, got a game of {game.id}")
    return found, _TITLES[found]


def game_of_root(root: Mapping[str, str]) -> StoneGame[Any]:
    """Return the game of a file's first node; raise a `ValueError` that says what was expected."""
    if (number := root.get("GM", "1").strip()) not in _BOARDS:
        known = ", ".join(f"GM[{value}] ({title})" for value, title in _TITLES.items())
        raise InputError("GM", f"one of {known}", f"GM[{shown(number)[1:-1]}]")
    kind, tiling = _BOARDS[number]
    typed = root.get("SZ", str(kind.size))
    found = _SIZE.fullmatch(typed.strip())
    if found is None:
        raise InputError("SZ", "SZ with a size such as 5", shown(typed))
    if found[2] is not None and int(found[2]) != int(found[1]):
        raise InputError("SZ", "a board with as many rows as columns", f"SZ[{shown(typed)[1:-1]}]")
    parameters: dict[str, Any] = {"size": int(found[1])}
    if tiling:
        parameters |= {"tiling": tiling, "swap": not _NO_SWAP.search(root.get("RU", ""))}
    return kind(**parameters)


def read_move(
    game: StoneGame[Any], colour: str, word: str, *, turned: bool, following: str | None
) -> tuple[int, str, bool]:
    """Return the seat that makes a move of a file, the action's name, and `turned` for the moves after it.

    Args:
        game: The rules.
        colour: `B` or `W`, as the file says.
        word: A cell, or a word for a swap.
        turned: True if the players' colours in the file are exchanged.
        following: The colour of the move after it, None for the last move.

    Raises:
        ValueError: The board has no such cell.
    """
    seat, text = COLOURS.index(colour) ^ turned, word.strip().lower()
    if not isinstance(game, ConnectionGame):
        return seat, word, turned
    if text == "swap-sides" or (text == "swap" and following == colour):
        return seat, SWAP, not turned
    if turned and text not in ("swap", SWAP):  # the stone that was taken over is mirrored, and all others with it
        text = game.layout.name(game.layout.swapped[game.layout.cell(text)])
    return seat, text, turned

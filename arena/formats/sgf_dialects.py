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
from dataclasses import dataclass
from typing import Any, NamedTuple

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


@dataclass(frozen=True)
class Dialect:
    """The boards that one number stands for.

    Attributes:
        number: The value of `GM`.
        game: Class of the game.
        tiling: Of Hex and Y; "" for Torus.
    """

    number: int
    game: type[StoneGame[Any]]
    tiling: str = ""

    @property
    def title(self) -> str:
        """The name of the game, and of the cells if they are not the usual ones."""
        return self.game.__name__ + (" on octagons" if self.tiling == "octagons" else "")


_DIALECTS = (
    Dialect(11, Hex, "hexagons"),
    Dialect(2048, Torus),
    Dialect(2049, Y, "hexagons"),
    Dialect(2050, Hex, "octagons"),
    Dialect(2051, Y, "octagons"),
)


class MoveRead(NamedTuple):
    """A move of a file as the game has it.

    Attributes:
        seat: Who makes it.
        name: The action's name.
        turned: True if the players' colours in the file are exchanged from then on.
    """

    seat: int
    name: str
    turned: bool


def dialect_of(game: Game) -> Dialect:
    """Return the dialect of SGF of a game; raise a `ValueError` for a game without one."""
    for dialect in _DIALECTS:
        if type(game) is dialect.game and dialect.tiling == game.parameters.get("tiling", ""):
            return dialect
    raise ValueError(f"SGF is for Torus, Hex and Y, got a game of {game.id}")


def titles() -> dict[str, str]:
    """Return properties of the root that have all dialects: number and title."""
    return {f"GM[{dialect.number}]": dialect.title for dialect in _DIALECTS}


def game_of_root(root: Mapping[str, str]) -> StoneGame[Any]:
    """Return the game of a file's first node; raise a `ValueError` that says what was expected."""
    number = root.get("GM", "1").strip()
    dialect = next((dialect for dialect in _DIALECTS if str(dialect.number) == number), None)
    if dialect is None:
        known = ", ".join(f"{value} ({title})" for value, title in titles().items())
        raise InputError("GM", f"one of {known}", f"GM[{shown(number)[1:-1]}]")
    typed = root.get("SZ", str(dialect.game.size))
    found = _SIZE.fullmatch(typed.strip())
    if found is None:
        raise InputError("SZ", "SZ with a size such as 5", shown(typed))
    if found[2] is not None and int(found[2]) != int(found[1]):
        raise InputError("SZ", "a board with as many rows as columns", f"SZ[{shown(typed)[1:-1]}]")
    parameters: dict[str, Any] = {"size": int(found[1])}
    if dialect.tiling:
        parameters |= {"tiling": dialect.tiling, "swap": not _NO_SWAP.search(root.get("RU", ""))}
    return dialect.game(**parameters)


def read_move(game: StoneGame[Any], colour: str, word: str, *, turned: bool, following: str | None) -> MoveRead:
    """Return the game's own form of a move of a file.

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
        return MoveRead(seat, word, turned)
    if text == "swap-sides" or (text == "swap" and following == colour):
        return MoveRead(seat, SWAP, not turned)
    if turned and text not in ("swap", SWAP):  # the stone that was taken over is mirrored, and all others with it
        text = game.layout.name(game.layout.swapped[game.layout.cell(text)])
    return MoveRead(seat, text, turned)

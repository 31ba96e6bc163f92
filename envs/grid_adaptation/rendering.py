"""Pictures and text of Grid Adaptation: tiles with their sequences, the round's births and deaths, the table.

Each digit of a sequence is an ink: a tile is pale stone, and every 1 lays its ink over it. So 110 looks like 100 and
010 laid over each other, and what three parents have in common shows in their child. In the tile stand the digits
themselves, so that nothing is told by colour alone. Born tiles are ringed discs, others squares; ghosts with a cross
are tiles that died, and tiles that were placed have a dark corner.

Letters: `H, W` rows and columns of the board.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from cellgames.envs.core.drawing import (
    BoardView,
    Circle,
    Picture,
    Polygon,
    Polyline,
    Rectangle,
    Shape,
    Text,
    framed,
    grid_lines,
    mix,
)

from . import rules
from .notation import HIDDEN
from .state import GridState

if TYPE_CHECKING:
    from .game import GridAdaptation

Board: TypeAlias = npt.NDArray[np.integer[Any]]
Mask: TypeAlias = npt.NDArray[np.bool_]

_STONE = "#dad7ce"
_INKS = ("#54ceab", "#a127f6", "#ffc927")  # of the digits, the leftmost first: teal, violet, gold


def _mixed(sequence: int) -> str:
    """Return the stone under the inks of all digits that are 1: linear light is multiplied, as by filters."""
    layers = [_STONE, *(ink for ink, digit in zip(_INKS, f"{sequence:03b}", strict=True) if digit == "1")]
    channels = (((int(layer[i : i + 2], 16) / 255) ** 2.2 for layer in layers) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 * float(np.prod(list(light))) ** (1 / 2.2)):02x}" for light in channels)


COLOURS = tuple(map(_mixed, range(8)))
"""Of tiles by sequence; told apart in every kind of colour vision, and as greys."""

BOARD, DIGIT = "#ffffff", ("#ffffff", "#14110e")
"""Colours of empty spaces, and of digits on dark tiles and on light ones."""
RING, CROSS = "#14110e", "#5a5346"
"""Colours of the rings of born tiles, and of the crosses on those that died."""

_SIDE, _LARGEST = 620, 90  # units of the board, and of a cell at most


class Row(NamedTuple):
    """A player's row of the table: the name, values by their names, the colour of its tiles, and a remark."""

    player: str
    values: Mapping[str, str]
    colour: str = ""
    note: str = ""


@dataclass(frozen=True, eq=False)
class View(BoardView):
    """One moment of a match.

    Attributes:
        board: integers [H, W], -1 where there is no tile, else its sequence from 0 to 7.
        title: a line above the board, such as "Round 3 of 8".
        before: integers [H, W], the board before the generation; births and deaths are the differences to it.
        placed: bool [H, W], where tiles were placed in this round; they need not stand on `before`, but the ghosts of
            those that do not have no colour.
        public: points that each sequence would have earned in the last round; None before the first.
        table: rows of players, in the order in which they are to be shown.
        more: more lines of words in a picture, for games that extend this one; the same number in all moments.
        more_text: more lines of a text.
    """

    board: Board
    title: str = ""
    before: Board | None = None
    placed: Mask | None = None
    public: Sequence[int] | None = None
    table: Sequence[Row] = ()
    more: Sequence[str] = ()
    more_text: Sequence[str] = ()

    def changes(self) -> tuple[Mask, Mask, Mask]:
        """Return masks of the tiles that were placed, born and died, as far as they are known: bool [H, W] each."""
        nobody = np.zeros(self.board.shape, np.bool_)
        put = nobody if self.placed is None else self.placed
        if self.before is None:
            return put, nobody, put & (self.board < 0)
        stood = (self.before >= 0) | put
        return put, (self.board >= 0) & ~stood, stood & (self.board < 0)

    def counts(self) -> str:
        """Return `tiles 31, placed 8, born 12, died 9`, without what is not known."""
        masks = dict(zip(("placed", "born", "died"), self.changes(), strict=True))
        known = {"placed": self.placed is not None, "born": self.before is not None, "died": self.before is not None}
        counts = (f"{word} {mask.sum()}" for word, mask in masks.items() if known[word])
        return ", ".join([f"tiles {(self.board >= 0).sum()}", *counts])

    def points(self) -> str:
        """Return the points of the last round by sequence."""
        points = (f"{number:03b} {points}" for number, points in enumerate(self.public or ()))
        return f"points of the last round: {', '.join(points) or '-'}"

    @override
    def draw(self) -> Picture:
        height, width = self.board.shape
        size = min(_LARGEST, _SIDE // max(height, width))
        board = Picture(width, height, BOARD, tuple(_draw_board(self, size)))
        lines = [f"{row.player}: {', '.join(map(' '.join, row.values.items()))}{row.note}" for row in self.table]
        lines += self.counts(), self.points(), *self.more
        return framed(board, size, self.title, lines, [row.colour for row in self.table])

    @override
    def text(self) -> str:
        put, born, died = self.changes()
        signs = np.char.add(np.where(died, "x", "."), np.where(put, "'", " "))
        tiles = np.char.add(self.board.astype(str), np.select([born, put], ["+", "'"], " "))
        cells = np.where(self.board >= 0, tiles, signs)
        margin = len(str(len(cells) - 1))
        key = "5 is a tile of 101, 5+ a born one, 5' a placed one, x one that died"
        lines = [self.title, f"{self.counts()}; {key}"]
        lines.append(" " * (margin + 1) + "".join(f"{col:<4}" for col in range(0, cells.shape[1], 2)).rstrip())
        lines += (f"{row:>{margin}} {''.join(signs)}".rstrip() for row, signs in enumerate(cells.tolist()))
        lines += [self.points()] if self.public is not None else []
        if self.table:
            wide = max(len("player"), *(len(row.player) for row in self.table))
            heads = {name: f"{name:>8}" for name in self.table[0].values} | {"sequence": "sequence"}
            lines.append(f"{'player':<{wide}} {' '.join(heads.values())}")
            for row in self.table:
                values = (f"{value:>8}" for value in list(row.values.values())[1:])
                note = row.note.replace(",", " ")
                lines.append(f"{row.player:<{wide}} {row.values['sequence']:<8} {' '.join(values)}{note}")
        return "\n".join([*lines, *self.more_text])


def view(game: GridAdaptation, state: GridState, player: int | None = None) -> View:
    """Return the match of a batch of one; only what `player` may know, if one is given."""
    done, candidate = bool(state.done), int(state.candidate)
    hidden, counted = player is not None and not done, done or int(state.round) > game.rounds
    votes = hidden and bool(rules.voters(state.tied, state.tokens)[0, player])
    rows = []
    for seat, name in enumerate(game.info.players):
        own, sequence, points = not hidden or seat == player, int(state.sequence[0, seat]), int(state.scores[0, seat])
        values: dict[str, int | str] = {
            "sequence": f"{sequence:03b}" if own else HIDDEN,
            "points": points if own or votes else HIDDEN,
            "tokens": HIDDEN if not own or (hidden and counted) else int(state.tokens[0, seat]) if counted else "-",
            "garnets": int(state.garnets[0, seat]) if own else HIDDEN,
            "reserves": int(state.reserves[0, seat]) if own else HIDDEN,
        }
        note = ", Elimination Candidate" if candidate == seat else ""
        shown = {name: str(value) for name, value in values.items()}
        rows.append((-points, Row(name, shown, COLOURS[sequence] if own else "", note)))
    if counted and not hidden:  # the order tells the standing
        rows.sort(key=lambda row: row[0])
    return View(
        game.tiles(state)[0].numpy(force=True),
        _title(game, state),
        public=state.public[0].tolist() if int(state.turn) else None,
        table=[row for _, row in rows],
    )


def _title(game: GridAdaptation, state: GridState) -> str:
    number = int(state.round)
    if bool(state.done):
        return f"After round {game.rounds}: {game.info.players[int(state.candidate)]} is the Elimination Candidate"
    if number > game.rounds:
        return "The vote for the Elimination Candidate"
    return f"Round {number} of {game.rounds}"


# ---------------------------------------------------------------- the board, in units of one cell


def _draw_board(view: View, size: float) -> Iterator[Shape]:
    """Yield everything inside the frame; `size` units of the picture are one cell."""
    board, before = view.board, view.before
    yield from grid_lines(len(board), board.shape[1], 1 / size)
    put, born, died = view.changes()
    for row, col in np.argwhere(died).tolist():
        yield from _draw_ghost(col, row, -1 if before is None else int(before[row, col]))
    for row, col in np.argwhere(board >= 0).tolist():
        yield from _draw_tile(col, row, int(board[row, col]), bool(born[row, col]))
    for row, col in np.argwhere(put).tolist():
        corner = ((col + 0.03, row + 0.03), (col + 0.34, row + 0.03), (col + 0.03, row + 0.34))
        yield Polygon(corner, RING, BOARD, 0.04)


def _draw_tile(x: float, y: float, sequence: int, born: bool) -> Iterator[Shape]:
    """Yield a square, or a ringed disc, with its digits."""
    fill = COLOURS[sequence]
    if born:
        yield Circle(x + 0.5, y + 0.5, 0.43, fill, RING, 0.09)
    else:
        yield Rectangle(x + 0.07, y + 0.07, 0.86, 0.86, fill, mix(fill, RING, 0.35), 0.03)
    yield Text(x + 0.5, y + 0.63, f"{sequence:03b}", 0.37, DIGIT[light(fill) > 0.3], "middle")


def light(colour: str) -> float:
    """Return the luminance of a colour from 0 to 1, roughly."""
    weights = zip((1, 3, 5), (0.21, 0.72, 0.07), strict=True)
    return sum(share * float((int(colour[i : i + 2], 16) / 255) ** 2.2) for i, share in weights)


def _draw_ghost(x: float, y: float, sequence: int) -> Iterator[Shape]:
    """Yield a pale square with a cross; white where the sequence is not known (-1)."""
    fill = BOARD if sequence < 0 else mix(COLOURS[sequence], BOARD, 0.68)
    yield Rectangle(x + 0.14, y + 0.14, 0.72, 0.72, fill)
    for slope in (1, -1):
        ends = ((x + 0.28, y + 0.5 - 0.22 * slope), (x + 0.72, y + 0.5 + 0.22 * slope))
        yield Polyline(ends, CROSS, 0.07)

"""Pictures and text of Grid Adaptation: tiles with their sequences, the round's births and deaths, the table.

Each digit of a sequence is an ink: a tile is pale stone, and every 1 lays its ink over it. So 110 looks like 100 and
010 laid over each other, and what three parents have in common shows in their child. In the tile stand the digits
themselves, so that nothing is told by colour alone. Born tiles are ringed discs, others squares; ghosts with a cross
are tiles that died, and tiles that were placed have a dark corner.

Letters: `H, W` rows and columns of the board.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

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
    sign_rows,
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
        table: colours and words of players, in the order in which they are to be shown; "" for a hidden colour.
        more: more lines of words, for games that extend this one.
    """

    board: Board
    title: str = ""
    before: Board | None = None
    placed: Mask | None = None
    public: Sequence[int] | None = None
    table: Sequence[tuple[str, str]] = ()
    more: Sequence[str] = ()

    def changes(self) -> tuple[Mask, Mask, Mask]:
        """Return masks of the tiles that were placed, born and died, as far as they are known: bool [H, W] each."""
        nobody = np.zeros(self.board.shape, np.bool_)
        put = nobody if self.placed is None else self.placed
        if self.before is None:
            return put, nobody, put & (self.board < 0)
        stood = (self.before >= 0) | put
        return put, (self.board >= 0) & ~stood, stood & (self.board < 0)

    def lines(self) -> list[str]:
        """Return the words of the table, the numbers of tiles and changes, the public points, and `more`."""
        changes = zip(("placed", "born", "died"), self.changes() if self.before is not None else (), strict=False)
        counts = [f"tiles {(self.board >= 0).sum()}", *(f"{word} {mask.sum()}" for word, mask in changes)]
        points = (f"{number:03b} {points}" for number, points in enumerate(self.public or ()))
        table = (words for _, words in self.table)
        return [*table, ", ".join(counts), f"points of the last round: {', '.join(points) or '-'}", *self.more]

    @override
    def draw(self) -> Picture:
        height, width = self.board.shape
        size = min(_LARGEST, _SIDE // max(height, width))
        board = Picture(width, height, BOARD, tuple(_draw_board(self, size)))
        return framed(board, size, self.title, self.lines(), [colour for colour, _ in self.table])

    @override
    def text(self) -> str:
        return "\n".join([self.title, *self.lines(), *sign_rows(self.board + 1, ".01234567")])


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
            "tokens": "-" if not counted else HIDDEN if hidden else int(state.tokens[0, seat]),
            "garnets": int(state.garnets[0, seat]) if own else HIDDEN,
            "reserves": int(state.reserves[0, seat]) if own else HIDDEN,
        }
        words = f"{name}: {', '.join(f'{word} {value}' for word, value in values.items())}"
        doomed = ", Elimination Candidate" if candidate == seat else ""
        rows.append((-points, COLOURS[sequence] if own else "", words + doomed))
    if counted and not hidden:  # the order tells the standing
        rows.sort(key=lambda row: row[0])
    return View(
        game.tiles(state)[0].numpy(force=True),
        _title(game, state),
        public=state.public[0].tolist() if int(state.turn) else None,
        table=[row[1:] for row in rows],
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
